"""The drawing of a network as SVG. Colours follow the page's text colour, so that it is readable in dark mode."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape

from hitless.quantities import bps_of
from hitless.topology.folding import Folded, Line, names_of
from hitless.topology.layout import CHARACTER, LINE_HEIGHT, Curve, Free, Layout, Rectangle, layout_of
from hitless.topology.network import Mark
from hitless.visible import visible

_WIDTH_MIN = 560
_SIGN = 18
"""Diameter of the sign of a mark."""
_LABELLED = 16
"""Maximum lines with their rate next to them; the legend has all rates."""
_WIDTHS = (1.2, 2.4, 3.6, 4.8)
_COLOURS = ("#2c6fbb", "#c0392b")
"""Signs of mechanisms and of faults: white text is readable on both."""

_FONT = "12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
STYLE = (
    f".topology text{{font:{_FONT};fill:currentColor}}.topology .heading{{font-weight:600}}"
    ".topology .soft{opacity:.75}.topology .wire{stroke:currentColor;stroke-opacity:.55;fill:none}"
    f".topology .faulty{{stroke:{_COLOURS[1]};stroke-opacity:1;stroke-dasharray:6 4}}"
    ".topology .box{fill:var(--page,#fff);stroke:currentColor;stroke-width:1.5}"
    ".topology .host{stroke-width:1;stroke-opacity:.5}.topology text.sign{fill:#fff;font-weight:600}"
)
ALONE_STYLE = (
    "svg{color:#1c1e21}.sheet{fill:#fff}@media(prefers-color-scheme:dark){svg{color:#e7e9ec}.sheet{fill:#14171b}}"
)


def draw(drawing: Folded, *, alone: bool = False) -> str:
    """Return the drawing as an SVG element; ``alone`` adds a background and its colours."""
    layout = layout_of(drawing, _WIDTH_MIN)
    legend, height = _legend(drawing, layout)
    sheet = '<rect class="sheet" width="100%" height="100%"/>' if alone else ""
    style = STYLE + (ALONE_STYLE if alone else "")
    name = drawing.network.name
    heading = f'<text class="heading" x="16" y="20">{escape(name)}</text>'
    size = f'viewBox="0 0 {layout.width:.0f} {height:.0f}" width="{layout.width:.0f}" height="{height:.0f}"'
    if not alone:  # a page can make it a fifth smaller, and then scrolls
        size += f' style="max-width:{layout.width:.0f}px;min-width:{0.8 * layout.width:.0f}px"'
    return visible(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="topology" {size} role="img" '
        f'aria-label="{escape(_words(drawing))}"><style>{style}</style>{sheet}{heading}'
        f"{''.join(_lines(drawing, layout))}{''.join(_boxes(layout))}{''.join(_labels(drawing, layout))}{legend}</svg>"
    )


def _words(drawing: Folded) -> str:
    """Describe the drawing, for people who cannot see it."""
    network = drawing.network
    told = f"Network {network.name}: {len(network.hosts)} hosts, {len(network.switches)} switches"
    return ". ".join([f"{told}, {len(network.wires)} links", *(f"{mark.sign}: {mark.words}" for mark in network.marks)])


def _speeds(drawing: Folded) -> dict[str, int]:
    """Return each rate with its delay, and its number of links, from the slowest."""
    counts = Counter(wire.speed for wire in drawing.network.wires)
    rates = {wire.speed: wire.rate for wire in drawing.network.wires}
    return dict(sorted(counts.items(), key=lambda pair: bps_of(rates[pair[0]].replace("b/s", "bps"))))


def _strokes(drawing: Folded) -> dict[str, float]:
    """Return the width of the lines of each speed."""
    return {speed: _WIDTHS[min(number, len(_WIDTHS) - 1)] for number, speed in enumerate(_speeds(drawing))}


def _marks(drawing: Folded, line: Line) -> dict[tuple[int, str], Mark]:
    """Return the marks of a line by the end that sends and their sign."""
    found: dict[tuple[int, str], Mark] = {}
    if not drawing.network.at:
        return found
    for wire in line.wires:
        for end in wire.ends:
            for mark in drawing.network.at.get(wire.outward(end), ()):
                found[0 if end in line.ends[0].members else 1, mark.sign] = mark
    return found


def _lines(drawing: Folded, layout: Layout) -> Iterator[str]:
    strokes = _strokes(drawing)
    for line, curve in layout.curves.items():
        is_faulty = any(mark.is_fault for mark in _marks(drawing, line).values())
        words = f"{len(line.wires)} link{'s' * (len(line.wires) > 1)}: {line.wires[0].speed}"
        stroke = max(strokes[line.wires[0].speed], 2.0 * is_faulty)
        kind = "wire faulty" if is_faulty else "wire"
        title = f"<title>{escape(words)}</title>"
        yield f'<path class="{kind}" d="{_path(curve)}" stroke-width="{stroke}">{title}</path>'


def _path(curve: Curve) -> str:
    points = (f"{x:.1f},{y:.1f}" for x, y in (curve.begin, curve.bend, curve.end))
    return "M{} Q{} {}".format(*points)


def _boxes(layout: Layout) -> Iterator[str]:
    for box, place in layout.boxes.items():
        x, y = place.x - place.width / 2, place.y - place.height / 2
        kind = "box host" if box.is_host else "box"
        radius = place.height / 2 if box.is_host and len(box.lines) == 1 else 4
        yield (
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" '
            f'rx="{radius:.1f}"><title>{escape(names_of(box.members))}</title></rect>'
        )
        for number, text in enumerate(box.lines):
            soft = " soft" if number else ""
            down = place.y + (number - (len(box.lines) - 1) / 2) * LINE_HEIGHT + 4
            at = f'x="{place.x:.1f}" y="{down:.1f}"'
            yield f'<text class="node{soft}" {at} text-anchor="middle">{escape(text)}</text>'


def _labels(drawing: Folded, layout: Layout) -> Iterator[str]:
    """Draw signs and rates where they overlap nothing; the legend has all of them."""
    free = Free(layout.boxes.values())
    for box, place in layout.boxes.items():
        signs = {mark.sign: mark for name in box.members for mark in drawing.network.at.get(name, ())}
        for number, mark in enumerate(signs.values()):
            right = place.x + place.width / 2 - number * (_SIGN + 2)
            spot = Rectangle(right - _SIGN / 2, place.y - place.height / 2 - _SIGN / 2 - 3, _SIGN, _SIGN)
            yield _sign(mark, free.take([spot]))
    for line, curve in layout.curves.items():
        for mark, shares in _signs(drawing, line):
            yield _sign(mark, free.take(Rectangle(*curve.at(share), _SIGN, _SIGN) for share in shares))
    if len(layout.curves) <= _LABELLED:
        curves = layout.curves.values()
        for line, curve in layout.curves.items():
            text = line.wires[0].rate
            spots = _beside(curve, len(text) * CHARACTER)
            yield _text(text, free.take(spots, curves))


def _signs(drawing: Folded, line: Line) -> Iterator[tuple[Mark, Sequence[float]]]:
    """Yield the marks of a line, each with shares of the way where it can be, the best first."""
    marks = _marks(drawing, line)
    for (side, sign), mark in marks.items():
        if mark.is_fault and (1 - side, sign) in marks:  # a fault in both directions is in the middle, once
            if side == 0:
                yield mark, [0.5 + way * number / 40 for number in range(16) for way in (1, -1)]
        else:
            shares = [number / 40 for number in range(5, 34)]
            yield mark, [1 - share for share in shares] if side else shares


def _beside(curve: Curve, width: float) -> Iterator[Rectangle]:
    """Yield places for a text next to a line, the best first."""
    is_level = curve.begin[1] == curve.end[1]
    for number in range(21):
        x, y = curve.at(0.5 + (number + 1) // 2 * (1 if number % 2 else -1) / 30)
        if is_level:
            yield Rectangle(x, y - 12, width, 14)
        else:
            yield from (Rectangle(x + way * (width / 2 + away), y, width, 14) for away in (6, 14) for way in (1, -1))


def _text(text: str, place: Rectangle | None) -> str:
    if place is None:
        return ""
    return f'<text class="soft" x="{place.x:.1f}" y="{place.y + 4:.1f}" text-anchor="middle">{escape(text)}</text>'


def _sign(mark: Mark, place: Rectangle | None) -> str:
    if place is None:
        return ""
    x, y = place.x, place.y
    colour, half = _COLOURS[mark.is_fault], _SIGN / 2
    shape = (
        f'<rect x="{x - half:.1f}" y="{y - half:.1f}" width="{_SIGN}" height="{_SIGN}" rx="2" fill="{colour}"/>'
        if mark.is_fault
        else f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half}" fill="{colour}"/>'
    )
    title = f"<title>{escape(mark.words)}</title>"
    return (
        f'<g>{title}{shape}<text class="sign" x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{mark.sign}</text></g>'
    )


def _legend(drawing: Folded, layout: Layout) -> tuple[str, float]:
    """Return the legend below the network, and the height of the whole drawing."""
    made, y = [], layout.height + 14
    characters = int((layout.width - 64) / CHARACTER)

    def put(words: str, sign: str = "", *, soft: bool = False) -> None:
        nonlocal y
        made.append(sign)
        for text in textwrap.wrap(words, characters) or [""]:
            made.append(f'<text class="legend{" soft" * soft}" x="48" y="{y + 4:.1f}">{escape(text)}</text>')
            y += LINE_HEIGHT + 3

    strokes = _strokes(drawing)
    for speed, count in _speeds(drawing).items():
        stroke = f'<path class="wire" d="M16,{y:.1f}h22" stroke-width="{strokes[speed]}"/>'
        put(f"{count:,} link{'s' * (count > 1)}: {speed}", stroke)
    for mark in drawing.network.marks:
        y += 3
        put(mark.words, _sign(mark, Rectangle(27, y, _SIGN, _SIGN)))
    for note in drawing.notes:
        put(note, soft=True)
    return "".join(made), y
