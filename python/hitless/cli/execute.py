"""Runs from the command line: progress, Ctrl-C, and the results folder."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol

import polars as pl

from hitless.drawing.plot import Plot
from hitless.outcome.schema import schema_version
from hitless.report import page
from hitless.results import ResultsFolder, write_result
from hitless.runs.pool import Task
from hitless.runs.result import Result, RowType
from hitless.terminal.console import print_error, print_note
from hitless.terminal.interrupt import EXIT_INTERRUPTED, on_interrupt, on_quit
from hitless.terminal.progress import ProgressDisplay


class ResultSource(Protocol[RowType]):
    """Source of results: a study, or a campaign of exhibits."""

    @property
    def interrupted(self) -> bool:
        """Was it stopped early?"""

    def results(self, look: Callable[[Sequence[Task]], None]) -> Iterator[Result[RowType]]:
        """Run everything; yield each result when it is complete. ``look`` is called often meanwhile."""

    def stop(self) -> None:
        """Stop early, with partial results."""

    def tell(self) -> None:
        """Print the state of each run in progress on stderr."""


class Renderer(Protocol[RowType]):
    """Renders results for people."""

    def render_report(self, results: Sequence[Result[RowType]], manifest: Mapping[str, Any]) -> str:
        """Return the page as HTML."""

    def named_plots(self, results: Sequence[Result[RowType]]) -> Mapping[str, Plot]:
        """Return each plot by name."""


@dataclass(frozen=True, slots=True)
class Execution(Generic[RowType]):
    """The results of runs, already written to their folder."""

    folder: ResultsFolder
    results: Sequence[Result[RowType]]
    interrupted: bool
    wall_s: float
    """Wall time from start to end."""

    @property
    def report(self) -> Path:
        return self.folder.path / "report.html"

    @property
    def exit_code(self) -> int:
        """0: done; 1: a run failed or the results could not be written; 130: interrupted."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return 1 if self.folder.trouble or any(result.failures for result in self.results) else 0

    def as_json(self) -> dict[str, Any]:
        return {"schema": schema_version(), "exhibits": [result.as_json() for result in self.results]}

    def tell(self, *, interrupted: str = "partial results are kept") -> None:
        """Print errors, warnings and the location of the results on stderr; ``interrupted`` is the interrupt's text."""
        for result in self.results:
            for warning in result.warnings:
                print_note(f"warning: {warning}")
            for failure in result.failures:
                print_error(failure)
        if self.interrupted:
            print_note(f"interrupted: {interrupted}")
        self.tell_place()

    def tell_place(self) -> None:
        """Print the folder of the results, or the reason why they are missing, and release its lock."""
        for warning in self.folder.warnings:
            print_note(f"warning: {warning}")
        if self.folder.failure is not None:
            print_error(self.folder.failure)
        self.folder.close()
        if self.folder.failure is None:
            print_note(f"report: {self.report}")


def execute(
    source: ResultSource[RowType],
    make_folder: Callable[[], ResultsFolder],
    what: str,
    renderer: Renderer[RowType] = page,
    **more: Any,
) -> Execution[RowType]:
    """Run with progress on stderr and write everything; ``more`` goes into the manifest.

    The folder is made after the interrupt handler is installed. Both handlers stay until everything is written.
    """
    with on_quit(source.tell), on_interrupt(source.stop):
        return _execute(source, make_folder, what, renderer, more)


def _execute(
    source: ResultSource[RowType],
    make_folder: Callable[[], ResultsFolder],
    what: str,
    renderer: Renderer[RowType],
    more: dict[str, Any],
) -> Execution[RowType]:
    began_s = time.monotonic()
    results: list[Result[RowType]] = []
    described: list[dict[str, Any]] = []
    with ProgressDisplay(what) as display:
        folder = make_folder()
        if folder.replaces is not None:
            print_note(f"the results of {folder.replaces} in {folder.path} are replaced")
        folder.begin()
        for result in source.results(lambda tasks: display.look([task for task in tasks if not task.was_there])):
            results.append(result)
            with folder.troubles_kept():
                described += write_result(folder, result)
                _raise_refusals(result)
    results.sort(key=lambda result: result.position)
    execution = Execution(folder, results, source.interrupted, time.monotonic() - began_s)
    incomplete = [result.id for result in results if not result.complete]
    more |= {"interrupted": source.interrupted, "incomplete": incomplete}
    with folder.troubles_kept():
        _write(execution, renderer, lambda: folder.manifest(["hitless", *sys.argv[1:]], described, **more))
    return execution


def _raise_refusals(result: Result[RowType]) -> None:
    """Raise errors of the system from writing a run's rows."""
    for failure in result.failures:
        if isinstance(failure.__cause__, OSError):
            raise failure.__cause__


def _write(
    execution: Execution[RowType], renderer: Renderer[RowType], make_manifest: Callable[[], dict[str, Any]]
) -> None:
    folder, document = execution.folder, execution.as_json()
    folder.write_json("summary.json", document)
    rows = [
        {"exhibit": result.id, **row.as_json(result.shortened), "paper": row.reference}
        for result in execution.results
        for row in result.rows
    ]
    if rows:
        folder.write_tables({"rows": pl.DataFrame(rows, infer_schema_length=None)})
    folder.write_pictures(renderer.named_plots(execution.results))
    manifest = make_manifest()
    folder.write_text("report.html", renderer.render_report(execution.results, manifest))
    folder.write_json("manifest.json", manifest)
