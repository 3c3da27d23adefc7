"""The settings of a mechanism: from a dataclass to the schema of a scenario file, and back from a scenario."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, Union

_SIMPLE = {bool: "boolean", int: "integer", float: "number", str: "string"}
_FROM_METADATA = ("minimum", "maximum", "examples")


def settings_class(owner: type[Any], base: type[Any]) -> type[Any] | None:
    """Return ``S`` of ``class Owner(base[S])``; None if it is not declared."""
    for ancestor in owner.__mro__:
        for generic in ancestor.__dict__.get("__orig_bases__", ()):
            arguments = typing.get_args(generic)
            if typing.get_origin(generic) is base and isinstance(arguments[0], type):
                return arguments[0]
    return None


def schema_of(settings: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of a dataclass. Raises `TypeError` for a field with a type that files cannot represent.

    A field is documented by ``metadata={"doc": ...}`` or by a line ``name: meaning`` in the class's docstring;
    ``minimum``, ``maximum`` and ``examples`` in the metadata go into the schema.
    """
    if not dataclasses.is_dataclass(settings):
        raise TypeError(f"{settings.__name__} must be a dataclass: @dataclass above it is missing")
    hints = typing.get_type_hints(settings)
    documented = _documented(settings)
    fields = [field for field in dataclasses.fields(settings) if field.init]
    properties = {}
    for field in fields:
        schema = _schema(hints[field.name], f"{settings.__name__}.{field.name}")
        schema |= {name: field.metadata[name] for name in _FROM_METADATA if name in field.metadata}
        schema["description"] = field.metadata.get("doc", documented.get(field.name, ""))
        default = _default(field)
        if default is not None:
            schema["default"] = default
        properties[field.name] = schema
    return {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in fields if field.default is field.default_factory is dataclasses.MISSING],
    }


def made_of(settings: type[Any], values: Mapping[str, Any]) -> Any:
    """Make settings from a scenario: whole numbers are converted for fields of type float."""
    hints = typing.get_type_hints(settings)
    floats = {name for name, hint in hints.items() if _without_none(hint) is float}
    return settings(**{name: float(value) if name in floats else value for name, value in values.items()})


def _default(field: dataclasses.Field[Any]) -> Any:
    """Return the default in the effective configuration; None if the configuration omits it."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _documented(settings: type[Any]) -> dict[str, str]:
    """Return names and meanings from the lines ``name: meaning`` of a docstring."""
    lines = [line.strip().partition(": ") for line in (settings.__doc__ or "").splitlines()]
    return {name: meaning for name, colon, meaning in lines if colon and name.isidentifier()}


def _without_none(hint: Any) -> Any:
    """Return ``T`` of ``T | None``."""
    if typing.get_origin(hint) in {Union, types.UnionType}:
        others = [each for each in typing.get_args(hint) if each is not type(None)]
        return others[0] if len(others) == 1 else hint
    return hint


def _schema(hint: Any, field: str) -> dict[str, Any]:
    hint = _without_none(hint)
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is Literal and all(isinstance(each, str) for each in arguments):
        return {"type": "string", "enum": list(arguments)}
    if typing.get_origin(hint) is list and arguments:
        return {"type": "array", "items": _schema(arguments[0], field)}
    known = "bool, int, float, str, Literal of texts, a list of these, or one of these or None"
    raise TypeError(f"{field} has a type that a scenario cannot hold; valid are {known}")
