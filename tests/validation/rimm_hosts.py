"""The stack delay of the hosts in RIMM's testbed, fitted to the 31 packets that basic forwarding loses in an event.

From the root of the repository: .venv/bin/python tests/validation/rimm_hosts.py

There is one free parameter: the delay of a host's kernel in one direction, to the microsecond. The fit minimizes the
distance of the mean loss from the paper's (section IV-A), and ignores the rest of the paper. `STACK_US` in
hitless_papers/rimm/testbed.py is the result. The output includes the time that the queue stays full in an event with
losses, because the paper mentions tens of microseconds.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import polars as pl

from hitless.simulation import Simulation
from hitless_papers.estimates import mean_of
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import TABLES, Event, measure

LOST = 31.0
STACKS_US = (34.0, 36.0, 38.0, 40.0, 41.0, 42.0, 43.0, 44.0, 46.0, 50.0, 55.0)
_LENGTH_MS = 60.0
_SAMPLE_US = 5
"""Period of `measure`."""
_FULL_SEGMENTS = testbed.QUEUE_SEGMENTS - 20
"""Queue length above which a full-size frame of 20 segments does not fit."""


def events(stack_us: float, seed: int, count: int) -> list[Event]:
    """Return events like those in `rimm/loss` with basic forwarding."""
    flows = [testbed.background(_LENGTH_MS), testbed.burst()]
    made = testbed.scenario("event", flows, measure=measure(), stack_us=stack_us)
    seeds = range(seed * count, (seed + 1) * count)
    return [Event(Simulation(made, file_name="rimm_hosts", seed=own).run(keep=TABLES)) for own in seeds]


def overflow_us(event: Event) -> int:
    """Return how long the queue to VM7 was full."""
    table = event.run.table("queues").filter(pl.col("port") == testbed.HOT_PORT)
    full = table["value_bytes"] >= _FULL_SEGMENTS * testbed.SEGMENT_BYTES
    return int(full.sum()) * _SAMPLE_US


def mean_lost(found: Sequence[Event]) -> float:
    return mean_of([event.lost for event in found]).value or 0.0


def describe(stack_us: float, found: Sequence[Event]) -> str:
    lost = mean_of([event.lost for event in found])
    mean, interval = lost.value, lost.interval
    spread = f"[{interval.low:5.1f}, {interval.high:5.1f}]" if interval else ""
    overflows = [overflow_us(event) for event in found if event.lost > 0]
    full_us = f"{mean_of(overflows).value:8.1f}" if overflows else "-"
    return f"{stack_us:8g} {mean:8.1f} {spread}  {len(overflows):4}/{len(found)} {full_us:>8}"


def main() -> None:
    """Try all, then run the best with another seed, to rule out chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100, help="events at each delay")
    options = parser.parse_args()
    print(f"us a pass; packets lost per event (paper: {LOST:g}); events that lose some; us that the queue is full then")
    with ThreadPoolExecutor(2) as executor:
        runs = executor.map(lambda stack_us: events(stack_us, 1, options.events), STACKS_US)
        tried = dict(zip(STACKS_US, runs, strict=True))
    for stack_us, found in tried.items():
        print(describe(stack_us, found))
    best = min(tried, key=lambda stack_us: abs(mean_lost(tried[stack_us]) - LOST))
    print("best, again with another seed")
    print(describe(best, events(best, 2, options.events)))
    print(f"testbed.STACK_US {'is' if best == testbed.STACK_US else 'is not'} this one")


if __name__ == "__main__":
    main()
