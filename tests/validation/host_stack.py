"""The host stack of LinkGuardian's testbed, fitted to the column "No Loss" of the paper's table 2.

From the root of the repository: .venv/bin/python tests/validation/host_stack.py

Two numbers are free: how the 6.5 us of a pass divide into a fixed part and the median of a lognormal one, and the 99.9th
percentile of that. What is made small is the sum of squared logarithms of measured over paper, over the five numbers of
the column. Nothing else of the paper is looked at. `KERNEL` in hitless/exhibits/linkguardian/testbed.py is the outcome.
Its fixed part is the least of the grid, where the misfit is flat (docs/validation.md).

`--receive-offload` fits hosts that have it, and tries exponential jitter too, of which one number is free.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Mapping
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
OFFLOAD_FIXED_NS = (0, 500, 1_000, 1_500, 2_000, 2_500, 3_500)
OFFLOAD_P999_NS = (44_000, 46_000, 48_000, 50_000, 52_000, 56_000, 60_000, 64_000)


def kernels(*, offload: bool) -> Iterator[Mapping[str, int]]:
    """All that are tried."""
    if offload:
        for fixed in OFFLOAD_FIXED_NS:
            yield {"fixed_ns": fixed, "mean_ns": round((PASS_NS - fixed) / math.log(2))}
    grid = (OFFLOAD_FIXED_NS, OFFLOAD_P999_NS) if offload else (FIXED_NS, P999_NS)
    for fixed, p999 in product(*grid):
        yield {"fixed_ns": fixed, "median_ns": PASS_NS - fixed, "p999_ns": p999}


def column(kernel: Mapping[str, int], trials: int, seed: int, *, offload: bool) -> dict[str, float]:
    """The same five numbers of a run."""
    flows = testbed.trials(testbed.WEB_SEARCH_BYTES, trials)
    receive_offload = {} if offload else None
    made = testbed.scenario(
        100, name="trials", transport=testbed.DCTCP, flows=flows, kernel=kernel, receive_offload=receive_offload
    )
    times = completion_us(Simulation(made, file_name="host_stack", seed=seed).run(keep=("messages",)))
    found = {share: percentile(times, float(share)) for share in list(COLUMN_US)[:-1]}
    return found | {"std dev": statistics.stdev(times)}


def misfit(found: Mapping[str, float]) -> float:
    """Zero when all five agree."""
    return sum(math.log(found[name] / paper) ** 2 for name, paper in COLUMN_US.items())


def describe(kernel: Mapping[str, int], found: Mapping[str, float]) -> str:
    """One line of the table."""
    numbers = "  ".join(f"{found[name]:7.1f}" for name in COLUMN_US)
    return f"{', '.join(f'{name} {value}' for name, value in kernel.items()):45}  {numbers}  {misfit(found):.4f}"


def main() -> None:
    """Try all, then run the best with other seeds, as a check that it is not chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000, help="flows a run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of the best, each of its own seed")
    parser.add_argument("--receive-offload", action="store_true", help="hosts that have it")
    options = parser.parse_args()
    offload = options.receive_offload
    tried = list(kernels(offload=offload))
    print(f"kernel; {', '.join(COLUMN_US)}, us; misfit\npaper  {list(COLUMN_US.values())}")
    with ThreadPoolExecutor(2) as executor:
        runs = [executor.submit(column, kernel, options.trials, 1, offload=offload) for kernel in tried]
        columns = [run.result() for run in runs]
    ranked = sorted(zip(tried, columns, strict=True), key=lambda pair: misfit(pair[1]))
    for kernel, found in ranked:
        print(describe(kernel, found))
    best = ranked[0][0]
    print("best, again with other seeds")
    for seed in range(2, 2 + options.seeds):
        print(describe(best, column(best, options.trials, seed, offload=offload)))
    print(f"testbed.KERNEL {'is' if best == testbed.KERNEL else 'is not'} this one")


if __name__ == "__main__":
    main()
