"""Running exhibits from the command line: progress, Ctrl-C, and the results folder."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from hitless.exhibits.campaign import Campaign, Result
from hitless.exhibits.numbers import format_paper
from hitless.report.page import render_pictures, render_report
from hitless.results import ResultsFolder, file_name, write_exhibit
from hitless.terminal.console import print_error, print_note
from hitless.terminal.interrupt import EXIT_INTERRUPTED, on_interrupt
from hitless.terminal.progress import ProgressDisplay


@dataclass(frozen=True, slots=True)
class Execution:
    """What came of a campaign, already written to its folder."""

    folder: ResultsFolder
    results: Sequence[Result]
    interrupted: bool
    wall_s: float
    """From its beginning to its end."""

    @property
    def report(self) -> Path:
        """The page to open."""
        return self.folder.path / "report.html"

    @property
    def exit_code(self) -> int:
        """0 done, 1 a run failed or the results could not be written, 130 interrupted."""
        if self.interrupted:
            return EXIT_INTERRUPTED
        return 1 if self.folder.trouble or any(result.failures for result in self.results) else 0

    def as_json(self) -> dict[str, Any]:
        """The JSON document of the exhibits."""
        return {"exhibits": [result.as_json() for result in self.results]}

    def tell(self, *, debug: bool) -> None:
        """Say on stderr what went wrong or may mislead, and where the results are."""
        for result in self.results:
            for warning in result.warnings:
                print_note(f"warning: {warning}")
            for failure in result.failures:
                print_error(failure, debug=debug)
        if self.interrupted:
            complete = sum(result.complete for result in self.results)
            rows = sum(len(result.rows) for result in self.results)
            total = len(self.results)
            print_note(f"interrupted: {complete} of {total} exhibits are complete; the {rows} rows done are kept")
        self.tell_place(debug=debug)

    def tell_place(self, *, debug: bool) -> None:
        """Print the folder of the results, or why they are missing, and release its lock."""
        if self.folder.failure is not None:
            print_error(self.folder.failure, debug=debug)
        self.folder.close()
        if self.folder.failure is None:
            print_note(f"report: {self.report}")


def execute(campaign: Campaign, make_folder: Callable[[], ResultsFolder], what: str, **more: Any) -> Execution:
    """Run a campaign with progress on stderr and write everything; ``more`` goes into the manifest.

    The folder is made when an interrupt is already one that keeps what is done.
    """
    began_s = time.monotonic()
    results: list[Result] = []
    described: list[dict[str, Any]] = []
    with on_interrupt(campaign.stop), ProgressDisplay(what) as display:
        folder = make_folder()
        if folder.replaces is not None:
            print_note(f"the results of {folder.replaces} in {folder.path} are replaced")
        for result in campaign.results(lambda tasks: display.look([task for task in tasks if not task.was_there])):
            results.append(result)
            with folder.troubles_kept():
                described += write_exhibit(folder, result)
                _raise_refusals(result)
    results.sort(key=lambda result: campaign.order[result.entry.id])
    execution = Execution(folder, results, campaign.interrupted, time.monotonic() - began_s)
    incomplete = [result.entry.id for result in results if not result.complete]
    more |= {"interrupted": campaign.interrupted, "incomplete": incomplete}
    with folder.troubles_kept():
        _write(execution, folder.manifest(["hitless", *sys.argv[1:]], described, **more))
    return execution


def _raise_refusals(result: Result) -> None:
    """Raise what the system refused while a run wrote its rows."""
    for failure in result.failures:
        if isinstance(failure.__cause__, OSError):
            raise failure.__cause__


def _write(execution: Execution, manifest: dict[str, Any]) -> None:
    folder, document = execution.folder, execution.as_json()
    # What is there of an earlier run is replaced file by file: without a manifest it is not complete.
    (folder.path / "manifest.json").unlink(missing_ok=True)
    folder.write_json("summary.json", document)
    rows = [
        {"exhibit": result.entry.id, **row.as_json(result.shortened), "paper": format_paper(row.paper)}
        for result in execution.results
        for row in result.rows
    ]
    if rows:
        folder.write_tables({"rows": pl.DataFrame(rows, infer_schema_length=None)})
    folder.write_text("report.html", render_report(execution.results, manifest))
    for name, picture in render_pictures(execution.results):
        folder.write_text(f"pictures/{file_name(name)}.svg", picture)
    folder.write_json("manifest.json", manifest)
