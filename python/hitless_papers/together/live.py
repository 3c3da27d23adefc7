"""The five systems on real packets (beyond the papers): a lab for each, without it and with it, under the same traffic.

Hosts are network namespaces with this machine's unmodified kernel; switches, links and what goes wrong with them are
those of a lab (`hitless lab up`). It needs root and network namespaces. Only counts are judged, which a machine
that is late does not move; a lab that was more than 20 ms late, or lost frames at its edge, is not judged.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit
from hitless_papers.judge import Judge
from hitless_papers.together.lab_work import SLACK_US, Counts, LabWork, NoLab, why_no_labs
from hitless_papers.together.scenes import ALPHAS, PLAIN, Scene, scenes

_PREEMPTIVE = [f"Preemptive Deflection, alpha {alpha:g}" for alpha in ALPHAS]
_REPLICAS = {"quick": 1, "normal": 2, "full": 5}


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim about a system: ``holds`` gets the counts without it and with it."""

    statement: str
    holds: Callable[[Counts, Counts], bool]


@dataclass(frozen=True, slots=True)
class Metric:
    """A count that is shown of every variant of a scene, and judged of those that claim something of it."""

    count: str
    text: str
    unit: str
    claims: Mapping[str, Claim]


def _none_left(count: str, series: str, of: str) -> Mapping[str, Claim]:
    def holds(plain: Counts, ours: Counts) -> bool:
        return plain[count] > 0 and ours[count] == 0

    return {series: Claim(f"{of} without {series}, and none with it", holds)}


def _sent_again(series: str, of: str) -> Metric:
    claims = _none_left("sent again", series, of)
    return Metric("sent again", "segments that kernel TCP had to retransmit", "segments", claims)


def _out_of_order(claims: Mapping[str, Claim]) -> Metric:
    return Metric("out of order", "segments out of order at the kernel's receiver", "segments", claims)


_NEEDLESS = Metric("sent needlessly", "segments that it retransmitted though they had arrived", "segments", {})
METRICS: Mapping[str, Sequence[Metric]] = {
    "LinkGuardian": (
        Metric("lost", "packets lost", "packets", _none_left("lost", "LinkGuardian", "packets are lost")),
        Metric("corrupted", "frames corrupted on the link", "frames", {}),
        _sent_again("LinkGuardian", "TCP retransmits"),
        _NEEDLESS,
        _out_of_order({}),
        Metric("bytes", "delivered by TCP", "B", {}),
    ),
    "SQR": (
        Metric("lost", "packets lost", "packets", _none_left("lost", "SQR", "cuts cost packets")),
        _sent_again("SQR", "TCP retransmits after cuts"),
        _NEEDLESS,
        _out_of_order({}),
        Metric("lost on the link", "frames lost on the link before its failure was known", "frames", {}),
        Metric("longest gap ms", "longest gap in TCP's delivery", "ms", {}),
    ),
    "AFQ": (
        Metric(
            "share of TCP",
            "share of the bottleneck that two TCP flows of three flows have",
            "",
            {
                "AFQ": Claim(
                    "UDP leaves TCP less than half of its share of 2/3 without AFQ, and with it nine tenths or more",
                    lambda plain, ours: plain["share of TCP"] < 1 / 3 and ours["share of TCP"] >= 0.6,
                )
            },
        ),
        Metric(
            "Jain's index",
            "Jain's index of the three",
            "",
            {
                "AFQ": Claim(
                    "Jain's index is below 0.5 without AFQ, and above 0.9 with it",
                    lambda plain, ours: plain["Jain's index"] < 0.5 and ours["Jain's index"] > 0.9,
                )
            },
        ),
    ),
    "RIMM": (
        Metric("lost", "datagrams lost", "datagrams", _none_left("lost", "RIMM", "microbursts overflow the queue")),
        Metric(
            "reordered",
            "datagrams that another had overtaken",
            "datagrams",
            {"RIMM": Claim("what is detoured comes in order", lambda _, ours: ours["reordered"] == 0 < ours["acted"])},
        ),
        _sent_again("RIMM", "TCP beside them retransmits"),
        _NEEDLESS,
        _out_of_order(
            {"RIMM": Claim("the kernel's receiver sees no reordering", lambda _, ours: ours["out of order"] == 0)}
        ),
    ),
    "deflection": (
        Metric(
            "share of the urgent",
            "share delivered of datagrams marked as urgent (DSCP EF)",
            "",
            {
                "Simple Deflection": Claim(
                    "a plain switch loses urgent packets like all others, and Simple Deflection fewer",
                    lambda plain, ours: plain["share of the urgent"] < ours["share of the urgent"],
                ),
                **{
                    series: Claim(
                        f"a plain switch loses one urgent packet in ten or more, {series} one in 100 or fewer",
                        lambda plain, ours: plain["share of the urgent"] <= 0.9 and ours["share of the urgent"] >= 0.99,
                    )
                    for series in _PREEMPTIVE
                },
            },
        ),
        Metric(
            "share of the others",
            "share delivered of the others",
            "",
            {
                series: Claim(
                    f"{series} delivers more of the others too: none pays for the urgent",
                    lambda plain, ours: ours["share of the others"] > plain["share of the others"],
                )
                for series in ("Simple Deflection", *_PREEMPTIVE)
            },
        ),
    ),
}


