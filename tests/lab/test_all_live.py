"""The exhibit all/live without its labs: which counts are judged, and how."""

import pytest

from hitless.errors import BadInput, HitlessError
from hitless.live import check_live
from hitless.simulation import Run, Summary
from hitless_papers import Context, Runs
from hitless_papers.together import live
from hitless_papers.together.lab_work import LabWork
from hitless_papers.together.scenes import PLAIN, overtaken, scenes

FAILS = {
    "lost": 40,
    "corrupted": 40,
    "sent again": 12,
    "sent needlessly": 1,
    "out of order": 9,
    "bytes": 1,
    "lost on the link": 40,
    "longest gap ms": 30.0,
    "share of TCP": 0.05,
    "Jain's index": 0.35,
    "reordered": 0,
    "acted": 0,
    "share of the urgent": 0.4,
    "share of the others": 0.4,
}
WORKS = FAILS | {
    "lost": 0,
    "sent again": 0,
    "out of order": 0,
    "share of TCP": 0.66,
    "Jain's index": 0.99,
    "acted": 100,
    "share of the urgent": 1.0,
    "share of the others": 0.8,
}


@pytest.fixture
def exhibit(monkeypatch):
    monkeypatch.setattr(live, "why_no_labs", lambda: None)
    return live.Live()


def run(counts, warnings=()):
    ports = [{"departures": {"worst_ns": 1_000_000}}]
    status = {"is_overloaded": bool(warnings), "warnings": list(warnings), "ports": ports}
    return Run("", Summary({"counts": counts, "status": status}))


def verdicts(exhibit, counts_of):
    context = Context(effort="quick")
    runs = Runs({point.key: counts_of(point.key) for point in exhibit.points(context)})
    return {(row.series, row.x, row.metric): row for row in exhibit.rows(runs, context)}


def test_what_works_beside_a_plain_switch_that_fails_is_a_match(exhibit):
    rows = verdicts(exhibit, lambda key: run(FAILS if PLAIN in key else WORKS))
    judged = [row for row in rows.values() if row.judge.name == "shape"]
    assert len(judged) == 16
    assert {row.verdict for row in judged} == {"match"}
    assert all(row.verdict == "unjudged" for row in rows.values() if row.series == PLAIN)


@pytest.mark.parametrize("counts", [FAILS, WORKS], ids=["both fail", "both work"])
def test_where_the_plain_switch_does_not_fail_or_the_system_does_it_differs(exhibit, counts):
    rows = verdicts(exhibit, lambda _: run(counts))
    judged = [row for row in rows.values() if row.judge.name == "shape"]
    # A plain switch keeps the order, too.
    kept = {"datagrams that another had overtaken", "segments out of order at the kernel's receiver"}
    assert {row.verdict for row in judged if row.metric not in kept} == {"differs"}


def test_a_lab_that_could_not_keep_up_is_not_judged_nor_what_is_compared_with_it(exhibit):
    late = "3 of 9 departures were late"
    rows = verdicts(
        exhibit, lambda key: run(FAILS if PLAIN in key else WORKS, [late] if key == f"AFQ, {PLAIN}" else [])
    )
    of_afq = [row for row in rows.values() if row.series == "AFQ"]
    assert {row.verdict for row in of_afq} == {"unjudged"}
    assert all(late in row.full_note for row in of_afq)
    assert any(row.verdict == "match" for row in rows.values())


def test_without_labs_there_are_no_rows_and_the_reason_is_told(monkeypatch):
    reason = BadInput("a lab needs CAP_NET_ADMIN", hint="run it as root")
    monkeypatch.setattr(live, "why_no_labs", lambda: reason)
    exhibit, context = live.Live(), Context(effort="quick")
    (point,) = exhibit.points(context)
    with pytest.raises(HitlessError, match="CAP_NET_ADMIN") as refused:
        point.work.job(file_name="all/live", seed=1)
    assert refused.value.hint == "run it as root"
    assert list(exhibit.rows(Runs({}), context)) == []


def test_every_scene_may_run_live_and_only_its_variants_differ():
    for scene in scenes(4):
        assert next(iter(scene.variants)) == PLAIN
        assert scene.system in live.METRICS
        for variant in scene.variants:
            effective = check_live(f"seed = 7\n{scene.scenario(variant)}", "scene.toml").effective
            assert effective["seed"] == 7
            assert bool(effective.get("mechanism")) is (variant != PLAIN)


def test_a_lab_is_the_work_of_a_seed():
    scene = scenes(1)[0]
    job = LabWork(scene.scenario(PLAIN), scene.drive, scene.seconds).job(file_name="x", seed=None)
    assert (job.seed, job.progress) == (1, 0.0)


@pytest.mark.parametrize(
    ("numbers", "late"), [([], 0), ([0, 1, 2], 0), ([0, 2, 1, 3], 1), ([3, 0, 1, 2], 3), ([1, 1], 0)]
)
def test_who_comes_after_a_higher_number_was_overtaken(numbers, late):
    assert overtaken(numbers) == late
