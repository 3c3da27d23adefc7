"""A plot as a value: shown in a notebook, saved to a file."""

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitless.drawing import figure
from hitless.drawing.palette import Palette
from hitless.drawing.plot import Plot
from hitless.drawing.svg import draw
from hitless.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """A plot that a notebook shows. `save` writes it to a file, and `axes` draws it with matplotlib."""

    plot: Plot
    palette: Palette | None = field(default=None, compare=False)
    """Colours shared with other pictures; by default, those for this plot alone."""

    @property
    def svg(self) -> str:
        """The picture as an SVG element, with its title and a white background."""
        return draw(self.plot, self._palette, alone=True)

    def save(self, path: str | PathLike[str], **style: Any) -> Path:
        """Write a figure as PDF, PNG or SVG, by the suffix of its name, and return the path.

        ``style`` are options of `axes`. All but an SVG file without options need matplotlib. Raises `BadInput`.
        """
        target = Path(path)
        if target.suffix not in figure.FORMATS:
            raise BadInput(f"{target.name} is not the name of a figure", rule=f"it ends in {', '.join(figure.FORMATS)}")
        if target.suffix == ".svg" and not style:
            target.write_text(self.svg + "\n", encoding="utf-8")
        else:
            figure.save(self.plot, self._palette, figure.FigureStyle.of(style), target)
        return target

    def axes(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw it with matplotlib, on ``ax`` or on a new figure, and return the axes.

        The options of ``style``: ``width`` ("one-column", "two-column", or inches), ``height`` (inches), ``font`` (a
        name), ``font_size`` (points), ``x_label``, ``y_label``, ``labels`` (other names of series), ``legend``
        ("above", "none", or a place such as "upper left"), ``intervals`` ("bars", "band", "none"). Raises `BadInput`.
        """
        return figure.axes_of(self.plot, self._palette, figure.FigureStyle.of(style), ax)

    @property
    def _palette(self) -> Palette:
        return self.palette or Palette([self.plot])

    def __repr__(self) -> str:
        return f"Picture({self.plot.title!r}, {len(self.plot.series)} series)"

    def _repr_svg_(self) -> str:
        return self.svg
