"""Figures for papers: formats, sizes, labels, ticks, and `hitless report`."""

import re
import sys
from itertools import pairwise

import pytest

from hitless.analysis import Interval
from hitless.cli.reading_app import ReportOptions
from hitless.cli.report import report
from hitless.drawing.picture import Picture
from hitless.drawing.plot import Plot, Series
from hitless.errors import BadInput
from hitless.results import ResultsFolder, read_pictures
from hitless.setting_paths import words_of

RATES = [1e-5, 1e-4, 1e-3, 1e-2]
BOUNDS = [Interval(19.0, 21.0), None, Interval(15.0, 22.0), Interval(10.0, 12.0)]


def _plot(**settings):
    series = [
        Series("none", RATES, [20.0, 20.0, None, 11.0], intervals=BOUNDS),
        Series("LG", RATES, [20.0, 20.0, 19.5, 19.0], intervals=BOUNDS),
        Series("LG", RATES, [20.0, 20.0, 19.0, 18.0], intervals=[], style="points", source="paper"),
    ]
    return Plot("Goodput", "loss rate of link 1", "goodput (Gb/s)", series, x_scale="log", **settings)


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib", reason="matplotlib is not installed")


@pytest.mark.parametrize(("suffix", "magic"), [("pdf", b"%PDF-"), ("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_figure_has_the_format_of_its_name_and_the_same_bytes_every_time(matplotlib, tmp_path, suffix, magic):
    first, second = (Picture(_plot()).save(tmp_path / f"{n}.{suffix}", width=3.0).read_bytes() for n in "ab")
    assert first.startswith(magic)
    assert first == second


@pytest.mark.parametrize(("width", "inches"), [("one-column", 3.33), ("two-column", 7.0), (3.2, 3.2)])
def test_a_figure_is_as_wide_as_asked(matplotlib, tmp_path, width, inches):
    pdf = Picture(_plot()).save(tmp_path / "a.pdf", width=width).read_bytes()
    assert float(re.search(rb"MediaBox \[ 0 0 ([\d.]+)", pdf)[1]) == pytest.approx(72 * inches)
    svg = Picture(_plot()).save(tmp_path / "a.svg", width=width).read_text("utf-8")
    assert float(re.search(r'<svg [^>]*width="([\d.]+)pt"', svg)[1]) == pytest.approx(72 * inches)
    png = Picture(_plot()).save(tmp_path / "a.png", width=width).read_bytes()
    assert int.from_bytes(png[16:20], "big") == int(300 * inches)


def test_fonts_are_embedded_as_truetype(matplotlib, tmp_path):
    pdf = Picture(_plot()).save(tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_labels_and_legend_are_text(matplotlib, tmp_path):
    style = {"labels": {"none": "no protection", "LG (paper)": "from <the> paper"}, "y_label": "rate (Gb/s)"}
    svg = Picture(_plot()).save(tmp_path / "a.svg", **style).read_text("utf-8")
    for text in ("loss rate of link 1", "rate (Gb/s)", "no protection", "LG", "from &lt;the&gt; paper"):
        assert f">{text}</text>" in svg
    assert "goodput" not in svg


def test_a_name_is_neither_a_formula_nor_a_control_character(matplotlib, tmp_path):
    series = [Series(name, ["$", "a$b"], [1.0, 2.0]) for name in ("$\\frac$", "\x1b[31m")]
    svg = Picture(Plot("Odd", "x", "y", series)).save(tmp_path / "a.svg", width=3.0).read_text("utf-8")
    for text in ("$\\frac$", "\\u001b[31m", "a$b"):
        assert f">{text}</text>" in svg


def test_nothing_is_outside_of_the_figure_or_on_top_of_the_axes(matplotlib):
    ax = Picture(_plot()).axes()
    ax.figure.draw_without_rendering()
    inside, whole = ax.get_tightbbox(), ax.figure.bbox
    assert whole.x0 <= inside.x0
    assert inside.x1 <= whole.x1
    assert inside.y1 <= whole.y1
    assert ax.get_legend().get_window_extent().y0 >= ax.bbox.y1


def test_logarithmic_axes_have_minor_ticks(matplotlib):
    ax = Picture(_plot()).axes()
    minor = ax.xaxis.get_minorticklocs()
    assert {round(tick * 1e5) for tick in minor if 1e-5 < tick < 1e-4} >= set(range(2, 10))


def test_schemes_have_distinct_markers_and_papers_are_hollow(matplotlib):
    ax = Picture(_plot()).axes(intervals="none")
    none, protected, paper = ax.get_lines()
    assert none.get_marker() != protected.get_marker() == paper.get_marker()
    assert (protected.get_markerfacecolor(), paper.get_markerfacecolor()) == (protected.get_color(), "none")


def test_a_curve_of_many_points_has_a_few_markers_and_can_have_gaps(matplotlib, tmp_path):
    series = [Series(n, list(range(99)), [None if x == 9 else x for x in range(99)], style="step") for n in "ab"]
    picture = Picture(Plot("Share", "FCT (us)", "share", series))
    assert picture.save(tmp_path / "a.svg", width=3.0).read_text("utf-8").count("<use ") < 60
    assert len({line.get_marker() for line in picture.axes().get_lines()}) == 2


def test_intervals_are_bars_or_bands(matplotlib):
    assert len(Picture(_plot()).axes(intervals="bars").containers) == 2
    band = Picture(_plot()).axes(intervals="band")
    assert (len(band.containers), len(band.collections)) == (0, 2)


def test_bars_stand_beside_each_other(matplotlib):
    bars = [Series(name, ["10 flows", "20 flows"], [1.0, 2.0], style="bars") for name in ("AFQ", "DRR")]
    ax = Picture(Plot("Bars", "flows", "FCT (us)", bars)).axes()
    spans = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches)
    assert all(left[1] <= right[0] + 1e-9 for left, right in pairwise(spans))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["10 flows", "20 flows"]


def test_a_figure_goes_into_axes_of_another_one(matplotlib):
    from matplotlib.figure import Figure

    both = Figure().subplots(2)
    assert Picture(_plot()).axes(both[1]) is both[1]
    assert both[1].get_xlabel() == "loss rate of link 1"


@pytest.mark.parametrize(
    ("style", "words"),
    [
        ({"widht": 3}, "did you mean width?"),
        ({"width": "three-column"}, "one-column, two-column"),
        ({"width": 0.1}, "0.5 to 40 inches"),
        ({"intervals": "boxes"}, "bars, band or none"),
        ({"font": "DejaVu Sanz"}, "did you mean DejaVu Sans?"),
        ({"legend": "nowhere"}, "nowhere"),
    ],
)
def test_a_wrong_option_is_explained(matplotlib, style, words):
    with pytest.raises(BadInput) as refused:
        Picture(_plot()).axes(**style)
    assert words in str(refused.value)


def test_without_matplotlib_svg_works_and_other_formats_name_the_command(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert Picture(_plot()).save(tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    with pytest.raises(BadInput, match="-m pip install matplotlib"):
        Picture(_plot()).save(tmp_path / "a.pdf")
    with pytest.raises(BadInput, match=r"a\.jpeg"):
        Picture(_plot()).save(tmp_path / "a.jpeg")


def test_plots_of_a_folder_are_listed_and_drawn(matplotlib, tmp_path, capsys):
    with ResultsFolder("reproduce", tmp_path / "out") as folder:
        folder.write_pictures({"lg/fig8-1": _plot(), "lg/fig9-1": _plot(), "lg/fig9-2": _plot()})
    pictures = read_pictures(tmp_path / "out")
    assert pictures["lg-fig8-1"].plot == _plot()
    assert report(ReportOptions(tmp_path / "out")) == 0
    assert "lg-fig9-2  Goodput" in capsys.readouterr().out
    drawn = tmp_path / "fig8.svg"
    assert report(ReportOptions(tmp_path / "out", figure="lg/fig8", out=drawn, width="4", label=["LG=ours"])) == 0
    assert ">ours</text>" in drawn.read_text("utf-8")
    assert report(ReportOptions(tmp_path / "out", figure="lg/fig9", out=tmp_path / "b.pdf")) == 0
    assert {path.name for path in tmp_path.glob("b*")} == {"b-1.pdf", "b-2.pdf"}
    with pytest.raises(BadInput, match="did you mean"):
        report(ReportOptions(tmp_path / "out", figure="lg/fig7"))
    with pytest.raises(BadInput, match=r"plots\.json"):
        read_pictures(tmp_path)
    (tmp_path / "out/plots.json").write_text('{"a": {"series": 3}}')
    with pytest.raises(BadInput, match="damaged"):
        read_pictures(tmp_path / "out")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("link[0].loss.rate", "loss rate of link 1"),
        ("link.sw2->sw6.loss.rate", "loss rate of link sw2->sw6"),
        ("flows.bulk.load", "load of flows bulk"),
        ("switch.ecn.threshold", "ECN threshold of switch"),
        ("transport[0].rto_min", "RTO min of transport 1"),
        ("mechanism", "mechanism"),
        ("mechanism[1]", "mechanism 2"),
    ],
)
def test_axes_have_words(path, words):
    assert words_of(path) == words
