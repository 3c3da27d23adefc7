"""The host stack of LinkGuardian's testbed, fitted to the column "No Loss" of the paper's table 2.

From the root of the repository: .venv/bin/python tests/validation/host_stack.py

Two numbers are free: how the 6.5 us of a pass divide into a fixed part and the median of a lognormal one, and the 99.9th
percentile of that. What is made small is the sum of squared logarithms of measured over paper, over the five numbers of
the column. Nothing else of the paper is looked at. `KERNEL` in hitless/exhibits/linkguardian/testbed.py is the outcome.
Its fixed part is the least of the grid, where the misfit is flat (docs/validation.md).
"""

import argparse
import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from itertools import product

from hitless.analysis import percentile
from hitless.exhibits.linkguardian import testbed
from hitless.exhibits.linkguardian.latency import completion_us
from hitless.simulation import Simulation

COLUMN_US = {"99": 152.293, "99.9": 166.877, "99.99": 197.536, "99.999": 253.207, "std dev": 21.3}
PASS_NS = 6_500
FIXED_NS = (500, 1_500, 2_500, 3_500)
P999_NS = (40_000, 44_000, 46_000, 48_000, 50_000, 52_000, 56_000)


def column(kernel: dict[str, int], trials: int, seed: int) -> dict[str, float]:
    """The same five numbers of a run."""
    flows = testbed.trials(testbed.WEB_SEARCH_BYTES, trials)
    made = testbed.scenario(100, name="trials", transport=testbed.DCTCP, flows=flows, kernel=kernel)
    times = completion_us(Simulation(made, file_name="host_stack", seed=seed).run(keep=("messages",)))
    found = {share: percentile(times, float(share)) for share in list(COLUMN_US)[:-1]}
    return found | {"std dev": statistics.stdev(times)}


def misfit(found: dict[str, float]) -> float:
    """Zero when all five agree."""
    return sum(math.log(found[name] / paper) ** 2 for name, paper in COLUMN_US.items())


def describe(kernel: dict[str, int], found: dict[str, float]) -> str:
    """One line of the table."""
    numbers = "  ".join(f"{found[name]:7.1f}" for name in COLUMN_US)
    return f"{kernel['fixed_ns']:5} {kernel['median_ns']:5} {kernel['p999_ns']:6}  {numbers}  {misfit(found):.4f}"


def main() -> None:
    """Try all, then run the best with other seeds, as a check that it is not chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000, help="flows a run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of the best, each of its own seed")
    options = parser.parse_args()
    kernels = [
        {"fixed_ns": fixed, "median_ns": PASS_NS - fixed, "p999_ns": p999} for fixed, p999 in product(FIXED_NS, P999_NS)
    ]
    print(f"fixed median p999, ns; {', '.join(COLUMN_US)}, us; misfit\npaper  {list(COLUMN_US.values())}")
    with ThreadPoolExecutor(2) as executor:
        columns = list(executor.map(lambda kernel: column(kernel, options.trials, seed=1), kernels))
    for kernel, found in zip(kernels, columns, strict=True):
        print(describe(kernel, found))
    best = min(zip(kernels, columns, strict=True), key=lambda pair: misfit(pair[1]))[0]
    print("best, again with other seeds")
    for seed in range(2, 2 + options.seeds):
        print(describe(best, column(best, options.trials, seed)))
    print(f"testbed.KERNEL {'is' if best == testbed.KERNEL else 'is not'} this one")


if __name__ == "__main__":
    main()
