"""One run to do, and the finished runs by name."""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

from hitless.checking import Fields
from hitless.simulation import PacketSimulation, Run, Work

Reduction: TypeAlias = Callable[[Run], Run]
"""A function of a module, which depends on nothing but the run and that module."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run, independent of the others."""

    key: str
    """Its name among the runs of one result, for people too: "LG 100G 1e-3"."""
    what: Work | Fields | str
    """The work to do; a scenario, as nested mappings or the text of a file, stands for its packet simulation."""
    replica: int = 0
    """Points of one replica share one seed, so that schemes meet the same arrivals; others are independent."""
    keep: Collection[str] | None = None
    """The tables that the rows need; None for all. What is not kept takes no memory."""
    reduce: Reduction | None = None
    """Makes a finished run smaller, before it waits for the others and before it is kept on disk."""
    has_use_for_part: bool = False
    """Is a run that was stopped before its end, and says so, better than none?"""
    own_seed: int | None = None
    """The seed of the run, whatever its replica; None for one that follows from the common one."""

    @property
    def work(self) -> Work:
        """The work to do."""
        return self.what if isinstance(self.what, Work) else PacketSimulation(self.what)

    def seed(self, base: int | None) -> int | None:
        """The seed of the run: ``base`` itself for replica 0, so that a user can repeat it by hand.

        None stands for the scenario's own.
        """
        if self.own_seed is not None:
            return self.own_seed
        if base is None or self.replica == 0:
            return base
        digest = hashlib.sha256(f"{base}/{self.replica}".encode()).digest()
        return int.from_bytes(digest[:6], "big")


class MissingRun(Exception):
    """Rows were asked of a point that did not finish."""


class Runs(dict[str, Run]):
    """The finished runs by the keys of their points, in the order of the points."""

    def __missing__(self, key: str) -> Run:
        raise MissingRun(key)
