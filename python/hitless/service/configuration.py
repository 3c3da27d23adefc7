"""A TOML file checked as a whole: every error with line, field, value, rule and hint."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hitless.errors import BadInput

File = Annotated[Path, Field(strict=False)]
"""A path; TOML has only strings."""
Model = TypeVar("Model", bound=BaseModel)


class Checked(BaseModel):
    """External input, such as a table of a file, or a message: unknown fields are refused."""

    # Strict: text or a boolean must not become a number, nor the reverse.
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


def parse(model: type[Model], text: str, file_name: str, *, hint: str) -> Model:
    """Parse the configuration in ``text``. Raises `BadInput` with all errors."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        raise BadInput(f"not TOML: {broken}", where=file_name) from broken
    try:
        return model.model_validate(document)
    except ValidationError as invalid:
        lines = Lines(text)
        problems = [_problem(model, error, lines, file_name) for error in invalid.errors(include_url=False)]
        raise BadInput("\n".join(problems), hint=hint) from invalid


class Lines:
    """Line numbers of fields in a TOML file, found by looking at the start of each line."""

    _TABLE = re.compile(r"\s*(\[\[?)\s*([\w.-]+)\s*\]")
    _KEY = re.compile(r"\s*([\w-]+)\s*=")

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str | int, ...], int] = {}
        counts: dict[str, int] = {}
        table: tuple[str | int, ...] = ()
        for number, line in enumerate(text.splitlines(), start=1):
            if head := self._TABLE.match(line):
                name = head[2]
                table = (name,)
                if head[1] == "[[":
                    table = (name, counts.get(name, 0))
                    counts[name] = counts.get(name, 0) + 1
                self._lines.setdefault(table, number)
            elif key := self._KEY.match(line):
                self._lines.setdefault((*table, key[1]), number)

    def find(self, path: tuple[str | int, ...]) -> int | None:
        """Return the line of the field, or of the table around it."""
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path[:-1]
        return None


def _problem(model: type[BaseModel], error: Mapping[str, Any], lines: Lines, file_name: str) -> str:
    """Format one error as a line: file, line, field, value, rule, hint."""
    path: tuple[str | int, ...] = error["loc"]
    line = lines.find(path)
    where = f"{file_name}:{line}" if line else file_name
    rule = {"extra_forbidden": "there is no such field", "missing": "is missing"}.get(error["type"], error["msg"])
    value = error["input"]
    shown = f" = {value!r}" if isinstance(value, str | int | float) and error["type"] != "missing" else ""
    hint = _hint(model, path) if error["type"] == "extra_forbidden" else ""
    return f"{where}: {_name(path)}{shown}: {rule}{hint}"


def _name(path: tuple[str | int, ...]) -> str:
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return name.removeprefix(".") or "the file"


def _hint(model: type[BaseModel], path: tuple[str | int, ...]) -> str:
    section = _section(model, path[:-1])
    known = list(section.model_fields) if section else []
    near = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else f" (known: {', '.join(known)})"


def _section(model: type[BaseModel], path: tuple[str | int, ...]) -> type[BaseModel] | None:
    """Return the model of the table at ``path``; None for a value without fields."""
    for name in path:
        if isinstance(name, str):
            field = model.model_fields.get(name)
            found = _models(field.annotation) if field else []
            if not found:
                return None
            model = found[0]
    return model


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models in an annotation: itself, or the members of a list or a choice."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
