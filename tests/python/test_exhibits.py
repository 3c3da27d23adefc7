"""From points to rows: seeds, lengths, selection, failures, and stopping early."""

import threading
import time

import pytest

from hitless.errors import BadInput
from hitless.runs.pool import Pool, Task
from hitless.simulation import Run, Summary
from hitless_papers import Context, Exhibit, Point, exhibit
from hitless_papers.campaign import Campaign
from hitless_papers.registry import Entry, entries, select


def _results(ids, **options):
    return {result.id: result for result in Campaign(select(ids), **options).results()}


def test_points_of_one_replica_share_a_seed_and_others_do_not():
    seeds = [Point("p", {}, replica=replica).seed(1) for replica in range(100)]
    assert seeds[0] == 1
    assert len(set(seeds)) == 100
    assert seeds == [Point("q", {}, replica=replica).seed(1) for replica in range(100)]
    assert Point("p", {}, replica=1).seed(2) != seeds[1]
    assert all(seed < 2**48 for seed in seeds)


@pytest.mark.parametrize(("effort", "length"), [("quick", 10), ("normal", 100), ("full", 1000)])
def test_what_is_shortened_is_noted_once(effort, length):
    context = Context(effort=effort)
    assert context.length("trials", full=1000, normal=100, quick=10) == length
    assert context.length("trials", full=1000, normal=100, quick=10) == length
    assert context.shortened == ([] if effort == "full" else [f"{length} trials instead of 1,000"])


def test_without_a_normal_length_normal_is_full():
    assert Context(effort="normal").length("trials", full=1000, quick=10) == 1000


class _Count:
    """Work without a simulation: its job counts up to its seed."""

    def __init__(self, fails=False):
        self.fails = fails

    def job(self, *, file_name, seed):
        return _CountJob(file_name, seed, self.fails)


class _CountJob:
    progress = 0.5

    def __init__(self, file_name, seed, fails):
        self.file_name, self.seed, self.fails = file_name, seed, fails

    def cancel(self):
        raise AssertionError("nobody cancels what is done at once")

    def run(self, keep=None):
        if self.fails:
            raise BadInput("it cannot count", where=self.file_name)
        return Run("", Summary({"seed": self.seed, "kept": keep}))


def test_a_point_may_be_work_of_any_kind():
    points = [Point("sum", _Count(), keep=("t",)), Point("other seed", _Count(), 1), Point("bad", _Count(fails=True))]
    tasks = [Task("demo", point, point.seed(7)) for point in points]
    assert len(list(Pool(2).run(tasks, lambda _: None))) == 3
    assert tasks[0].run.summary.values == {"seed": 7, "kept": ("t",)}
    assert tasks[1].run.summary.values["seed"] == points[1].seed(7) != 7
    assert tasks[2].failure.where == "demo bad"
    assert [task.progress for task in tasks] == [1.0, 1.0, 1.0]


def test_headlines_run_when_none_is_named():
    assert [entry.id for entry in select([])] == ["demo/fig1", "demo/tab2"]


def test_a_bare_paper_means_all_of_its_exhibits_each_once():
    assert select(["demo", "demo/fig1"]) == entries()


@pytest.mark.parametrize(("wanted", "hint"), [("demo/fig2", "demo/fig1"), ("dmeo", "demo"), ("zzz", "--list")])
def test_an_unknown_exhibit_is_refused_with_a_hint(wanted, hint):
    with pytest.raises(BadInput) as refused:
        select([wanted])
    assert hint in refused.value.hint


def test_an_id_is_used_once_and_names_its_paper():
    for wrong in ("demo/fig1", "fig1"):
        with pytest.raises(ValueError, match="PAPER/NAME"):
            exhibit(wrong, title="again")(object)


def test_results_do_not_depend_on_the_number_of_jobs():
    alone, together = (_results(["demo/fig1"], effort="quick", jobs=jobs)["demo/fig1"] for jobs in (1, 4))
    assert [row.as_json() for row in alone.rows] == [row.as_json() for row in together.rows]


