"""Tables of a run that are written to a folder while it goes on.

A run hands over rows of ``flows`` and ``messages`` as soon as nothing will change them. They are written in parts,
which become one file at the end: no more of a table is in memory than a part of it.
"""

from pathlib import Path

import polars as pl

from hitless.outcome.tables import Columns, frame_of, write_frame

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
        write_frame(frame_of(columns), path)
        parts.append(path)

    def finish(self) -> dict[str, Path]:
        """Make one file of each table's parts, a few rows at a time; the paths by table."""
        paths: dict[str, Path] = {}
        try:
            for name, parts in self._parts.items():
                write_frame(pl.scan_parquet(parts), self.folder / f"{name}.parquet")
                paths[name] = self.folder / f"{name}.parquet"
        except OSError:
            for path in paths.values():
                path.unlink(missing_ok=True)
            raise
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
