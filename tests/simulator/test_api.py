"""`import hitless` in a notebook, on the real simulator."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import hitless as hl
from hitless.simulation import RunCancelled, Simulation

ROOT = Path(__file__).resolve().parents[2]
LINK = "sw2->sw6"


@pytest.fixture
def testbed():
    return hl.example("linkguardian-testbed").with_("flows[0].count", 200)


def _script(name):
    done = subprocess.run([sys.executable, ROOT / "scripts" / name], capture_output=True, text=True, check=True)
    return done.stdout


def test_what_is_public_stays():
    assert _script("public-surface") == (ROOT / "tests/simulator/public_surface.txt").read_text(encoding="utf-8"), (
        "write it with .venv/bin/python scripts/public-surface --write, and a line into CHANGELOG.md"
    )


def test_the_types_of_scenarios_are_those_of_the_schema():
    written = (ROOT / "python/hitless/types.py").read_text(encoding="utf-8")
    assert _script("scenario-types") == written, "write them with .venv/bin/python scripts/scenario-types --write"


def test_without_its_types_hitless_works_and_says_how_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "hitless.types", None)
    assert hl.example("dumbbell").fields["name"] == "dumbbell"
    with pytest.raises(ImportError, match="scripts/scenario-types --write"):
        _ = hl.types


@pytest.mark.parametrize(
    ("imported", "heavy"),
    [
        ("hitless", ("numpy", "polars", "scipy", "pydantic", "rich", "hitless._native")),
        ("hitless.cli.main", ("numpy", "polars", "scipy", "pydantic", "jinja2", "redis", "hitless._native")),
        ("hitless.cli.scenario", ("numpy", "polars", "scipy", "pydantic", "jinja2")),
        ("hitless.corruptd.service", ("polars", "jinja2", "typer")),
    ],
)
def test_what_is_imported_loads_no_library_that_it_has_no_use_for(imported, heavy):
    code = f"import sys, {imported}; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_name_is_there_in_whatever_order_it_is_asked_for():
    code = (
        "import hitless as hl; hl.Swept; hl.Steps; [getattr(hl, name) for name in hl.PUBLIC]; print(callable(hl.sweep))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_scenario_changes_by_paths_and_stays_itself(testbed):
    changed = testbed.with_("link[0].loss.rate", 0.5).with_("mechanism", [])
    assert changed.fields["link"][0]["loss"] == {"kind": "bernoulli", "rate": 0.5}
    assert changed.fields["mechanism"] == []
    assert testbed.fields["link"][0]["loss"]["rate"] == 1e-3
    assert testbed.with_(f"link.{LINK}.loss.rate", 0.5).with_("mechanism", []) == changed
    assert "mechanism" not in testbed.with_("mechanism", None).fields
    assert hl.Scenario(testbed.fields).run(seed=3).summary["trace_hash"] == testbed.run(seed=3).summary["trace_hash"]


def test_a_scenario_from_a_file_and_from_python_is_the_same(testbed, tmp_path):
    (tmp_path / "mine.toml").write_text(testbed.text)
    assert hl.Scenario.from_file(tmp_path / "mine.toml").effective == hl.Scenario.from_dict(testbed.fields).effective


@pytest.mark.parametrize(
    ("attempt", "error", "words"),
    [
        (lambda s: s.with_("link[0].loss.rate", 2.0).run(), hl.RefusedScenario, "link[0].loss.rate = 2.0: must be"),
        (lambda s: s.with_("link[0].los.rate", 0.1).check(), hl.RefusedScenario, "did you mean"),
        (lambda s: s.with_("link[7].loss.rate", 0.1), hl.BadInput, "a number from 0 to 0"),
        (lambda s: hl.Scenario.from_text("name = ").fields, hl.RefusedScenario, "not valid TOML"),
        (lambda s: hl.Scenario.from_file("/nowhere.toml"), hl.BadInput, "No such file"),
        (lambda s: hl.example("linkguard"), hl.BadInput, "did you mean linkguardian-testbed?"),
        (lambda s: s.start().fail("sw2->sw9"), hl.BadInput, "there is no node called 'sw9'"),
        (lambda s: s.start().corrupt(LINK, 1.5), hl.BadInput, "1.5 is no rate of corruption"),
        (lambda s: s.start().advance("3 parsecs"), hl.BadInput, '"100 us"'),
        (lambda s: s.with_("mechanism", []).start().protect(LINK), hl.BadInput, "no protection"),
        (lambda s: s.run().plot.queues(), hl.BadInput, "[[measure.queue]]"),
        (lambda s: s.run(keep=["flows"]).messages, KeyError, "it has: flows"),
    ],
)
def test_errors_say_what_the_command_line_says(testbed, attempt, error, words):
    with pytest.raises(error) as refused:
        attempt(testbed)
    assert words in str(refused.value)


def test_completion_times_are_a_column(testbed):
    run = testbed.run(seed=1)
    messages = run.messages
    assert messages.height == 200
    first = messages.row(0, named=True)
    assert first["fct_us"] == pytest.approx((first["delivered_ps"] - first["started_ps"]) / 1e6)
    assert run.flows["fct_us"][0] == pytest.approx((run.flows["finished_ps"] - run.flows["started_ps"])[0] / 1e6)
    assert run.queues.schema["port"] == pl.String  # not measured, so a table without rows
    unfinished = hl.example("dumbbell").run(seed=1).flows
    assert unfinished["fct_us"].null_count() == unfinished.height == 2


def test_a_notebook_shows_a_table_and_a_picture_and_not_the_file(testbed):
    run = testbed.run(seed=1)
    shown = run._repr_html_()
    assert len(shown) < 20_000
    assert "<table>" in shown
    assert "<svg" in shown
    assert "host_link" not in shown
    assert "linkguardian" in testbed._repr_html_()
    assert len(testbed._repr_html_()) < 2_000


def test_pictures_are_files(testbed, tmp_path):
    picture = testbed.run(seed=1).plot.fct_tail("trials")
    assert picture.save(tmp_path / "tail.svg").read_text(encoding="utf-8").startswith("<svg")
    with pytest.raises(hl.BadInput, match=r"tail\.jpeg"):
        picture.save(tmp_path / "tail.jpeg")


def test_steps_without_commands_are_the_run(testbed):
    steps = testbed.start(seed=5)
    times = list(steps.every("777 us"))
    assert times[:2] == [777.0, 1554.0]
    assert steps.is_over
    assert steps.finish().summary["trace_hash"] == testbed.run(seed=5).summary["trace_hash"]


def test_steps_show_and_act(testbed):
    off = testbed.with_("mechanism[0].activation", [{"at": "0 s", "active": False}]).with_("link", None)
    steps = off.start(seed=1)
    corrupted = {}
    for number, _ in enumerate(steps.every("500 us")):
        counts = steps.frames_behind(LINK)
        corrupted[number] = counts.all - counts.ok
        if number == 2:
            steps.corrupt(LINK, 0.5)
        if number == 6:
            steps.corrupt(LINK, 0.3, mean_burst_frames=2.0)
            steps.protect(LINK, copies=6)
    assert corrupted[2] == 0 < corrupted[6]
    counters = steps.mechanisms.filter(pl.col("counter") == "packets_recovered")
    assert counters["value"].sum() > 0
    assert set(steps.queues["port"]) == {"sw2->h4", "sw2->sw6", "sw6->h8", "sw6->sw2"}
    assert steps.finish().summary.drops["corrupted on a link"] > 0


def test_a_command_at_0_s_is_not_undone_by_what_the_scenario_does_then(testbed):
    off = testbed.with_("mechanism[0].activation", [{"at": "0 s", "active": False}])
    steps = off.start(seed=1)
    steps.protect(LINK, copies=1)
    steps.corrupt(LINK, 1e-2)
    assert steps.now_us == 0.0
    assert next(steps.every("500 us")) == 500.0
    counted = steps.mechanisms.filter(pl.col("counter") == "packets_protected")
    assert counted["value"].sum() > 0


def test_a_link_that_fails_loses_what_is_on_it_until_it_is_repaired():
    steps = hl.example("dumbbell").with_("transport[0].rto_min", "1 ms").start(seed=1)
    steps.advance("10 ms")
    assert steps.queues["value_bytes"].sum() > 0
    bottleneck = steps.queues.sort("value_bytes")["port"][-1]
    steps.fail(bottleneck)
    steps.advance("1 ms")
    before = steps.frames_behind(bottleneck).all
    steps.advance("1 ms")
    assert steps.frames_behind(bottleneck).all == before
    steps.repair(bottleneck)
    run = steps.finish()
    assert run.summary.drops["lost on a link that was down"] > 0
    assert run.table("links").filter(pl.col("link") == bottleneck)["frames_arrived"][0] > before


def test_run_takes_a_scenario_however_it_is_given(testbed, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(testbed.text)
    forms = (testbed, testbed.fields, testbed.text, path, str(path))
    assert len({hl.run(given, seed=2).summary["trace_hash"] for given in forms}) == 1
    swept = hl.sweep(str(path), {"flows[0].count": [20]}, out=tmp_path / "swept", progress=False)
    assert swept.paths == ["flows[0].count"]


def test_a_path_without_a_file_says_so_and_a_text_is_not_a_path(tmp_path):
    (tmp_path / "mine.toml").write_text("")
    for given in (tmp_path / "mime.toml", str(tmp_path / "mime.toml")):
        with pytest.raises(hl.BadInput, match=r"No such file(.|\n)*did you mean \S*mine\.toml\?"):
            hl.run(given)
    for text in ("name = 3", "#" * 10_000, ""):
        with pytest.raises(hl.RefusedScenario):
            hl.run(text)


def test_only_public_names_are_offered():
    assert dir(hl) == sorted([*hl.PUBLIC, "__version__"])
    said = subprocess.run([sys.executable, "-m", "hitless", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"hitless {hl.__version__}\n"


def test_what_a_notebook_shows_is_short_in_a_line_and_escaped_in_html(testbed, tmp_path):
    odd = testbed.with_("description", "<b>mine</b>")
    run = odd.run(seed=1)
    axis = {"link[0].loss.rate": [1e-3], "mechanism": {"<i>none</i>": []}}
    swept = hl.sweep(odd, axis, out=tmp_path / "<u>", progress=False)
    shown = (odd, run, run.summary, run.tables, swept, swept.plot("mean FCT"), odd.start(seed=1))
    for value in shown:
        assert "\n" not in repr(value)
        assert 5 < len(repr(value)) < 300
        page = getattr(value, "_repr_html_", lambda: "")() or getattr(value, "_repr_svg_", lambda: "")()
        assert not any(tag in page for tag in ("<b>", "<i>", "<u>"))
        assert bool(page) or value in (run.summary, shown[-1])


def test_threads_that_describe_one_run_at_the_same_time_all_get_an_answer():
    endless = hl.example("dumbbell").with_("duration", "1000 s").with_("measure", {})
    simulation = Simulation(endless.fields, file_name="dumbbell", seed=1)
    with ThreadPoolExecutor() as threads:
        run = threads.submit(simulation.run)
        try:
            while simulation.describe() is None:  # it has not started
                assert not run.done()
            answers = [threads.submit(simulation.describe) for _ in range(4)]
            assert all("events" in answer.result(timeout=20) for answer in answers)
        finally:
            simulation.cancel()
        assert isinstance(run.exception(), RunCancelled)
