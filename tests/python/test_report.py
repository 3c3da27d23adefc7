"""The report and the results folder."""

import re
import xml.etree.ElementTree as ET

import polars as pl
import pytest

from hitless.analysis import Interval
from hitless.analysis.intervals import format_interval
from hitless.drawing.picture import Picture
from hitless.drawing.plot import cdf_series
from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.report import page as plain_page
from hitless.results import ResultsFolder, write_result
from hitless.runs.scenario_run import scenario_run
from hitless.simulation import PacketSimulation
from hitless.whole_file import file_name
from hitless_papers.campaign import Campaign
from hitless_papers.page import named_plots, render_report
from hitless_papers.registry import select


@pytest.fixture(scope="module")
def results():
    finished = Campaign(select(["demo/fig1", "demo/tab2", "demo/failing"]), seeds=3, effort="quick").results()
    return sorted(finished, key=lambda result: ["demo/fig1", "demo/tab2", "demo/failing"].index(result.id))


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    folder = ResultsFolder("test", tmp_path_factory.mktemp("results"))
    runs = [run for result in results for run in write_result(folder, result)]
    return render_report(results, folder.manifest(["hitless", "<b>"], runs, interrupted=True))


def test_the_page_fetches_nothing(page):
    assert len(page) < 200_000
    assert not re.search(r"(src|href)\s*=\s*[\"'](https?:)?//", page)
    assert "url(" not in page.replace("url(#", "")
    assert "@import" not in page


def test_a_page_without_plots_has_no_picture(results):
    arithmetic = [result for result in results if not result.plots]
    assert "<svg" not in render_report(arithmetic, _manifest())


def _manifest():
    machine = {"cpu": "c", "cores": 1, "kernel": "k", "python": "p"}
    base = {"hitless": "0", "command": [], "started": "now", "wall_s": 0.0, "machine": machine}
    return {**base, "drops": {}, "warnings": [], "interrupted": False}


def test_text_from_exhibits_cannot_become_markup(page):
    assert "Completion times &lt;of&gt; 143 B messages" in page
    assert "&lt;b&gt;" in page
    assert "Tail &lt;/script&gt;" in page
    assert page.count("</script>") == page.count("<script") == 1


def test_the_page_says_what_was_shortened_what_failed_and_what_to_check(page):
    for text in (
        "2,000 messages instead of 300,000",
        "3 packets are missing",
        "interrupted",
        "never acted",
        "1 differs",
    ):
        assert text in page


def test_a_plot_of_the_first_of_several_seeds_says_so(page, results):
    told = "Runs with seed 1, the first of 3; the table has means over all seeds."
    assert [plot.caption.endswith(told) for result in results for plot in result.plots] == [True, True]
    assert page.count(told) == 2
    [alone] = Campaign(select(["demo/fig1"]), seeds=1, effort="quick").results()
    assert not any("the first of" in plot.caption for plot in alone.plots)


def test_every_table_and_picture_can_be_read_aloud(page):
    assert page.count("<th scope=") == len(re.findall("<th[ >]", page))
    pictures = re.findall(r"<svg [^>]*>", page)
    assert len(pictures) == 4  # two plots in two sizes
    assert all('role="img"' in picture and re.search(r'aria-label="[^"]{20,}"', picture) for picture in pictures)


def test_rows_of_each_verdict_can_be_chosen_and_those_without_one_are_folded(page):
    assert re.findall(r'data-filter="(\w*)"', page) == ["", "match", "within", "differs", "unjudged"]
    folded = re.search(r"<details.*?</details>", page, flags=re.DOTALL)[0]
    assert 'data-verdict="unjudged"' in folded
    assert 'data-verdict="match"' not in folded


def test_a_scenario_of_ones_own_has_no_column_for_a_paper():
    [result] = scenario_run("mine", "mine.toml", PacketSimulation("messages = 500\n"), 1).results()
    page = plain_page.render_report([result], _manifest())
    assert ">paper<" not in page
    assert ">verdict<" not in page
    assert '<button type="button" data-filter' not in page
    assert "What each mechanism buys" not in page
    assert "<dt>mechanisms</dt>" in page
    assert ">measured<" in page


def test_the_pictures_are_files_of_their_own(results):
    plots = named_plots(results)
    assert list(plots) == ["demo/fig1-1", "demo/fig1-2"]
    for plot in plots.values():
        picture = Picture(plot).svg
        tree = ET.fromstring(picture)  # noqa: S314 - our own
        assert tree.tag == "{http://www.w3.org/2000/svg}svg"
        assert "<style>" in picture


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
    described = write_result(folder, results[0])
    names = {path.name for path in (tmp_path / "out" / "demo-fig1").iterdir()}
    assert names >= {"seed-1-LG.toml", "seed-3-LG.toml", "messages-LG.parquet"}
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
