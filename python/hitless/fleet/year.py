"""Topologies, traces and years of a fleet.

Only this module uses the fleet's classes of the native module, so that it converts all their errors into this
package's.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from hitless import _native
from hitless.errors import BadInput
from hitless.outcome.tables import system_errors
from hitless.simulation import RunCancelled
from hitless.whole_file import text_of, whole

_YEAR_S = 365 * 86_400
BLOCKING = "blocking"
"""The default of protection: LinkGuardian keeps packets in order."""


@contextmanager
def _errors() -> Iterator[None]:
    """Convert the native module's errors into this package's."""
    try:
        yield
    except _native.FleetError as refused:
        what, where, hint = refused.args
        raise BadInput(what, where=where, hint=hint) from refused


def policies() -> list[str]:
    return _native.fleet_policies()


def protects(policy: str) -> bool:
    """Does a policy run LinkGuardian?"""
    with _errors():
        return _native.fleet_policy_protects(policy)


def read_text(path: Path) -> str:
    try:
        return text_of(path)
    except OSError as refused:
        raise BadInput(f"cannot read the file: {refused.strerror}", where=str(path)) from refused
    except UnicodeDecodeError as refused:
        raise BadInput("the file is not UTF-8 text", where=f"{path}, byte {refused.start}") from refused


def _exists(path: Path) -> bool:
    """Does the file exist? Names that are invalid for files do not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _contents(text: str, what: str, known: str) -> tuple[str, str]:
    """Return the text and the name of the file ``text``."""
    if not _exists(Path(text)):
        hint = f"{known}, or the name of a file"
        raise BadInput(f"there is no {what} {text!r}, and no such file", where=f"--{what}", hint=hint)
    return read_text(Path(text)), text


def topology_of(text: str) -> "_native.FleetTopology":
    """Return switches in tiers: from a shape such as ``fabric:pods=20``, or from the file of this name."""
    is_spec = _native.FleetTopology.is_spec(text)
    shapes = "fabric, fat-tree:ports=48, leaf-spine:leaves=64,spines=16"
    source = (text, None) if is_spec else _contents(text, "topology", shapes)
    with _errors():
        return _native.FleetTopology(*source)


def protection_of(text: str) -> "_native.FleetProtection":
    """Return the effect of LinkGuardian: in mode ``blocking`` or ``non-blocking``, or from the file of this name."""
    is_mode = _native.FleetProtection.is_mode(text)
    source = (text, None) if is_mode else _contents(text, "protection", "blocking, non-blocking")
    with _errors():
        return _native.FleetProtection(*source)


@dataclass(frozen=True, slots=True)
class Hazard:
    """Distribution of link failures: the paper's generator (LinkGuardian, appendix D)."""

    mttf_hours: float = 10_000.0
    """Mean time between the failures of a link."""
    weibull_shape: float = 1.0
    """Weibull shape; above 1 the hazard rises with age, 1 is memoryless. The mean does not depend on it."""
    hours: int = 9_000
    """Length of the trace from its first failure: the published year, which is 375 days."""


class Trace:
    """Failures of the links of a topology."""

    def __init__(self, native: "_native.FleetTrace", place: str) -> None:
        self.native = native
        self.place = place
        """Origin of the trace, for messages."""

    @classmethod
    def generate(cls, topology: "_native.FleetTopology", seed: int, asked: Hazard) -> "Trace":
        """Draw a trace; the same seed gives the same trace on every machine."""
        with _errors():
            made = _native.FleetTrace.generate(topology, seed, asked.mttf_hours, asked.weibull_shape, asked.hours)
        return cls(made, f"--hours {asked.hours}, --mttf-hours {asked.mttf_hours:g}, seed {seed}")

    @classmethod
    def read(cls, path: Path, topology: "_native.FleetTopology | None" = None) -> "Trace":
        """Read a file in the published format, for ``topology`` or the one that the file names."""
        text = read_text(path)
        with _errors():
            read = _native.FleetTrace.read(text, str(path), topology)
        return cls(read, str(path))

    def table(self) -> pl.DataFrame:
        """Return one row for each failure: ``time_s``, ``link``, ``loss_rate``."""
        return pl.DataFrame(self.native.columns())

    @property
    def window(self) -> tuple[int, int]:
        """The window for means over time, in seconds: whole years, starting at the first failure.

        A trace that is shorter than a year counts to its last failure. Later repairs do not count, so that all policies
        are measured alike.
        """
        if self.native.span_s is None:
            raise BadInput("no link fails in the trace", where=self.place)
        first_s, last_s = self.native.span_s
        years = (last_s - first_s) // _YEAR_S
        return first_s, first_s + years * _YEAR_S if years else last_s


