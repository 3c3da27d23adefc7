"""Single steps of deflection without a network, by the simulator's own code, for the paper's small examples."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl
import tomli_w

from hitless import _native
from hitless.errors import BadInput
from hitless.simulation import Run, Summary

Tables = dict[str, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class RelativePriorities:
    """Relative priority of packets that enter a queue one after the other, and stay in it (appendix C)."""

    ranks: Sequence[int]
    window: int
    """Number of recent packets that the quantile compares with."""
    queue_packets: int
    """Capacity of the queue in packets."""

    def job(self, *, file_name: str, seed: int | None) -> "Step":
        """Return the step, about to run. Table ``relative_priorities`` has a row for each packet."""
        return Step(self._tables, asdict(self), 1 if seed is None else seed)

    def _tables(self, seed: int) -> Tables:
        estimates = _native.deflection_relative_priorities(list(self.ranks), self.window, self.queue_packets)
        columns = {
            "rank": list(self.ranks),
            "quantile": [quantile for quantile, _ in estimates],
            "distribution": [distribution for _, distribution in estimates],
        }
        return {"relative_priorities": pl.DataFrame(columns)}


@dataclass(frozen=True, slots=True)
class ScanCounts:
    """How often each port is the first with free space, scanning from a random start (appendix E)."""

    full_probabilities: Sequence[float]
    """Probability that each port is full, drawn independently every time."""
    draws: int
    start: Literal["uniform", "five-bit"] = "uniform"
    """Uniform over the ports, or a five-bit number, as in the authors' program."""

    def job(self, *, file_name: str, seed: int | None) -> "Step":
        """Return the draws of a seed, about to run. Table ``scan`` has a row per port; port -1 means all were full."""
        return Step(self._tables, asdict(self), 1 if seed is None else seed)

    def _tables(self, seed: int) -> Tables:
        counts, none = _native.deflection_scan_counts(list(self.full_probabilities), self.draws, seed, self.start)
        return {"scan": pl.DataFrame({"port": [*range(len(counts)), -1], "chosen": [*counts, none]})}


class Step:
    """A step about to run. It is too short to cancel; ``progress`` and ``cancel`` are for other threads."""

    def __init__(self, tables: Callable[[int], Tables], settings: dict[str, Any], seed: int) -> None:
        self._tables = tables
        self._settings = settings
        self._seed = seed
        self._is_done = False

    @property
    def progress(self) -> float:
        """Share that is done: 0 or 1."""
        return float(self._is_done)

    def cancel(self) -> None:
        """Do nothing: the step ends sooner."""

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Run it; meaningless settings are refused."""
        began = time.monotonic()
        try:
            tables = self._tables(self._seed)
        except ValueError as refused:
            raise BadInput(str(refused), where="deflection") from refused
        self._is_done = True
        kept = {name: table for name, table in tables.items() if keep is None or name in keep}
        values: dict[str, Any] = {"seed": self._seed, "warnings": [], "drops": {}}
        text = tomli_w.dumps({"deflection": {"seed": self._seed, **self._settings}})
        return Run(text, Summary(values), kept, time.monotonic() - began)
