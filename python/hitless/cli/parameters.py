"""What typer's parameters lack.

Help says `--quick`, and not `--quick <bool>`, since a flag takes no value. A NaN is refused: it lies in no range, and
no comparison tells.
"""

import math
from typing import Any


def adjusted(command: Any) -> Any:
    """A command, and all below it, with these parameters."""
    for parameter in command.params:
        _without_type(parameter)
        _without_nan(parameter.type)
    make_help = command.get_help_option
    # `--help` itself is made when it is asked for.
    command.get_help_option = lambda context: _without_type(make_help(context))
    for below in getattr(command, "commands", {}).values():
        adjusted(below)
    return command


def _without_type(parameter: Any) -> Any:
    if getattr(parameter, "is_bool_flag", False):
        parameter.metavar = ""
    return parameter


def _without_nan(kind: Any) -> None:
    if not kind.name.startswith("float") or getattr(kind, "refuses_nan", False):
        return
    convert = kind.convert

    def converted(value: Any, parameter: Any, context: Any) -> float:
        number: float = convert(value, parameter, context)
        if math.isnan(number):
            kind.fail(f"{value} is no number.", parameter, context)
        return number

    # Parameters without a range share one kind.
    kind.convert, kind.refuses_nan = converted, True
