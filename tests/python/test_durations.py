"""Durations of exhibits: the stored ones, and their display."""

import json

import pytest

from hitless.errors import BadInput
from hitless.terminal.progress import ProgressDisplay
from hitless_papers import durations


@pytest.fixture
def folder(tmp_path):
    def make(name, runs, *, incomplete=(), seeds=(1,)):
        path = tmp_path / name
        path.mkdir()
        exhibits = [{"id": one, "seeds": seeds} for one in dict.fromkeys(run["name"].split()[0] for run in runs)]
        (path / "summary.json").write_text(json.dumps({"exhibits": exhibits}))
        manifest = {"effort": "quick", "incomplete": list(incomplete), "runs": runs}
        (path / "manifest.json").write_text(json.dumps(manifest))
        return path

    return make


def _run(name, cpu_s, *, was_kept=False):
    return {"name": name, "cpu_s": cpu_s, "was_kept": was_kept}


def test_a_run_refreshes_what_is_kept(folder, tmp_path):
    kept = tmp_path / "durations.json"
    runs = [
        _run("lg/fig8 a", 3.0),
        _run("lg/fig8 b", 5.0),
        _run("lg/fig88 a", 1.0),
        _run("pd/fig5 a", 0.0, was_kept=True),
    ]
    assert durations.refresh([folder("one", runs)], kept) == ["lg/fig8", "lg/fig88"]
    assert durations.refresh([folder("two", [_run("lg/fig8 a", 2.0)], incomplete=["lg/fig8"])], kept) == []
    durations.refresh([folder("three", [_run("lg/fig88 a", 4.0)])], kept)
    known = durations.known(kept)
    assert known["lg/fig8", "quick"].on(1) == 8.0
    assert known["lg/fig8", "quick"].on(4) == 5.0
    assert known["lg/fig88", "quick"].cpu_s == 4.0
    durations.refresh([folder("four", [_run(f"lg/fig88 seed {n} a", n) for n in (1, 2)], seeds=(1, 2))], kept)
    assert durations.known(kept)["lg/fig88", "quick"].cpu_s == 1.5, "of one seed"


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no results"):
        durations.refresh([tmp_path], tmp_path / "durations.json")


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (47.4, "47 s"), (600, "10 min"), (3 * 3600, "3 h")])
def test_durations_in_words(seconds, words):
    assert durations.in_words(seconds) == words


def test_an_estimate_needs_every_exhibit(folder, tmp_path, monkeypatch):
    kept = tmp_path / "durations.json"
    durations.refresh([folder("one", [_run("lg/fig8 a", 3.0), _run("lg/tab3 a", 5.0)])], kept)
    found = durations.known(kept)
    monkeypatch.setattr(durations, "known", lambda: found)
    assert durations.estimate({"lg/fig8": 1, "lg/tab3": 1}, "quick", 1) == 8.0
    assert durations.estimate({"lg/fig8": 3, "lg/tab3": 1}, "quick", 1) == 14.0
    assert durations.estimate({"lg/fig8": 1, "lg/tab3": 1}, "quick", 8) == 5.0
    assert durations.estimate({"lg/fig8": 1, "lg/fig9": 1}, "quick", 1) is None


class _Waiting:
    name, progress, done, weight = "lg/fig8 LG", 0.0, False, 1.0


def test_short_runs_hardly_count():
    """A campaign has 10,000 short runs of maps: after half of the work an estimate said that five hours were left."""
    long, short = _Waiting(), [_Waiting() for _ in range(99)]
    long.progress, long.weight = 1.0, 99.0
    line = ProgressDisplay("simulating")._line([long, *short], 30.0)
    assert line == "simulating, 0 of 100 runs: 50% after 30 s, about 30 s left; now lg/fig8 LG"


def test_a_last_progress_line_now():
    line = ProgressDisplay("simulating")._line([_Waiting(), _Waiting()], 10.0)
    assert line == "simulating, 0 of 2 runs: 0% after 10 s"


@pytest.mark.parametrize(
    ("share", "elapsed_s", "says"),
    [
        (0.25, 30.0, "25% after 30 s, about 1 min 30 s left"),
        (0.001, 30.0, "0.10% after 30 s"),
        (0.001, 75.0, "0.10% after 1 min 15 s, about 20 h 48 min left"),
        (0.5, 7200.0, "50% after 2 h, about 2 h left"),
    ],
)
def test_what_is_left_is_told_after_a_minute_however_little_is_done(share, elapsed_s, says):
    part = _Waiting()
    part.progress = share
    assert ProgressDisplay("run")._line([part], elapsed_s) == f"run: {says}; now lg/fig8 LG"
