"""`hitless scenario draw`: the network of a scenario as SVG."""

from pathlib import Path

from hitless.cli.scenario_text import read_sound
from hitless.errors import BadInput, reason
from hitless.terminal.console import print_note, print_text
from hitless.topology import draw_topology
from hitless.whole_file import whole


def draw(path: Path, out: Path | None) -> None:
    if out is not None and out.suffix != ".svg":
        raise BadInput(f"{str(out)!r} is not the name of a drawing", where="--out", rule="it ends in .svg")
    drawing = draw_topology(read_sound(path, keeps_rows=False, threads=1).effective, alone=True)
    if out is None:
        print_text(drawing)
        return
    try:
        with whole(out) as beside:
            beside.write_text(drawing + "\n", encoding="utf-8")
    except OSError as refused:
        raise BadInput(f"cannot write the drawing: {reason(refused)}", where=str(out)) from refused
    print_note(f"drawing: {out}")
