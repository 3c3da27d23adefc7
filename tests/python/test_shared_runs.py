"""Points of a batch with the same scenario, seed and tables share a run; all others have their own."""

from hitless.runs.batch import Batch
from hitless.runs.point import Point
from hitless.runs.pool import Task
from hitless.simulation import PacketSimulation, Run, Summary


class Counted:
    """Takes the place of a simulation."""

    def __init__(self, scenario, seed, ran):
        self.progress, self._is, self._ran = 0.0, (scenario, seed), ran

    def cancel(self):
        pass

    def run(self, keep=None):
        self._ran.append(self._is)
        return Run(str(self._is), Summary({}))


def test_equal_points_run_once_and_all_of_them_end_with_the_run(monkeypatch):
    ran = []
    make = lambda work, *, file_name, seed: Counted(str(work.scenario), seed, ran)  # noqa: E731
    monkeypatch.setattr(PacketSimulation, "job", make)
    points = [
        ("one/a", Point("x", {"name": "s"}, keep=("flows",)), 1),
        ("two/a", Point("y", PacketSimulation({"name": "s"}), keep=["flows"]), 1),
        ("other seed", Point("x", {"name": "s"}, keep=("flows",)), 2),
        ("other tables", Point("x", {"name": "s"}), 1),
        ("other scenario", Point("x", {"name": "t"}, keep=("flows",)), 1),
        ("reduced", Point("x", {"name": "s"}, keep=("flows",), reduce=lambda run: run), 1),
    ]
    tasks = [Task(name, point, seed) for name, point, seed in points]
    seen = []
    done = []
    for task in Batch(tasks, jobs=1).run(lambda all_of_them: seen.append(len(all_of_them))):
        done.append((task, task.run))
        task.run = None
    for task, run in done:
        task.run = run
    done = [task for task, _ in done]
    assert set(done) == set(tasks)
    assert len(done) == len(tasks)
    assert all(task.run is not None and task.done for task in tasks)
    assert tasks[1].run is tasks[0].run
    assert len({id(task.run) for task in tasks}) == len(tasks) - 1
    assert len(ran) == len(tasks) - 1
    assert set(seen) == {len(tasks)}


def test_work_of_other_kinds_and_runs_with_files_of_their_own_are_never_shared(monkeypatch):
    ran = []
    make = lambda work, *, file_name, seed: Counted(str(work.scenario), seed, ran)  # noqa: E731
    monkeypatch.setattr(PacketSimulation, "job", make)
    from hitless.simulation import RowsFolder

    works = [PacketSimulation("a = 1", rows=RowsFolder()) for _ in range(2)]
    list(Batch([Task("t", Point(str(n), work), 1) for n, work in enumerate(works)], jobs=1).run(lambda _: None))
    assert len(ran) == 2
