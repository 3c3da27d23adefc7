"""Why rows differ from the paper: ``causes.toml`` beside this file, which says how to write one."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hitless.errors import BadInput
from hitless_papers.summary.document import Summary, SummaryRow

FILE = Path(__file__).with_name("causes.toml")

_EACH_ONE = "each row that differs has one cause there, and each pattern is of such a row"


class _Cause(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    rows: list[str] = Field(min_length=1)
    cause: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    cause: list[_Cause]


def with_causes(summary: Summary, path: Path) -> list[tuple[str, SummaryRow, str]]:
    """Rows that differ: the id of the exhibit, the row, its cause.

    Raises `BadInput` for a row with no cause or with two, and for a pattern that no such row fits.
    """
    known = [(pattern, entry.cause) for entry in _read(path).cause for pattern in entry.rows]
    rows = [(exhibit.id, row) for exhibit in summary.exhibits for row in exhibit.rows if row.verdict == "differs"]
    unused = {pattern for pattern, _ in known}
    found = []
    for name, row in rows:
        key = f"{name} | {row.series} | {row.x} | {row.metric}"
        fitting = [(pattern, cause) for pattern, cause in known if fnmatchcase(key, pattern)]
        if len(fitting) != 1:
            what = f"{len(fitting)} causes are given for a row that differs: {key}"
            raise BadInput(what, where=path.name, hint=_EACH_ONE)
        unused.discard(fitting[0][0])
        found.append((name, row, fitting[0][1]))
    for pattern in sorted(unused):
        raise BadInput(f"no row that differs is {pattern!r}", where=path.name, hint=_EACH_ONE)
    return found


def _read(path: Path) -> _File:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, ValidationError) as wrong:
        raise BadInput(f"no list of causes: {wrong}", where=path.name) from wrong
