"""Flags in help: `--quick`, and not `--quick <bool>`, since a flag takes no value."""

from typing import Any


def without_types(command: Any) -> Any:
    """A command, and all below it, whose flags have no type in their help."""
    for parameter in command.params:
        _without_type(parameter)
    make_help = command.get_help_option
    # `--help` itself is made when it is asked for.
    command.get_help_option = lambda context: _without_type(make_help(context))
    for below in getattr(command, "commands", {}).values():
        without_types(below)
    return command


def _without_type(parameter: Any) -> Any:
    if getattr(parameter, "is_bool_flag", False):
        parameter.metavar = ""
    return parameter
