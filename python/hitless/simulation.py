"""One run of a simulator: from a scenario, or other work, to typed results.

Only this module (besides the benchmark) runs the native module, so that it and `hitless.checking` convert all its
errors into this package's.
"""

import json
import time
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from hitless import _native
from hitless.checking import Fields, checked, faults_explained, scenario_text
from hitless.checkpoints import Checkpoints, machine_code
from hitless.errors import HitlessError, reason
from hitless.outcome.run import Run as Run  # noqa: PLC0414 - what works give back: exported from here too
from hitless.outcome.run import RunStopped
from hitless.outcome.run import Summary as Summary  # noqa: PLC0414
from hitless.outcome.scenario import with_reasons
from hitless.outcome.stored import RowFiles
from hitless.outcome.tables import Tables
from hitless.prototype.kinds import identity, named_in
from hitless.threads import thread_count


class RunCancelled(Exception):
    """The run was stopped by `Simulation.cancel`."""


class Job(Protocol):
    """Work in progress. ``progress`` and ``cancel`` are for other threads."""

    @property
    def progress(self) -> float:
        """Share that is done, 0 to 1."""

    def cancel(self) -> None:
        """Stop soon; `run` then raises `RunCancelled`. A job with ``stop`` can keep its results (`RunStopped`)."""

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Run to the end, once, and return the tables named in ``keep``, or all."""


@runtime_checkable
class Work(Protocol):
    """The work of one run: a packet simulation, a year of a fleet, or anything else that depends only on a seed."""

    def job(self, *, file_name: str, seed: int | None) -> Job:
        """Return the work for one seed, about to run; ``file_name`` is its name in messages."""


@dataclass(slots=True)
class RowsFolder:
    """A folder for rows that is known only when the run begins."""

    path: Path | None = None


@dataclass(frozen=True, slots=True)
class PacketSimulation:
    """The packet-level simulation of a scenario."""

    scenario: Fields | str | _native.CheckedScenario
    """Nested mappings, the text of a file, or a scenario that was checked earlier, which stays in this process."""
    place: str | None = None
    """Name of its file in messages; files that the scenario names are relative to its folder."""
    rows: "RowsFolder | None" = None
    """Folder for flows and messages during the run; None keeps them in memory."""
    checkpoints: Checkpoints | None = None
    """Checkpoints to write; None for no checkpoints."""

    def job(self, *, file_name: str, seed: int | None) -> "Simulation":
        """Return the simulation with this seed, or with the scenario's own."""
        folder = self.rows.path if self.rows is not None else None
        name, checkpoints = self.place or file_name, self.checkpoints
        return Simulation(self.scenario, file_name=name, seed=seed, rows=folder, checkpoints=checkpoints)

    def identity(self, file_name: str) -> str:
        """Return everything that the results depend on except seed and program: every setting, and digests of files."""
        scenario = _parsed(self.scenario, self.place or file_name)
        return scenario.effective + identity(self.python_kinds())

    def python_kinds(self) -> list[str]:
        """Return the kinds of its mechanisms that are Python classes, which only this process knows."""
        try:
            scenario = self.scenario.text if isinstance(self.scenario, _native.CheckedScenario) else self.scenario
            return named_in(tomllib.loads(scenario) if isinstance(scenario, str) else scenario)
        except tomllib.TOMLDecodeError:
            return []  # the check of the scenario reports it


