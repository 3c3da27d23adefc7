"""The host stack of LinkGuardian's testbed, fitted to the column "No Loss" of the paper's table 2.

From the root of the repository: .venv/bin/python tests/validation/host_stack.py --close

The fit minimizes the sum of squared logarithms of measured over paper, over the five numbers of the column. It ignores
the rest of the paper. `KERNEL` and `CLOSE` in hitless_papers/linkguardian/testbed.py are the result of `--close`.

Without it, there are two free parameters: the split of the 6.5 us of a pass into a fixed part and the median of a
lognormal one, and the 99.9th percentile of the latter.

`--gro` fits hosts with receive offload, and also tries exponential jitter with one free parameter.

`--close` fits the hosts described by the authors' scripts: receive offload, no timestamps, and applications that close
after each flow. The kernel's work after its poll is counted on the way out, since the packets of a window are closer
together than that. There are three free parameters: the mean of an exponential jitter (the fixed part makes the round
trip of about 30 us), and median and 99.9th percentile of the time that the receiving application takes to close.

`--one-mode` fits the same without receive offload: then every flow's end waits for the receiver to close, so that times
have one mode. The result is `KERNEL_OF_ONE_MODE` and `CLOSE_OF_ONE_MODE`.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any

from hitless.analysis import percentile
from hitless.simulation import Simulation
from hitless_papers.linkguardian import testbed
from hitless_papers.linkguardian.completion import completion_us

COLUMN_US = {"99": 152.293, "99.9": 166.877, "99.99": 197.536, "99.999": 253.207, "std dev": 21.3}
PASS_NS = 6_500
FIXED_NS = (500, 1_500, 2_500, 3_500)
P999_NS = (40_000, 44_000, 46_000, 48_000, 50_000, 52_000, 56_000)
OFFLOAD_FIXED_NS = (0, 500, 1_000, 1_500, 2_000, 2_500, 3_500)
ROUND_TRIP_NS = 26_000
"""The hosts' share of the 30 us in section 4."""
JITTER_MEAN_NS = (500, 1_000, 1_500, 2_000)
CLOSE_MEDIAN_NS = (55_000, 60_000, 65_000, 70_000, 75_000)
CLOSE_RATIO = (1.7, 2.0, 2.3, 2.6)
ONE_MODE_MEAN_NS = (5_000, 6_000, 6_500)
ONE_MODE_MEDIAN_NS = (12_000, 16_000, 20_000, 25_000)
ONE_MODE_RATIO = (2.5, 4.0, 6.0)
OFFLOAD_P999_NS = (44_000, 46_000, 48_000, 50_000, 52_000, 56_000, 60_000, 64_000)


@dataclass(frozen=True, slots=True)
class Hosts:
    kernel: Mapping[str, int]
    gro: bool = False
    close: Mapping[str, int] | None = None

    def transport(self) -> Mapping[str, Any]:
        """The testbed's transport, or the variant in the authors' scripts."""
        if self.close is None:
            return {**testbed.DCTCP, "eifel_undo": True, "dsack_undo": False}
        return {**testbed.DCTCP, "close": {"jitter": testbed.jitter(self.close)}}

    def __str__(self) -> str:
        numbers = {**self.kernel, **{f"close {name}": value for name, value in (self.close or {}).items()}}
        return ", ".join(f"{name} {value}" for name, value in numbers.items())


def kernels(*, offload: bool) -> Iterator[Mapping[str, int]]:
    if offload:
        for fixed in OFFLOAD_FIXED_NS:
            yield {"fixed_ns": fixed, "mean_ns": round((PASS_NS - fixed) / math.log(2))}
    grid = (OFFLOAD_FIXED_NS, OFFLOAD_P999_NS) if offload else (FIXED_NS, P999_NS)
    for fixed, p999 in product(*grid):
        yield {"fixed_ns": fixed, "median_ns": PASS_NS - fixed, "p999_ns": p999}


def closing_hosts(*, one_mode: bool) -> Iterator[Hosts]:
    offload = (JITTER_MEAN_NS, CLOSE_MEDIAN_NS, CLOSE_RATIO)
    grid = (ONE_MODE_MEAN_NS, ONE_MODE_MEDIAN_NS, ONE_MODE_RATIO) if one_mode else offload
    for mean, median, ratio in product(*grid):
        kernel = {"fixed_ns": 0, "send_ns": round(ROUND_TRIP_NS - 4 * mean) // 2, "mean_ns": round(mean)}
        yield Hosts(kernel, gro=not one_mode, close={"median_ns": round(median), "p999_ns": round(ratio * median)})


def column(hosts: Hosts, trials: int, seed: int) -> dict[str, float]:
    flows = testbed.trials(testbed.WEB_SEARCH_BYTES, trials)
    hosted = {"transport": hosts.transport(), "kernel": hosts.kernel, "gro": hosts.gro}
    made = testbed.scenario(100, name="trials", flows=flows, **hosted)
    times = completion_us(Simulation(made, file_name="host_stack", seed=seed).run(keep=("messages",)))
    found = {share: percentile(times, float(share)) for share in list(COLUMN_US)[:-1]}
    return found | {"std dev": statistics.stdev(times)}


def misfit(found: Mapping[str, float]) -> float:
    """Return zero if all five agree."""
    return sum(math.log(found[name] / paper) ** 2 for name, paper in COLUMN_US.items())


def describe(hosts: Hosts, found: Mapping[str, float]) -> str:
    numbers = "  ".join(f"{found[name]:7.1f}" for name in COLUMN_US)
    return f"{hosts!s:45}  {numbers}  {misfit(found):.4f}"


def main() -> None:
    """Try all, then run the best with other seeds, to rule out chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000, help="flows a run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of the best, each of its own seed")
    parser.add_argument("--gro", action="store_true", help="hosts that have it")
    parser.add_argument("--close", action="store_true", help="hosts that have it, and applications that close")
    parser.add_argument("--one-mode", action="store_true", help="the same without receive offload")
    options = parser.parse_args()
    offload = options.gro
    if options.close or options.one_mode:
        tried = list(closing_hosts(one_mode=options.one_mode))
    else:
        tried = [Hosts(kernel, offload) for kernel in kernels(offload=offload)]
    print(f"kernel; {', '.join(COLUMN_US)}, us; misfit\npaper  {list(COLUMN_US.values())}")
    with ThreadPoolExecutor(2) as executor:
        runs = [executor.submit(column, hosts, options.trials, 1) for hosts in tried]
        columns = [run.result() for run in runs]
    ranked = sorted(zip(tried, columns, strict=True), key=lambda pair: misfit(pair[1]))
    for hosts, found in ranked:
        print(describe(hosts, found))
    best = ranked[0][0]
    print("best, again with other seeds")
    for seed in range(2, 2 + options.seeds):
        print(describe(best, column(best, options.trials, seed)))
    of_testbed = Hosts(testbed.KERNEL, gro=True, close=testbed.CLOSE)
    if options.one_mode:
        of_testbed = Hosts(testbed.KERNEL_OF_ONE_MODE, gro=False, close=testbed.CLOSE_OF_ONE_MODE)
    print(f"those of testbed {'are' if best == of_testbed else 'are not'} these")


if __name__ == "__main__":
    main()
