"""Commands that are imported when they run: the help of all commands needs only their names and summaries."""

import copy
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from hitless.visible import visible

_NUMBER_END = 2**63


def adjusted(command: Any) -> Any:
    """Adjust the parameters of a command, and of all below it.

    Help says `--quick` instead of `--quick <bool>`, since a flag takes no value. NaN is refused: comparisons with it
    are always false, so a range would accept it. Numbers beyond a machine word are refused, and so is an empty file
    name.
    """
    for parameter in command.params:
        _without_type(parameter)
        _strict(parameter.type)
    make_help = command.get_help_option
    _with_visible_errors(command)
    command.format_help = lambda context, formatter: _format_help(command, context, formatter)
    # `--help` itself is made on request.
    command.get_help_option = lambda context: _without_type(make_help(context))
    below = getattr(command, "commands", {})
    if isinstance(below, dict):  # lazy commands are adjusted when they are loaded
        for one in below.values():
            adjusted(one)
    return command


def _format_help(command: Any, context: Any, formatter: Any) -> None:
    """Show help with the brackets of scenario files, [measure], which rich takes for markup."""
    escape = import_module("rich.markup").escape

    def literal(documented: Any) -> Any:
        shown = copy.copy(documented)
        for name in ("help", "short_help"):
            if isinstance(text := getattr(documented, name, None), str):
                setattr(shown, name, escape(text))
        return shown

    shown = literal(command)
    shown.params = [literal(parameter) for parameter in command.params]
    if isinstance(below := getattr(command, "commands", None), dict):
        shown.commands = {name: literal(one) for name, one in below.items()}
    type(command).format_help(shown, context, formatter)


def _without_type(parameter: Any) -> Any:
    if getattr(parameter, "is_bool_flag", False):
        parameter.metavar = ""
    return parameter


def _strict(kind: Any) -> None:
    """Refuse numbers that no setting can have, and an empty name, which pathlib takes for the current folder.

    Expand "~" at the start of a path, which no shell does in `--out=~/results`, but polars does when it writes a table.
    """
    is_number = kind.name.split()[0] in {"float", "int"}
    if not (is_number or kind.name in {"path", "file", "directory"}) or getattr(kind, "is_strict", False):
        return
    convert = kind.convert

    def converted(value: Any, parameter: Any, context: Any) -> Any:
        if not is_number and str(value).partition("/")[0] == "~":
            value = os.path.expanduser(value)  # noqa: PTH111 - so is a path of any type
        made = convert(value, parameter, context)
        if is_number and made != made:  # noqa: PLR0124 - so is a NaN known
            kind.fail(f"{value} is not a number.", parameter, context)
        if is_number and not -_NUMBER_END < made < _NUMBER_END:
            kind.fail(f"{value} is too large.", parameter, context)
        if not is_number and not str(value):
            is_optional = parameter.param_type_name == "option" and not parameter.required
            remedy = f"or leave {parameter.opts[0]} out" if is_optional else "as in mine.toml"
            kind.fail(f"a name must not be empty: give one, {remedy} (an unset shell variable?).", parameter, context)
        return made

    # Parameters without a range share one type object.
    kind.convert, kind.is_strict = converted, True


def _with_visible_errors(command: Any) -> None:
    """Show control characters of an argument in error messages."""
    make_context = command.make_context

    def made(*arguments: Any, **options: Any) -> Any:
        try:
            return make_context(*arguments, **options)
        except Exception as refused:
            message = getattr(refused, "message", None)
            if isinstance(message, str):
                refused.message = visible(message)  # type: ignore[attr-defined]
            raise

    command.make_context = made


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
