"""A plot as a value: shown in a notebook, saved to a file."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from hitless.drawing.palette import Palette
from hitless.drawing.plot import Plot
from hitless.drawing.svg import draw


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot that a notebook shows. ``save`` writes it as SVG, which every browser and every editor opens."""

    plot: Plot

    @property
    def svg(self) -> str:
        """The picture as an SVG element, with its title and a white background."""
        return draw(self.plot, Palette([self.plot]), alone=True)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it to a file with a name in ``.svg``. Raises `ValueError` for other names."""
        target = Path(path)
        if target.suffix != ".svg":
            raise ValueError(f"pictures are SVG files, but {target.name} has another suffix")
        target.write_text(self.svg + "\n", encoding="utf-8")
        return target

    def _repr_svg_(self) -> str:
        return self.svg
