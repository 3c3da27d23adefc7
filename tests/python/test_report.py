"""The report and the results folder."""

import json
import re

import polars as pl
import pytest

from hitless.analysis import Interval
from hitless.errors import BadInput
from hitless.exhibits.campaign import Campaign
from hitless.exhibits.numbers import format_interval, format_number
from hitless.exhibits.registry import select
from hitless.plot import Plot, Series, cdf_series
from hitless.report.figures import Painter
from hitless.report.page import render_report
from hitless.results import ResultsFolder, file_name, write_exhibit


@pytest.fixture(scope="module")
def results():
    finished = Campaign(select(["demo/fig1", "demo/tab2", "demo/failing"]), effort="quick").results()
    return sorted(finished, key=lambda result: ["demo/fig1", "demo/tab2", "demo/failing"].index(result.entry.id))


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    folder = ResultsFolder("test", tmp_path_factory.mktemp("results"))
    runs = [run for result in results for run in write_exhibit(folder, result)]
    return render_report(results, folder.manifest(["hitless", "<b>"], runs, interrupted=True))


def _without_library(page):
    return re.sub(r"<script>/\*.*?</script>", "", page, count=1, flags=re.DOTALL)


def test_the_page_fetches_nothing(page):
    own = _without_library(page)
    assert len(own) < 200_000
    assert not re.search(r"(src|href)\s*=\s*[\"'](https?:)?//", own)
    assert "url(" not in own
    assert "@import" not in own


def test_the_library_stands_in_the_page_once(page):
    assert page.count("plotly.js v") == 1


def test_a_page_without_plots_has_no_library(results):
    arithmetic = [result for result in results if not result.plots]
    assert len(render_report(arithmetic, _manifest())) < 60_000


def _manifest():
    machine = {"cpu": "c", "cores": 1, "kernel": "k", "python": "p"}
    base = {"hitless": "0", "command": [], "started": "now", "wall_s": 0.0, "machine": machine}
    return {**base, "drops": {}, "warnings": [], "interrupted": False}


def test_text_from_exhibits_cannot_become_markup(page):
    own = _without_library(page)
    assert "Completion times &lt;of&gt; 143 B messages" in own
    assert "&lt;b&gt;" in own
    assert own.count("</script>") == own.count("<script")


def test_the_page_says_what_was_shortened_what_failed_and_what_to_check(page):
    for text in (
        "2,000 messages instead of 300,000",
        "3 packets are missing",
        "interrupted",
        "never acted",
        "1 differs",
    ):
        assert text in page


def test_the_figures_can_be_read_back(page):
    figures = re.findall(r'class="plot-data">(.*?)</script>', page, flags=re.DOTALL)
    assert [len(json.loads(figure)["data"]) for figure in figures] == [3, 1]


def test_a_series_keeps_its_colour_through_the_report():
    painter = Painter()
    series = [Series("LG", [1], [2.0]), Series("none", [1], [3.0], [Interval(2.0, 4.0)], style="points", paper=True)]
    first = painter.draw(Plot("a", "x", "y", series))
    second = painter.draw(Plot("b", "x", "y", series[::-1]))
    assert first.data[0].line.color == second.data[1].line.color
    assert first.data[1].error_y.array == (1.0,)
    assert first.data[1].name == "none (paper)"


def test_schemes_of_one_plot_never_look_alike():
    painter = Painter()
    earlier = [Series(f"scheme {number}", [1], [2.0]) for number in range(7)]
    painter.draw(Plot("a", "x", "y", earlier))
    meeting = [earlier[0], *(Series(f"other {number}", [1], [3.0], style="bars") for number in range(9)), earlier[6]]
    drawn = painter.draw(Plot("b", "x", "y", meeting)).data
    lines = [(trace.line.color, trace.line.dash) for trace in drawn if trace.type == "scatter"]
    bars = [(trace.marker.color, trace.marker.pattern.shape) for trace in drawn if trace.type == "bar"]
    assert len(set(lines)) == len(lines)
    assert len(set(bars)) == len(bars)
    few = painter.draw(
        Plot("c", "x", "y", [Series(f"new {number}", ["a"], [1.0], style="bars") for number in range(8)])
    )
    assert len({trace.marker.color for trace in few.data}) == 8


def test_a_long_sample_is_thinned_for_its_plot():
    series = cdf_series("LG", range(300_000))
    assert len(series.x) <= 600
    assert series.y[-1] == 1.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0.0, "0"),
        (92.0, "92"),
        (0.195122, "0.1951"),
        (1e-9, "1e-09"),
        (1234.5, "1,234"),
        (1_600_000.0, "1,600,000"),
        (2.5e9, "2.5e+09"),
    ],
)
def test_numbers_have_four_digits(value, text):
    assert format_number(value) == text


def test_an_open_interval_shows_a_dash():
    assert format_interval(Interval(0.5, float("inf"))) == "[0.5, \N{EN DASH}]"


def test_the_folder_holds_tables_and_effective_scenarios(results, tmp_path):
    folder = ResultsFolder("test", tmp_path / "out")
    described = write_exhibit(folder, results[0])
    assert {path.name for path in (tmp_path / "out" / "demo-fig1").iterdir()} >= {"LG.toml", "messages-LG.parquet"}
    table = pl.read_parquet(tmp_path / "out" / "demo-fig1" / "messages-LG.parquet")
    assert table.schema["started_ps"] == pl.Int64
    assert table.height == 2000
    assert described[0]["drops"] == {"corruption": 20}


def test_two_runs_in_one_second_keep_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ResultsFolder("a").path != ResultsFolder("a").path


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="results folder"):
        ResultsFolder("a", tmp_path / "file" / "out")


@pytest.mark.parametrize(
    ("text", "name"), [("lg/fig8", "lg-fig8"), ("LG 100G 1e-3", "LG-100G-1e-3"), ("../..", "unnamed")]
)
def test_names_of_files(text, name):
    assert file_name(text) == name