def test_the_seed_reaches_the_runs():
    first, second = (_results(["demo/fig1"], effort="quick", seed=seed)["demo/fig1"] for seed in (1, 2))
    assert first.rows[0].measured != second.rows[0].measured
    assert first.as_json()["seed"] == 1


def test_tables_are_kept_as_asked_and_let_go_afterwards():
    result = _results(["demo/fig1"], effort="quick")["demo/fig1"]
    assert set(result.tables) == {"messages none", "messages LG", "messages loss"}
    assert all(task.run is not None and not task.run.tables for task in result.tasks)


def test_a_failed_point_keeps_the_rows_before_it():
    result = _results(["demo/failing"])["demo/failing"]
    assert [row.series for row in result.rows] == ["good"]
    assert "3 packets are missing" in str(result.failures[0])
    assert not result.complete


def test_an_exhibit_with_a_fault_costs_the_others_nothing():
    results = _results(["demo/broken", "demo/tab2"])
    assert "mean of nothing" in str(results["demo/broken"].failures[0])
    assert results["demo/tab2"].complete


def test_stopping_early_keeps_what_is_done():
    campaign = Campaign(select(["demo/slow", "demo/tab2"]), jobs=2)
    began = time.monotonic()
    threading.Timer(1.0, campaign.stop).start()
    results = {result.id: result for result in campaign.results()}
    assert time.monotonic() - began < 15.0
    assert [row.x for row in results["demo/slow"].rows] == ["0", "1"]
    assert not results["demo/slow"].complete
    assert results["demo/tab2"].complete
    assert campaign.interrupted


def test_chosen_points_run_alone():
    results = _results(["demo/slow", "demo/tab2", "demo/long"], patterns=["point 0", "* 1"], jobs=8)
    assert {name: [task.point.key for task in result.tasks] for name, result in results.items()} == {
        "demo/slow": ["point 0", "point 1"],
        "demo/long": ["point 0", "point 1"],
    }
    assert [row.x for row in results["demo/slow"].rows] == ["0", "1"]
    assert not results["demo/slow"].complete
    assert results["demo/slow"].shortened == ["2 of 8 points"]


def test_a_chosen_point_has_the_seed_that_it_has_among_all():
    [alone] = Campaign(select(["demo/long"]), patterns=["point 3"]).tasks
    assert alone.seed == Campaign(select(["demo/long"])).tasks[3].seed


def test_what_matches_no_point_is_refused_with_the_points_there_are():
    with pytest.raises(BadInput, match="no point matches 'Point 0'") as refused:
        Campaign(select(["demo/slow"]), patterns=["Point 0"])
    assert "'point 0', 'point 1'" in refused.value.hint
    with pytest.raises(BadInput) as refused:
        Campaign(select(["demo/tab2"]), patterns=["*"])
    assert "arithmetic" in refused.value.hint


def test_progress_is_seen_while_points_run():
    seen = []
    campaign = Campaign(select(["demo/slow"]), jobs=8)
    threading.Timer(4.0, campaign.stop).start()
    for _ in campaign.results(lambda tasks: seen.append(sum(task.progress for task in tasks) / len(tasks))):
        pass
    assert any(0.2 < share < 0.9 for share in seen)


def test_whoever_is_called_with_each_task_sees_its_tables_even_of_two_that_are_done_at_once():
    class Two(Exhibit):
        def points(self, context):
            yield from (Point(name, {"messages": 10}, keep=("messages",)) for name in ("a", "b"))

        def rows(self, runs, context):
            return ()

    seen = []

    def each(task):
        time.sleep(0.3)  # the other one finishes meanwhile
        seen.append(task.run.table("messages").height)

    campaign = Campaign([Entry("demo/two", "Two", headline=False, make=Two)], jobs=2)
    list(campaign.results(each=each))
    assert seen == [10, 10]
