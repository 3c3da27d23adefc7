"""`hitless report`: arguments and help."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from hitless.cli.options import takes


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of `hitless report`."""

    folder: Annotated[Path, typer.Argument(help="A folder of results.", file_okay=False)]
    figure: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The plot, or the exhibit, to draw.", show_default="list the plots"),
    ] = None
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A .pdf, .png or .svg file.", show_default="NAME.pdf")
    ] = None
    width: Annotated[str, typer.Option(help="one-column (3.33 inches), two-column (7 inches), or inches.")] = (
        "one-column"
    )
    height: Annotated[float | None, typer.Option(help="Inches.", show_default="the shape of a figure")] = None
    font: Annotated[str | None, typer.Option(help="Name of a font.", show_default="matplotlib's")] = None
    font_size: Annotated[float, typer.Option(help="Points.")] = 8.0
    x_label: Annotated[str | None, typer.Option(help="Label of the x axis.", show_default="the plot's")] = None
    y_label: Annotated[str | None, typer.Option(help="Label of the y axis.", show_default="the plot's")] = None
    label: Annotated[
        list[str] | None, typer.Option(metavar="SERIES=TEXT", help="Another name in the legend; may be repeated.")
    ] = None
    legend: Annotated[str, typer.Option(help='above, none, or a place in the axes such as "upper left".')] = "above"
    intervals: Annotated[Literal["bars", "band", "none"], typer.Option(help="Form of the 95 % intervals.")] = "bars"
    hpcc_fct: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the run's completion times in the form of HPCC's fct.txt instead.",
            show_default=False,
        ),
    ] = None


@takes(ReportOptions)
def report(options: ReportOptions) -> int:
    """List the plots of a results folder, or draw one as a figure for a paper.

    Examples:

      hitless report results/20261121-081500-reproduce
      hitless report results/20261121-081500-reproduce --figure lg/fig8 --out fig8.pdf
      hitless report results/20261121-081500-run-mine --hpcc-fct fct.txt
      hitless report out --figure lg-fig8-1 --width 3.2 --font "Times New Roman" --label none="no protection"

    The plots of an exhibit are numbered: fig8-1.pdf, fig8-2.pdf.
    Figures need matplotlib: pip install 'hitless[figures]'.
    """
    from hitless.cli import report as command

    return command.report(options)
