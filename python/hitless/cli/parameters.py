"""Extensions of typer's parameters.

Help says `--quick` instead of `--quick <bool>`, since a flag takes no value. NaN is refused: comparisons with it are
always false, so a range would accept it. Numbers beyond a machine word are refused, and so is an empty file name.
"""

from typing import Any

from hitless.visible import visible

_NUMBER_END = 2**63


def adjusted(command: Any) -> Any:
    """Adjust the parameters of a command, and of all below it."""
    for parameter in command.params:
        _without_type(parameter)
        _strict(parameter.type)
    make_help = command.get_help_option
    _with_visible_errors(command)
    # `--help` itself is made on request.
    command.get_help_option = lambda context: _without_type(make_help(context))
    below = getattr(command, "commands", {})
    if isinstance(below, dict):  # lazy commands are adjusted when they are loaded
        for one in below.values():
            adjusted(one)
    return command


def _without_type(parameter: Any) -> Any:
    if getattr(parameter, "is_bool_flag", False):
        parameter.metavar = ""
    return parameter


def _strict(kind: Any) -> None:
    """Refuse numbers that no setting can have, and an empty name, which pathlib takes for the current folder."""
    is_number = kind.name.split()[0] in {"float", "int"}
    if not (is_number or kind.name in {"path", "file", "directory"}) or getattr(kind, "is_strict", False):
        return
    convert = kind.convert

    def converted(value: Any, parameter: Any, context: Any) -> Any:
        made = convert(value, parameter, context)
        if is_number and made != made:  # noqa: PLR0124 - so is a NaN known
            kind.fail(f"{value} is not a number.", parameter, context)
        if is_number and not -_NUMBER_END < made < _NUMBER_END:
            kind.fail(f"{value} is too large.", parameter, context)
        if not is_number and not str(value):
            remedy = f"or leave {parameter.opts[0]} out" if _is_optional(parameter) else "as in mine.toml"
            kind.fail(f"a name must not be empty: give one, {remedy} (an unset shell variable?).", parameter, context)
        return made

    # Parameters without a range share one type object.
    kind.convert, kind.is_strict = converted, True


def _is_optional(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option" and not parameter.required)


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
