"""One run to do, and the finished runs by key."""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias

from hitless.checking import Fields
from hitless.simulation import PacketSimulation, Run, Work

Reduction: TypeAlias = Callable[[Run], Run]
"""A function in a module; it depends only on the run and the module."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run, independent of the others."""

    key: str
    """Name among the runs of a result, also for people: "LG 100G 1e-3"."""
    what: Work | Fields | str
    """Work to do; a scenario (nested mappings, or the text of a file) means its packet simulation."""
    replica: int = 0
    """Seed index. Points with the same replica share a seed, so that schemes meet the same arrivals."""
    keep: Collection[str] | None = None
    """Tables that the rows need; None for all. Other tables take no memory."""
    reduce: Reduction | None = None
    """Shrinks a finished run, before it waits for the others and before it is cached."""
    has_use_for_part: bool = False
    """Is an incomplete run, which says so, better than a missing one?"""
    own_seed: int | None = None
    """Seed of the run for any replica; None derives it from the common seed."""

    @property
    def work(self) -> Work:
        """The work to do."""
        return self.what if isinstance(self.what, Work) else PacketSimulation(self.what)

    def seed(self, base: int | None) -> int | None:
        """Return the seed of the run: ``base`` itself for replica 0, so that a user can repeat it by hand.

        None means the scenario's own seed.
        """
        if self.own_seed is not None:
            return self.own_seed
        if base is None or self.replica == 0:
            return base
        digest = hashlib.sha256(f"{base}/{self.replica}".encode()).digest()
        return int.from_bytes(digest[:6], "big")


class MissingRun(Exception):
    """Raised if rows request the run of a point that did not finish."""


class Runs(dict[str, Run]):
    """The finished runs by the keys of their points, in the order of the points."""

    def __missing__(self, key: str) -> Run:
        raise MissingRun(key)
