"""Commands that are imported when they run: the help of all commands needs only their names and summaries."""

import copy
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from hitless.cli.parameters import adjusted


@dataclass(frozen=True, slots=True)
class Command:
    """A command that is not loaded yet."""

    place: str
    """Place of its code: "hitless.cli.run_app:run", a function, or a `typer.Typer` with the commands of a group."""
    summary: str
    """The first sentences of its help."""

    def load(self, name: str) -> Any:
        module, _, attribute = self.place.partition(":")
        found = getattr(import_module(module), attribute)
        parent = typer.Typer(add_completion=False)
        parent.callback()(_nothing)
        if isinstance(found, typer.Typer):
            parent.add_typer(found, name=name)
        else:
            parent.command(name)(found)
        return adjusted(typer.main.get_group(parent).commands[name])


def _nothing() -> None:
    """Do nothing for a group of commands without a subcommand."""


class Commands(Mapping[str, Any]):
    def __init__(self, table: Mapping[str, Command]) -> None:
        self._table = table
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self._table[name].load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, name: object) -> bool:
        return name in self._table


class LazyGroup(TyperGroup):
    def __init__(self, table: Mapping[str, Command], **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": {}})
        self._table = table
        self.commands = Commands(table)  # type: ignore[assignment] # nothing is added to it

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self._table)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show help from names and summaries only, without loading the commands."""
        import_help()
        shown = copy.copy(self)
        shown.commands = {name: TyperCommand(name, help=one.summary) for name, one in self._table.items()}
        TyperGroup.format_help(shown, ctx, formatter)


_NOT_USED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
"""Modules that would take half of the time of `hitless --help`."""


def import_help() -> None:
    """Import typer's help module without the parts of rich that this style of help does not use."""
    absent = [name for name in _NOT_USED if name not in sys.modules]
    for name in absent:
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], _NOT_USED[name], type(_NOT_USED[name], (), {}))
    try:
        import_module("typer.rich_utils")
    finally:
        for name in absent:
            del sys.modules[name]
