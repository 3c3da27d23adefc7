"""Pictures of plots: positions and colours."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from hitless.analysis import Interval
from hitless.drawing.canvas import NARROW, WIDE
from hitless.drawing.legend import label
from hitless.drawing.palette import COLOURS, Palette
from hitless.drawing.plot import Plot, Series, stacked, tail_series
from hitless.drawing.scales import Categories, axis
from hitless.drawing.svg import describe, draw
from hitless_papers import Range, Row
from hitless_papers.paper_points import with_papers_points


def _plot(*series, **settings):
    return Plot("a title", "load (%)", "FCT (us)", series, **settings)


def _named(*names, style="bars"):
    return _plot(*(Series(name, ["50 %", "90 %"], [1.0, 2.0], style=style) for name in names))


def _drawn(plot, size=WIDE, *, alone=False):
    return draw(plot, Palette([plot]), size, alone=alone)


def test_a_scheme_keeps_its_colour_through_the_report():
    plots = [_named("LG", "none"), _named("none", "other", "LG"), _named("AFQ", "DRR")]
    palette = Palette(plots)
    first, second, third = map(palette.looks, plots)
    assert (first["LG"], first["none"]) == (second["LG"], second["none"])
    assert third["AFQ"].colour == first["LG"].colour  # these two never meet


def test_schemes_of_one_plot_never_look_alike():
    many = [f"scheme {number}" for number in range(11)]
    plots = [_named(*many[:4]), _named(*many[4:8]), _named(*many)]
    looks = Palette(plots).looks(plots[2]).values()
    assert len({(look.colour, look.dash) for look in looks}) == len(many)
    assert len({look.fill for look in looks}) == len(many)


def test_bars_of_pd_fig5_with_two_schemes_in_one_colour():
    earlier = [_named(f"earlier {number}", f"scheme {number}") for number in range(7)]
    bars = _named(*(f"scheme {number}" for number in range(7)))
    drawn = draw(bars, Palette([*earlier, bars]))
    fills = re.findall(r'<rect [^>]*fill="(#[^"]+)"[^>]*><title>', drawn)
    assert len(fills) == 14
    assert len(set(fills)) == 7


def test_paper_curves_in_other_colours_than_their_series():
    series = [Series("LG", [1, 2], [2.0, 3.0]), Series("LG", [1, 2], [2.5, 3.5], style="points", source="paper")]
    drawn = _drawn(_plot(*series))
    assert set(re.findall(r'stroke="(#\w+)"', drawn)) == {COLOURS[0]}
    hollow = re.findall(r'<circle [^>]*fill="none"[^>]*>', drawn)
    assert len(hollow) == 3  # the two points, and the sign in the legend


def test_legends_say_paper_once():
    series = Series("LG", [1], [2.0], source="paper")
    assert label(series) == "LG (paper)"
    drawn = _drawn(_plot(series, series))
    assert drawn.count(">LG (paper)<") == 1


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("style", ["line", "step", "points", "bars"])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_everything_lies_within_the_picture(size, style, scale):
    x = [0.5, 1.0, 4.0, 1e4]
    y = [0.0, None, 1e-6, 3e7]
    intervals = [None, None, Interval(1e-7, float("inf")), Interval(float("-inf"), 4e7)]
    series = [
        Series("LG", x, y, intervals, style=style),
        Series("<none>", x, [1.0, 2.0, float("nan"), 4.0], style=style),
    ]
    drawn = _drawn(_plot(*series, x_scale=scale, y_scale=scale), size, alone=True)
    tree = ET.fromstring(drawn)  # noqa: S314 - our own
    _, _, width, height = map(float, tree.get("viewBox").split())
    for circle in tree.iter("{http://www.w3.org/2000/svg}circle"):
        assert 0 <= float(circle.get("cx")) <= width
        assert 0 <= float(circle.get("cy")) <= height
    assert "nan" not in drawn
    assert "inf" not in drawn


def test_texts_that_read_like_numbers_are_categories():
    made = axis(["1e-3", "1e-2"], "linear")
    assert isinstance(made, Categories)
    assert made.at("1e-2") == 0.75


@pytest.mark.parametrize(
    ("values", "scale"), [([], "linear"), ([], "log"), ([3.0], "linear"), ([5.0], "log"), ([0.0], "log")]
)
def test_an_axis_of_little_or_nothing_has_ticks(values, scale):
    assert axis(values, scale).ticks


def test_one_number_has_one_tick():
    assert [tick.label for tick in axis([95.0, 95.0], "linear").ticks] == ["95"]


def test_a_long_sample_stays_small():
    drawn = _drawn(_plot(tail_series("LG", range(300_000)), x_scale="log", y_scale="log"))
    assert len(drawn) < 10_000


def test_a_picture_can_be_told_in_words():
    told = describe(_plot(Series("LG", [1, 2], [2.0, 30.0]), Series("LG", [1], [2.5], source="paper")))
    assert told == "a title: FCT (us) against load (%). LG: 2 to 30. LG (paper): 2.5."


def _row(x, measured, paper, series="AFQ"):
    return Row(series, x, "mean FCT", "us", measured, paper)


def test_the_papers_points_come_from_the_rows():
    plot = _plot(Series("AFQ", [30.0, 70.0], [0.0123456, 0.0654321]), Series("DCTCP", [30.0], [1.5]))
    rows = [_row("30 %", 12.3456, 10.0), _row("70 %", 65.4321, Range(50.0, 60.0)), _row("30 %", 99.9999, 1.0)]
    added = with_papers_points(plot, rows).series[2:]
    assert [(series.name, series.source, list(series.x)) for series in added] == [("AFQ", "paper", [30.0, 70.0])]
    assert list(added[0].y) == pytest.approx([0.01, 0.055])
    assert added[0].intervals[0] is None
    assert (added[0].intervals[1].low, added[0].intervals[1].high) == pytest.approx((0.05, 0.06))


def test_a_round_number_finds_its_point_by_its_position_alone():
    plot = _plot(Series("AFQ", ["1e-3", "1e-2"], [100.0, 100.0]))
    [added] = with_papers_points(plot, [_row("1e-2", 100.0, 98.0), _row("1e-9", 100.0, 1.0)]).series[1:]
    assert (list(added.x), list(added.y)) == (["1e-2"], [98.0])
    [added] = with_papers_points(plot, [_row("1e-2 background", 100.0, 98.0)]).series[1:]
    assert list(added.x) == ["1e-2"]
    nothing = replace(_plot(Series("AFQ", [760.0, 1000.0], [0.0, 0.0])), x_title="time (us)")
    [added] = with_papers_points(nothing, [_row("1,000 us", 0.0, 0.0)]).series[1:]
    assert (list(added.x), list(added.y)) == ([1000.0], [0.0])
    events = replace(nothing, x_title="event")
    assert with_papers_points(events, [_row("1,000 events", 0.0, 0.0)]).series == [*events.series]
    assert with_papers_points(plot, [_row("elsewhere", 100.0, 98.0)]).series == [*plot.series]


def test_the_height_of_each_stack_stands_above_it_and_inside_the_picture():
    plot = Plot("bars", "x", "y", stacked(["a", "b"], {"one": [10.0, 1.0], "two": [2_000.0, 2.5]}))
    drawn = draw(plot, Palette([plot]))
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle">([\d,.]+)</text>', drawn)
    totals = {text: (float(x), float(y)) for x, y, text in found if text in {"2,010", "3.5"}}
    assert set(totals) == {"2,010", "3.5"}
    assert 0 < totals["2,010"][1] < totals["3.5"][1]
    side_by_side = Plot("bars", "x", "y", [Series("one", ["a"], [2_010.0], style="bars")])
    assert "2,010</text>" not in draw(side_by_side, Palette([side_by_side]))