@dataclass(frozen=True, slots=True)
class Finished:
    states: pl.DataFrame
    """State after each event in the published columns; the first row is the state before any event."""
    repairs: str
    """Every link that was taken down, as the text of a file that `Year` reads."""
    failures: int
    """Number of failures in the trace."""
    skipped: int
    """Number of failures of links that were down already."""
    taken_down: int
    """Number of times that links were taken down."""
    wall_s: float = 0.0


@dataclass(slots=True)
class Year:
    """A year that is about to run, or running. ``progress`` and ``cancel`` are for other threads."""

    trace: Trace
    policy: str
    capacity: float
    """Share of its paths to the spines that each ToR must keep."""
    deployment: float = 1.0
    """Share of pods with LinkGuardian in their ToR switches; below 1, links to spines are unprotected."""
    seed: int = 1
    """Seed for the repairs, and for the choice of pods."""
    repairs: tuple[str, str] | None = None
    """Text and name of a file of repairs to replay."""
    protection: str = BLOCKING
    """Mode of LinkGuardian, or the name of a file with its effect."""
    _native_year: "_native.FleetYear" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        settings = (self.policy, self.capacity, self.deployment, protection_of(self.protection), self.seed)
        with _errors():
            self._native_year = _native.FleetYear(self.trace.native, *settings, self.repairs)

    @property
    def progress(self) -> float:
        """Share of the known events that are done, 0 to 1."""
        return self._native_year.progress

    def cancel(self) -> None:
        """Stop a run soon; `run` then raises `RunCancelled`."""
        self._native_year.cancel()

    def run(self) -> Finished:
        """Run until the last link is back."""
        began = time.monotonic()
        try:
            with _errors():
                self._native_year.run()
        except _native.Cancelled as cancelled:
            raise RunCancelled from cancelled
        failures, skipped, taken_down = self._native_year.counts()
        return Finished(
            pl.DataFrame(self._native_year.states()),
            self._native_year.repairs(),
            failures,
            skipped,
            taken_down,
            time.monotonic() - began,
        )

    def published_rows(self) -> Mapping[str, "_native.Column"]:
        """Return the rows of the published simulator, after `run`: one before and one after each event."""
        return self._native_year.published_rows()


SCHEMA: dict[str, type[pl.DataType]] = {
    "time": pl.Int64,
    "total_penalty": pl.Float64,
    "total_effective_penalty": pl.Float64,
    "avg_per_tor_paths": pl.Float64,
    "min_per_tor_paths": pl.UInt64,
    "avg_per_pod_capacity": pl.Float64,
    "min_per_pod_capacity": pl.Float64,
    "max_link_loss_rate": pl.Float64,
    "curr_disabled_links": pl.UInt64,
    "curr_corrupting_links": pl.UInt64,
    "max_lg_ports_per_pipe": pl.UInt64,
}
"""Names of the published columns: seconds, shares of frames, paths, Gb/s, counts."""


def write_published(rows: pl.DataFrame, path: Path) -> None:
    """Write rows in the format of the published simulator: tab-separated text with a header. Raises `OSError`."""
    with whole(path) as beside, system_errors(beside):
        rows.select(list(SCHEMA)).write_csv(beside, separator="\t")