@exhibit("all/live", title="The five systems on real packets: kernel TCP and UDP through labs (needs root)")
class Live(Exhibit):
    """A lab for each system and each variant, one after the other."""

    _scenes: Sequence[Scene] = ()
    _labs = 1

    @property
    def own_seeds(self) -> int:
        return self._labs

    def points(self, context: Context) -> Iterable[Point]:
        reason = why_no_labs()
        if reason is not None:
            yield Point("no labs", NoLab(reason))
            return
        bursts = context.length("bursts, cuts or seconds in a lab", full=20, normal=8, quick=4)
        self._scenes = scenes(bursts)
        self._labs = _REPLICAS[context.effort]
        for replica in range(self._labs):
            for scene in self._scenes:
                for series in scene.variants:
                    work = LabWork(scene.scenario(series), scene.drive, scene.seconds)
                    yield Point(_key(scene, series, replica), work, replica=replica)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scene in self._scenes:
            for metric in METRICS[scene.system]:
                yield from _rows(scene, metric, runs, self._labs)


def _key(scene: Scene, series: str, replica: int) -> str:
    return f"{scene.system}, {series}" + (f", {replica + 1}" if replica else "")


def _rows(scene: Scene, metric: Metric, runs: Runs, replicas: int) -> Iterator[Row]:
    found = {series: [runs[_key(scene, series, number)] for number in range(replicas)] for series in scene.variants}
    for series, labs in found.items():
        values = [_counts(lab)[metric.count] for lab in labs]
        judge = _judge(metric.claims.get(series), series, found[PLAIN], labs)
        mean = sum(values) / len(values)
        yield Row(series, scene.x, metric.text, metric.unit, mean, judge=judge, note=f"{_note(labs)}; {scene.settings}")


def _judge(claim: Claim | None, series: str, plain: Sequence[Run], ours: Sequence[Run]) -> Judge:
    if series == PLAIN:
        return Unjudged("what the systems are compared with")
    if claim is None:
        return Unjudged("nothing is claimed of it")
    late = [doubt for run in (*plain, *ours) if (doubt := doubts(run))]
    if late:
        return Unjudged(f"a lab could not keep up: {late[0]}")
    pairs = zip(plain, ours, strict=True)
    return Shape(all(claim.holds(_counts(one), _counts(other)) for one, other in pairs), claim.statement)


def doubts(run: Run) -> str:
    """Return the reason why a lab's counts are unreliable, or an empty text."""
    status = run.summary["status"]
    return "; ".join(status["warnings"]) if status["is_overloaded"] else ""


def _counts(run: Run) -> Counts:
    counts: Counts = run.summary["counts"]
    return counts


def _note(labs: Sequence[Run]) -> str:
    """Say how late the labs were: a slow machine is late."""
    worst_ns = max(port["departures"]["worst_ns"] for lab in labs for port in lab.summary["status"]["ports"])
    several = f"mean of {len(labs)} labs, each of which is judged; " if len(labs) > 1 else ""
    return f"{several}late by {worst_ns / 1e6:.1f} ms at most, of {SLACK_US / 1e3:.0f} ms allowed"
