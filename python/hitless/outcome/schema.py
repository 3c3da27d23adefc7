"""Columns of the tables in folders of results: types, units and meanings, as tables.toml declares them.

Every Parquet file names the schema and its table in its metadata, under `SCHEMA_KEY` and `TABLE_KEY`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

SCHEMA_KEY, TABLE_KEY = "hitless.schema", "hitless.table"
RELEASES: Mapping[int, str] = {1: "0.1"}
"""First release with each version of the declarations."""
TYPES: Mapping[str, Any] = {
    "float64": pl.Float64,
    "int64": pl.Int64,
    "text": pl.String,
    "uint32": pl.UInt32,
    "uint64": pl.UInt64,
}
_UNITS = {"ps": "ps", "bytes": "B", "gbps": "Gb/s"}


@dataclass(frozen=True, slots=True)
class Column:
    """Declaration of a column."""

    name: str
    type: str
    """A key of `TYPES`."""
    meaning: str
    missing: str
    """Replacement of a missing value, with its reason; "" if no value is missing."""
    since: int
    """First schema with this column."""

    @property
    def unit(self) -> str:
        """The last word of the name if it is a unit, otherwise ""."""
        return _UNITS.get(self.name.rpartition("_")[2], "")


@dataclass(frozen=True, slots=True)
class TableSchema:
    """Declaration of a table."""

    name: str
    about: str
    by: str
    """Commands that write it."""
    columns: tuple[Column, ...]

    @property
    def types(self) -> dict[str, Any]:
        """Types of the columns in polars, by name."""
        return {column.name: TYPES[column.type] for column in self.columns}


@cache
def declared_tables() -> Mapping[str, TableSchema]:
    """Return every declared table by name, in display order."""
    document = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
    return {name: _table(name, fields) for name, fields in document.items()}


@cache
def schema_version() -> int:
    """Return the version of all declarations."""
    return max(column.since for table in declared_tables().values() for column in table.columns)


def file_metadata(table: str) -> dict[str, str]:
    """Return the metadata of a Parquet file with this table."""
    return {SCHEMA_KEY: str(schema_version()), TABLE_KEY: table}


def _table(name: str, fields: Mapping[str, Any]) -> TableSchema:
    versions = sorted(int(key) for key in fields if key.isdecimal())
    columns = (_column(key, told, since) for since in versions for key, told in fields[str(since)].items())
    return TableSchema(name, fields["about"], fields["by"], tuple(columns))


def _column(name: str, told: list[str], since: int) -> Column:
    kind, meaning, *missing = told
    assert kind in TYPES, f"{name} has an unknown type {kind}"
    return Column(name, kind, meaning, "".join(missing), since)
