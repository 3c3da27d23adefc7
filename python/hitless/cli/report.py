"""`hitless report`: the plots of a results folder as figures for papers, and completion times for other programs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hitless.cli.reading_app import ReportOptions
from hitless.drawing.picture import Picture
from hitless.errors import BadInput
from hitless.results import read_pictures
from hitless.suggest import did_you_mean
from hitless.terminal.console import print_note, print_text
from hitless.whole_file import file_name, name_of, write_whole


def report(options: ReportOptions) -> int:
    if options.hpcc_fct is not None:
        write_fct(options.folder, options.hpcc_fct)
        return 0
    pictures = read_pictures(options.folder)
    if options.figure is None:
        print_text("\n".join(f"{name}  {picture.plot.title}" for name, picture in pictures.items()))
        return 0
    for path, picture in _chosen(options, pictures).items():
        print_note(f"figure: {picture.save(path, **_style(options))}")
    return 0


def write_fct(folder: Path, path: Path) -> None:
    """Write the completion times of the run in ``folder`` as HPCC's fct.txt. Raises `BadInput`."""
    from hitless.outcome.hpcc_fct import fct_of_folder  # noqa: PLC0415 - figures do not need tables

    text = fct_of_folder(folder)
    try:
        write_whole(path, text)
    except OSError as failed:
        raise BadInput(f"cannot be written: {failed.strerror}", where=name_of(path)) from failed
    print_note(f"{text.count(chr(10))} completion times written to {name_of(path)}")


def _chosen(options: ReportOptions, pictures: Mapping[str, Picture]) -> dict[Path, Picture]:
    """Return the chosen plots by file. Files of an exhibit with several plots have the plot's number."""
    name = file_name(str(options.figure))
    out = options.out or Path(f"{name}.pdf")
    if name in pictures:
        return {out: pictures[name]}
    found = [one for one in pictures if one.rpartition("-")[0] == name]
    if not found:
        raise BadInput(f"there is no plot {name!r}", hint=did_you_mean(name, list(pictures)))
    numbered = {out.with_stem(f"{out.stem}-{one.rpartition('-')[2]}"): pictures[one] for one in found}
    return numbered if len(found) > 1 else {out: pictures[found[0]]}


def _style(options: ReportOptions) -> dict[str, Any]:
    names = ("height", "font", "font_size", "x_label", "y_label", "legend", "intervals")
    labels = dict(_label(text) for text in options.label or [])
    return {"width": _width(options.width), "labels": labels, **{name: getattr(options, name) for name in names}}


def _width(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _label(text: str) -> tuple[str, str]:
    series, equals, label = text.partition("=")
    if not equals:
        raise BadInput(f"--label {text!r} is not SERIES=TEXT")
    return series, label
