"""What switches counted in a run: drops, and how often AFQ's sketch was wrong."""

import polars as pl

from hitless.simulation import Run

TABLES = ("flows", "messages", "mechanisms")
"""What completion times and counters are read from."""
AFTER_THE_END = "arrived after the end of the flow"
"""The reason of drops at hosts, which are no losses."""


def dropped(run: Run) -> int:
    """Packets that a switch had no room for, or that AFQ found too many rounds ahead."""
    return sum(count for reason, count in run.summary.drops.items() if reason != AFTER_THE_END)


def dropped_per_flow(run: Run) -> float:
    """The same for each flow that started."""
    return dropped(run) / float(run.summary["flows.started"])


def dropped_bytes_per_flow(run: Run) -> float:
    """Bytes of frames that switches dropped, for each flow that started."""
    at_switches = run.table("drops").filter(pl.col("switch") != "")
    return int(at_switches["bytes"].sum()) / float(run.summary["flows.started"])


def misestimated(run: Run) -> tuple[int, int]:
    """Packets that the sketch put into a later queue than an exact account of bids would have; and all checked."""
    return counter(run, "packets in a later queue than they should be"), counter(run, "packets whose bid was checked")


def counter(run: Run, name: str) -> int:
    """A counter of AFQ, over all ports of all switches."""
    afq = run.table("mechanisms").filter((pl.col("mechanism") == "afq") & (pl.col("counter") == name))
    return int(afq["value"].sum())