class Simulation:
    """A simulation that is about to run, running, or done. ``progress`` and ``cancel`` are for other threads."""

    def __init__(
        self,
        scenario: Fields | str | _native.CheckedScenario,
        *,
        file_name: str,
        seed: int | None = None,
        rows: Path | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """``rows`` is a folder for flows and messages, written during the run instead of being kept.

        With ``checkpoints`` it runs on one thread, and keeps its rows.
        """
        threads = 1 if checkpoints is not None else thread_count()
        self._native = _native.Simulation(_parsed(scenario, file_name, rows is None, threads), seed)
        self._file_name = file_name
        self._rows = rows
        self._checkpoints = checkpoints

    @property
    def progress(self) -> float:
        """Share of the simulated time that has passed, 0 to 1."""
        return self._native.progress

    def checkpoint_refusal(self) -> str | None:
        """Return why it cannot write checkpoints; None if it can. A large network takes a while to build."""
        return self._native.checkpoint_refusal()

    def cancel(self) -> None:
        """Stop a run soon; `run` then raises `RunCancelled`."""
        self._native.cancel()

    def stop(self) -> None:
        """Stop a run soon, with partial results; `run` then raises `RunStopped`."""
        self._native.stop()

    def describe(self) -> str | None:
        """Return a report of the run in progress, from another thread; None if it does not run.

        The run answers after at most 65,536 events, and its results stay the same.
        """
        answer = self._native.describe()
        if answer is None:
            return None
        events, wall_s, text = answer
        rate = f", {events / wall_s:,.0f} events/s" if wall_s > 0.0 else ""
        return f"{self.progress:.0%} done, {events:,} events{rate}; {text}".rstrip()

    def run(self, keep: Collection[str] | None = None) -> Run:
        """Run to the end on `thread_count` threads and return the tables named in ``keep``, or all.

        Raises `RunStopped` if it was stopped, or exceeded its memory limit.
        """
        began = time.monotonic()
        files = RowFiles(self._rows) if self._rows is not None else None
        try:
            with faults_explained(self._file_name):
                take = files.take if files is not None else None
                checkpoints = self._checkpoints.native() if self._checkpoints is not None else None
                self._native.run(thread_count(), take, checkpoints, None if keep is None else list(keep))
        except _native.CheckpointError as refused:
            raise HitlessError(str(refused), where=self._file_name) from refused
        except _native.Cancelled as cancelled:
            if files is not None:
                files.discard()
            raise RunCancelled from cancelled
        except OSError as refused:
            raise self._not_written(refused, files) from refused
        try:
            paths, in_memory = files.finish(self._native.effective) if files is not None else ({}, {})
        except OSError as refused:
            raise self._not_written(refused, files) from refused
        run = Run(
            effective=self._native.effective,
            summary=Summary(self._summary(files)),
            tables=kept({**in_memory, **self._native.tables}, keep, paths),
            wall_s=time.monotonic() - began,
            captures=self._native.captures,
        )
        if run.summary.incomplete:
            hint = _STOPPED_HINT if run.summary.values.get("ended_by") == "memory limit" else ""
            raise RunStopped(run, where=self._file_name, hint=hint)
        return run

    def _summary(self, files: RowFiles | None) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self._native.summary)
        if values.get("warnings"):
            simulated_s = float(values.get("simulated_s", 0.0))
            values["warnings"] = with_reasons(values["warnings"], self._native.effective, simulated_s)
        if files is not None and files.refused is not None:
            told = f"rows could not be written to {files.folder} and are in memory: {reason(files.refused)}"
            values["warnings"] = [*values.get("warnings", []), told]
        return values

    def _not_written(self, refused: OSError, files: RowFiles | None) -> HitlessError:
        if files is not None:
            files.discard()
        what = f"rows cannot be written: {reason(refused)}"
        return HitlessError(what, where=str(self._rows), hint="free some space, or choose another folder")


def _parsed(
    scenario: Fields | str | _native.CheckedScenario, file_name: str, keeps_rows: bool = True, threads: int = 1
) -> _native.CheckedScenario:
    if isinstance(scenario, _native.CheckedScenario):
        return scenario
    return checked(scenario_text(scenario), file_name, keeps_rows=keeps_rows, threads=threads)


_STOPPED_HINT = "a larger --memory, a lower load, or a shorter run; the results are those of a shorter run"


def kept(
    tables: "Mapping[str, Mapping[str, _native.Column]]",
    keep: Collection[str] | None,
    paths: Mapping[str, Path] | None = None,
) -> Tables:
    """Return the tables of a run to keep; None means all. ``paths`` are the tables written to files."""
    return Tables({name: columns for name, columns in tables.items() if keep is None or name in keep}, paths)


def program_identity() -> str:
    """Return the version of the program and the digest of its native module; they identify a build."""
    return f"{_native.version()} {machine_code()}"
