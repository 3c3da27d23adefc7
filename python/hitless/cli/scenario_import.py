"""`hitless scenario import`: scenarios from the files of other simulators and switches."""

from collections.abc import Sequence
from pathlib import Path

from hitless.checking import check_scenario
from hitless.errors import BadInput
from hitless.importing import StartUnit, TransportKind, import_files
from hitless.terminal.console import print_note
from hitless.whole_file import name_of, write_whole

SCENARIO_FILE = "scenario.toml"


def import_(paths: Sequence[Path], out: Path, transport: TransportKind | None, start_unit: StartUnit) -> None:
    """Write the scenario and its flows into ``out``, print the report, and check the scenario."""
    imported = import_files(paths, transport, start_unit)
    files = {SCENARIO_FILE: imported.scenario}
    if imported.flows is not None:
        files[imported.flows_file] = imported.flows
    if existing := [name for name in files if (out / name).exists()]:
        raise BadInput(
            f"{existing[0]} exists already", where=name_of(out), rule="an import replaces no file", hint="another --out"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(out / name, text)
    except OSError as failed:
        raise BadInput(f"cannot write into the folder: {failed.strerror}", where=name_of(out)) from failed
    print_note(imported.report.text())
    path = out / SCENARIO_FILE
    check_scenario(imported.scenario, name_of(path))
    print_note(f"written to {name_of(path)}; next: hitless run {name_of(path)}")
