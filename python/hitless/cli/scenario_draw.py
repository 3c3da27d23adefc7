"""`hitless scenario draw`: the network of a scenario as SVG."""

from pathlib import Path

from hitless.checking import check_scenario
from hitless.cli.scenario_text import read_scenario, shown_name
from hitless.errors import BadInput, reason
from hitless.terminal.console import print_note, print_text
from hitless.topology import draw_topology
from hitless.whole_file import whole


def draw(path: Path, out: Path | None) -> None:
    if out is not None and out.suffix != ".svg":
        raise BadInput(f"{str(out)!r} is not the name of a drawing", where="--out", rule="it ends in .svg")
    drawing = draw_topology(check_scenario(read_scenario(path), shown_name(path), keeps_rows=False), alone=True)
    if out is None:
        print_text(drawing)
        return
    try:
        with whole(out) as beside:
            beside.write_text(drawing + "\n", encoding="utf-8")
    except OSError as refused:
        raise BadInput(f"cannot write the drawing: {reason(refused)}", where=str(out)) from refused
    print_note(f"drawing: {out}")
