"""Tables of a run as numpy arrays from the simulator; each becomes a frame when first requested.

For a short run, building all frames would take longer than the calculations with them.
"""

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hitless.outcome.run import Run
from hitless.outcome.schema import file_metadata
from hitless.whole_file import whole

Columns = Mapping[str, Any]
"""Arrays of numbers and lists of text, by column name."""


class Tables(Mapping[str, pl.DataFrame]):
    """Frames by name, each made when first requested; tables in files are read every time, and not cached."""

    __slots__ = ("_columns", "_frames", "_paths")

    def __init__(self, columns: Mapping[str, Columns], paths: Mapping[str, Path] | None = None) -> None:
        """``paths`` are files of tables; they take precedence over tables in memory."""
        self._columns = columns
        self._paths = dict(paths or {})
        self._frames: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        if name in self._paths:
            return pl.read_parquet(self._paths[name])
        if name not in self._frames:
            self._frames[name] = frame_of(self._columns[name])
        return self._frames[name]

    def __contains__(self, name: object) -> bool:
        return name in self._paths or name in self._columns

    def __iter__(self) -> Iterator[str]:
        yield from self._paths
        yield from self._columns

    def __len__(self) -> int:
        return len(self._paths) + len(self._columns)

    def __repr__(self) -> str:
        return f"Tables({', '.join(self)})"

    def _repr_html_(self) -> str:
        """List the tables with their rows and columns, for a notebook."""
        from hitless.outcome.pictures import html_table  # noqa: PLC0415 - drawing is not needed to run

        columns = {name: self.columns(name) for name in self}
        return html_table((name, f"{rows_of(of):,} rows: {', '.join(of)}") for name, of in columns.items())

    def __reduce__(self) -> tuple[Callable[[dict[str, pl.DataFrame]], dict[str, pl.DataFrame]], tuple[Any]]:
        return dict, (dict(self),)

    def columns(self, name: str) -> Columns:
        """Return a table without making a frame; the columns of a file are read one by one. Raises `KeyError`."""
        return FileColumns(self._paths[name]) if name in self._paths else self._columns[name]

    def scan(self, name: str) -> pl.LazyFrame:
        """Return a lazy table; a query reads only the part that it needs. Raises `KeyError`."""
        return pl.scan_parquet(self._paths[name]) if name in self._paths else self[name].lazy()

    def path(self, name: str) -> Path | None:
        """Return the file of a table; None if it is in memory."""
        return self._paths.get(name)


class FileColumns(Mapping[str, Any]):
    """Columns of a file, or of a table in several files: arrays, and names as a categorical series of 4 B a row."""

    def __init__(self, *paths: Path) -> None:
        self._paths = list(paths)
        self._schema = pl.read_parquet_schema(paths[0])
        self.rows = int(pl.scan_parquet(self._paths).select(pl.len()).collect().item())

    def __getitem__(self, name: str) -> Any:
        if name not in self._schema:
            raise KeyError(name)
        is_text = self._schema[name] == pl.String
        column = pl.col(name).cast(pl.Categorical) if is_text else pl.col(name)
        values = pl.scan_parquet(self._paths).select(column).collect(engine="streaming")[name]
        return values if is_text else values.to_numpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)


def frame_of(columns: Columns) -> pl.DataFrame:
    """Return a frame that shares the simulator's memory; a column of names keeps this type even if it is empty."""
    types = {name: pl.String if isinstance(values, list) else None for name, values in columns.items()}
    return pl.DataFrame([pl.Series(name, values, dtype=types[name]) for name, values in columns.items()])


def write_frame(frame: pl.DataFrame | pl.LazyFrame, path: Path, table: str | None = None) -> None:
    """Write a frame as Parquet, whole or not at all. Raises `OSError`.

    ``table`` is the table's name in the file's metadata; the default is the name of the file.
    """
    metadata = file_metadata(table or path.stem)
    with whole(path) as beside, system_errors(beside):
        if isinstance(frame, pl.LazyFrame):
            frame.sink_parquet(beside, maintain_order=True, metadata=metadata)
        else:
            frame.write_parquet(beside, metadata=metadata)


@contextmanager
def system_errors(path: Path) -> Iterator[None]:
    """Raise `OSError` if the system refuses to write ``path``: polars raises other errors."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as failed:
        if getattr(failed, "errno", None) is not None:
            raise
        if (number := re.search(r"\(os error (\d+)\)", str(failed))) is not None:
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from failed
        if path.exists():
            with path.open("ab", buffering=0) as file:
                file.write(bytes(_PROBE_BYTES))
        raise OSError(errno.EIO, str(failed)) from failed


_PROBE_BYTES = 1 << 20
"""Size of a test write that fails for the same reason as the last one."""


def columns_of(run: Run, name: str) -> Columns:
    """Return the columns of a table of a run from any source; empty if the run lacks the table."""
    if name not in run.tables:
        return {}
    if isinstance(run.tables, Tables):
        return run.tables.columns(name)
    return columns_of_frame(run.tables[name])


def columns_of_frame(frame: pl.DataFrame) -> Columns:
    """Return the columns of a frame, in the simulator's format."""
    return {column.name: _values(column) for column in frame.get_columns()}


def _values(column: pl.Series) -> NDArray[Any] | list[Any]:
    return column.to_numpy() if column.dtype.is_numeric() else column.to_list()


def rows_of(columns: Columns) -> int:
    """Return the number of rows of a table."""
    of_file: int | None = getattr(columns, "rows", None)
    return len(next(iter(columns.values()), ())) if of_file is None else of_file


def groups_of(names: list[str] | pl.Series) -> Iterator[tuple[str, NDArray[np.bool_] | None]]:
    """Return each name with the rows that contain it, or None for all rows, in order of first appearance."""
    # Counting equal words is much quicker than numbering them.
    if isinstance(names, list) and names and names.count(names[0]) == len(names):
        yield names[0], None
        return
    found, places = numbered(names)
    yield from ((name, None if len(found) == 1 else places == number) for number, name in enumerate(found))


def numbered(names: list[str] | pl.Series) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names in order of first appearance, and for each row the index of its name."""
    if isinstance(names, pl.Series):
        first = names.unique(maintain_order=True)
        codes = first.to_physical().to_numpy()
        ranks = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
        ranks[codes] = np.arange(codes.size)
        return first.cast(pl.String).to_list(), ranks[names.to_physical().to_numpy()]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, names), dtype=np.int64, count=len(names))
