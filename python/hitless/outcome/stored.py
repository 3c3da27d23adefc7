"""Tables of a run that are written to a folder during the run.

A run hands over rows of ``flows`` and ``messages`` as soon as they are final. They are written in parts, which become
one file at the end, so memory holds only one part of a table. If the disk is full, further rows stay in memory, so that
the run loses its files but not its numbers.
"""

import errno
from pathlib import Path

import polars as pl

from hitless.outcome.slowdowns import columns_of_slowdowns
from hitless.outcome.tables import Columns, FileColumns, columns_of_frame, frame_of, write_frame

_PARTS = ".parts"
READ_BACK_MAX_BYTES = 256 << 20
"""Limit of the file size for reading rows on a full disk back into memory."""
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class RowFiles:
    """Writes rows as they come: parts below a hidden folder, and at the end a file for each table."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts: dict[str, list[Path]] = {}
        self._kept: dict[str, list[pl.DataFrame]] = {}
        """Rows after the parts."""
        self.refused: OSError | None = None
        """Reason why rows are kept in memory; otherwise None."""
        for left in (folder / _PARTS).glob("*.parquet"):
            left.unlink()  # left by a killed run

    def take(self, name: str, columns: Columns) -> None:
        """Write the next rows of a table, or keep them if the disk is full. Raises `OSError` for other reasons."""
        frame, parts = frame_of(columns), self._parts.setdefault(name, [])
        if self.refused is None:
            path = self.folder / _PARTS / f"{name}-{len(parts):06}.parquet"
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_frame(frame, path)
            except OSError as refused:
                self._keep(refused)
            else:
                parts.append(path)
                return
        self._kept.setdefault(name, []).append(frame)

    def finish(self, effective: str = "") -> tuple[dict[str, Path], dict[str, Columns]]:
        """Join each table's parts into one file, with slowdowns in the fabric of the ``effective`` scenario.

        Return the paths by table, or tables in memory. Raises `OSError`.
        """
        if self.refused is None:
            try:
                return self._joined(effective), {}
            except OSError as refused:
                self._keep(refused)
        return {}, self._read_back()

    def _keep(self, refused: OSError) -> None:
        if refused.errno not in _NO_ROOM:
            raise refused
        self.refused = refused

    def _joined(self, effective: str) -> dict[str, Path]:
        """Join the parts a few rows at a time."""
        paths: dict[str, Path] = {}
        try:
            added = columns_of_slowdowns(effective, {name: FileColumns(*parts) for name, parts in self._parts.items()})
            for name, parts in self._parts.items():
                columns = [pl.scan_parquet(parts), pl.LazyFrame([added[name]])]
                write_frame(pl.concat(columns, how="horizontal"), self.folder / f"{name}.parquet")
                paths[name] = self.folder / f"{name}.parquet"
        except OSError:
            for path in paths.values():
                path.unlink(missing_ok=True)
            raise
        self.discard()
        return paths

    def _read_back(self) -> dict[str, Columns]:
        assert self.refused is not None
        if sum(path.stat().st_size for parts in self._parts.values() for path in parts) > READ_BACK_MAX_BYTES:
            raise self.refused
        tables: dict[str, Columns] = {}
        for name, parts in self._parts.items():
            written = [pl.read_parquet(path) for path in parts]
            tables[name] = columns_of_frame(pl.concat([*written, *self._kept.get(name, [])]))
        self.discard()
        return tables

    def discard(self) -> None:
        """Delete the parts."""
        for path in [path for parts in self._parts.values() for path in parts]:
            path.unlink(missing_ok=True)
        self._parts.clear()
        self._kept.clear()
        folder = self.folder / _PARTS
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
