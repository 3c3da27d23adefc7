"""`hitless scenario`: checking scenario files, their fields, and examples."""

import difflib
import textwrap
from pathlib import Path

from hitless import _native
from hitless.cli.scenario_pages import pages
from hitless.cli.scenario_text import read_sound, shown_name
from hitless.errors import BadInput
from hitless.terminal.console import print_note, print_text
from hitless.threads import thread_count

_NAME_CELLS = 24


def check(path: Path) -> None:
    threads = thread_count()
    scenario = read_sound(path, keeps_rows=False, threads=threads)
    print_text(scenario.effective)
    total, parts = scenario.memory()
    largest = max(parts, key=lambda part: part[2])
    on = f"up to {threads} threads" if threads > 1 else "one thread"
    print_note(f"a run on {on} takes about {total / 1e6:,.0f} MB of memory, most of it for {largest[1]} ({largest[0]})")
    print_note(f"{shown_name(path)}: valid; effective configuration above, every default spelled out")


def schema(*, json: bool) -> None:
    try:
        print_text(_native.scenario_schema("json" if json else "text"))
    except _native.ScenarioError as failed:
        raise BadInput(str(failed)) from failed


def write_pages(folder: Path) -> None:
    found = pages(_native.scenario_schema("text"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in found.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as failed:
        raise BadInput(f"cannot write pages into {folder}: {failed.strerror}") from failed
    print_note(f"{len(found)} pages written into {folder}")


def list_examples() -> None:
    for known, description in _native.scenario_examples():
        lines = textwrap.wrap(description, 80 - _NAME_CELLS)
        print_text("\n".join([f"{known:<{_NAME_CELLS}}{lines[0]}", *(" " * _NAME_CELLS + line for line in lines[1:])]))


def print_example(name: str) -> None:
    print_text(_example(name))


def write_example(name: str) -> None:
    """Write an example into the current folder; a file that exists stays as it is."""
    text = _example(name)
    path = Path(f"{name}.toml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as failed:
        hint = f"rename it, or print the example into another file: hitless scenario example {name} > mine.toml"
        raise BadInput("the file already exists", where=str(path), hint=hint) from failed
    except OSError as failed:
        raise BadInput(f"cannot be written: {failed.strerror}", where=str(path)) from failed
    print_note(f"written to {path}; next: hitless run {path}")


def _example(name: str) -> str:
    text = _native.scenario_example(name)
    if text is None:
        known = [known for known, _ in _native.scenario_examples()]
        raise BadInput(f"there is no example {name!r}", hint=_hint(name, known))
    return text


def _hint(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else "hitless scenario example lists them"
