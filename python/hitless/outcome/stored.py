"""Tables of a run that were written to a folder while it went on, and are read from there.

A run hands over rows of ``flows`` and ``messages`` as soon as nothing will change them. They are written in parts,
which become one file at the end: no more of a table is in memory than a part of it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from hitless.outcome.tables import Columns, Tables, frame_of

STREAMED = ("flows", "messages")
"""The tables that a run can hand over while it goes on."""
_PARTS = ".parts"


class RowFiles:
    """Writes rows as they come: parts below a hidden folder, and at the end a file for each table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[str, list[Path]] = {}
        for left in (folder / _PARTS).glob("*.parquet"):
            left.unlink()  # of a run that was killed

    def take(self, name: str, columns: Columns) -> None:
        """Write the next rows of a table."""
        parts = self._parts.setdefault(name, [])
        path = self.folder / _PARTS / f"{name}-{len(parts):06}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame_of(columns).write_parquet(path)
        parts.append(path)

    def finish(self) -> dict[str, Path]:
        """Make one file of each table's parts, a few rows at a time; the paths by table."""
        paths = {}
        for name, parts in self._parts.items():
            paths[name] = self.folder / f"{name}.parquet"
            pl.scan_parquet(parts).sink_parquet(paths[name], maintain_order=True)
        self.discard()
        return paths

    def discard(self) -> None:
        """Take the parts away."""
        for path in [path for parts in self._parts.values() for path in parts]:
            path.unlink(missing_ok=True)
        self._parts.clear()
        folder = self.folder / _PARTS
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


class StoredTables(Tables):
    """Tables of which some are files: read when they are asked for, and not kept."""

    __slots__ = ("_paths",)

    def __init__(self, columns: Mapping[str, Columns], paths: Mapping[str, Path]) -> None:
        super().__init__(columns)
        self._paths = dict(paths)

    def __getitem__(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self._paths[name]) if name in self._paths else super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return name in self._paths or super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        yield from self._paths
        yield from super().__iter__()

    def __len__(self) -> int:
        return len(self._paths) + super().__len__()

    def columns(self, name: str) -> Columns:
        """A table without a frame, whose columns are read one by one. Raises `KeyError`."""
        return _FileColumns(self._paths[name]) if name in self._paths else super().columns(name)

    def scan(self, name: str) -> pl.LazyFrame:
        """A table of which no more is read than a query needs. Raises `KeyError`."""
        return pl.scan_parquet(self._paths[name]) if name in self._paths else super().scan(name)

    def path(self, name: str) -> Path | None:
        """The file of a table that is one."""
        return self._paths.get(name)


class _FileColumns(Mapping[str, Any]):
    """The columns of a file: arrays of numbers, and names as a series of categories, which takes 4 bytes a row."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._schema = pl.read_parquet_schema(path)
        self.rows = int(pl.scan_parquet(path).select(pl.len()).collect().item())

    def __getitem__(self, name: str) -> Any:
        if name not in self._schema:
            raise KeyError(name)
        is_text = self._schema[name] == pl.String
        column = pl.col(name).cast(pl.Categorical) if is_text else pl.col(name)
        values = pl.scan_parquet(self._path).select(column).collect(engine="streaming")[name]
        return values if is_text else values.to_numpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)
