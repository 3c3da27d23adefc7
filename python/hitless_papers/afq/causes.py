"""Why rows of figures 7, 8, 11, 12 and 16 differ: settings that the paper leaves open, changed one by one.

Nothing here is judged: the figures have the verdicts, with the settings that they had before these experiments.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hitless_papers import Context, Exhibit, Parts, Point, Row, Runs, exhibit
from hitless_papers.afq import incast, one_link, prototype, schemes
from hitless_papers.afq.flows import dropped
from hitless_papers.afq.open_settings import EXPERIMENT, Approximations, Incasts, Windows
from hitless_papers.afq.prototype import Testbed
from hitless_papers.afq.schemes import Scheme
from hitless_papers.afq.sizes import FRAME_BYTES
from hitless_papers.estimates import mean_in_run


@dataclass(frozen=True)
class _Change:
    """One setting of the testbed that is another than in figure 7."""

    name: str
    afq: Mapping[str, Any] | None = None
    pair: Mapping[str, Any] | None = None
    testbed: Testbed = prototype.AS_ASSUMED

    def scheme(self, scheme: Scheme) -> Scheme:
        made = scheme
        if self.afq is not None and scheme.afq is not None:
            made = made.with_afq(**self.afq)
        if self.pair is not None and scheme == prototype.PAIR_AFQ:
            made = replace(made, transport={**made.transport, **self.pair})
        return made

    def key(self, scheme: Scheme) -> str:
        """The run of a scheme, which is figure 7's where the change does not reach it."""
        is_same = self.scheme(scheme) == scheme and self.testbed == prototype.AS_ASSUMED
        return f"prototype: {scheme.name}, {_AS_IT_IS.name if is_same else self.name}"


def _rounds(frames: int, marks: int = 8) -> _Change:
    size = {"bytes_per_round": f"{frames * FRAME_BYTES} B"}
    name = f"{frames} frames a round, marks from round {marks}"
    return _Change(name, afq={**size, "ecn_rounds": marks}, pair=size)


_AS_IT_IS = _Change("as in figure 7")
_CHANGES = (
    _AS_IT_IS,
    *(_rounds(frames) for frames in (2, 4, 8)),
    _rounds(5, marks=31),
    *(_Change(f"marks from round {rounds}", afq={"ecn_rounds": rounds}) for rounds in (16, 31)),
    _Change("63 queues", afq={"queues": 63}),
    _Change("packet pair with SACK", pair={"sack": True, "rack_tlp": True}),
    _Change("packet pair, RTO of 10 ms at least", pair={"rto_min": "10 ms", "rto_initial": "10 ms"}),
    _Change("16 MB for each port", testbed=Testbed(buffer="16 MB")),
    _Change("25 connections between two hosts", testbed=Testbed(connections=25)),
)
"""Five frames a round, marked from the last of the 32 rounds on, are the 165 packets that 10 Gbps send in 200 us."""


class _Changes(Exhibit):
    """The prototype at 80 % load; incasts by their first timeout; fairness by shared cells of the sketch."""

    def points(self, context: Context) -> Iterable[Point]:
        length_ms = context.length("ms of traffic of the prototype", full=60_000, normal=1_000, quick=300)
        for change, scheme in _once():
            made = prototype.scenario(change.scheme(scheme), prototype.HIGH_LOAD, length_ms, change.testbed)
            yield Point(change.key(scheme), made, keep=prototype.TABLES)
        queries = context.length("queries for each point", full=200, normal=20, quick=5)
        for timeout in _Timeout.all():
            yield Point(timeout.key, timeout.case.scenario(queries), keep=("flows", "messages"))
        length_ms = context.length("ms of on-off traffic", full=1_000, quick=200)
        for sharing in _SHARING:
            yield Point(sharing.key, sharing.scenario(length_ms), keep=("flows",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for change in _CHANGES:
            yield from _of_change(change, runs)
        for timeout in _Timeout.all():
            yield timeout.row(runs)
        for sharing in _SHARING:
            run = runs[sharing.key]
            note = "every sender within a burst of the others" if one_link.within_a_burst(run) else ""
            x = f"{sharing.flows:,} flows, {sharing.buffers.per_port}"
            value = one_link.unfairness(run)
            yield Row(sharing.scheme.name, x, one_link.UNFAIRNESS, "", value, judge=EXPERIMENT, note=note)


def _once() -> Iterator[tuple[_Change, Scheme]]:
    """Yield each change with the schemes that it changes."""
    done = set()
    for change in _CHANGES:
        for scheme in prototype.SCHEMES:
            if change.key(scheme) not in done:
                done.add(change.key(scheme))
                yield change, scheme


def _of_change(change: _Change, runs: Runs) -> Iterator[Row]:
    of = {scheme.name: runs[change.key(scheme)] for scheme in prototype.SCHEMES}
    group = prototype.compared(of)
    for row in (*prototype.gains(group, change.name), prototype.pairs_are_better(group, change.name)):
        yield replace(row, paper=None, judge=EXPERIMENT, note="")
    for name in (prototype.DCTCP_AFQ.name, prototype.PAIR_AFQ.name):
        begun = len(of[name].table("messages"))
        again = int(of[name].table("flows")["packets_retransmitted"].sum())
        note = f"{again:,} packets sent again, {int(of[name].table('flows')['timeouts'].sum()):,} timeouts"
        value = dropped(of[name]) / begun
        yield Row(name, change.name, "packets dropped per flow", "", value, judge=EXPERIMENT, note=note)


@dataclass(frozen=True)
class _Timeout:
    """An incast with another timeout before the first round-trip time is known."""

    ms: float
    scheme: Scheme
    senders: int

    @classmethod
    def all(cls) -> Iterator["_Timeout"]:
        """Yield timeouts from the minimum of the simulations to five times figure 11's."""
        for senders in incast.SENDERS[-2:]:
            for scheme in (schemes.DROP_TAIL, schemes.DCTCP_MARKING, schemes.PAIR_AFQ, schemes.IDEAL):
                for ms in (0.2, 0.5, 1.0, 2.0, 5.0):
                    yield cls(ms, scheme, senders)

    @property
    def case(self) -> incast.IncastCase:
        transport = {**self.scheme.transport, "rto_initial": f"{round(1e3 * self.ms)} us"}
        return incast.IncastCase(replace(self.scheme, transport=transport), self.senders)

    @property
    def key(self) -> str:
        return f"incast: {self.case.key}, first timeout {self.ms:g} ms"

    def row(self, runs: Runs) -> Row:
        run = runs[self.key]
        sample, ideal = incast.completion_ms(run), incast.ideal_ms(self.senders)
        x, metric = f"{self.senders} senders, first timeout {self.ms:g} ms", "completion time over ideal"
        note = f"{dropped(run) / incast.queries_begun(run):.0f} packets dropped for each query"
        over = mean_in_run(sample).scaled(1 / ideal)
        of = (incast.share(self.case, run),)
        return over.row(self.scheme.name, x, metric, None, EXPERIMENT, note=note, completed=of)


def _sharing(flows: int, rows: int, columns: int, per_port: str) -> one_link.Sharing:
    scheme = replace(
        one_link.DCTCP_AFQ.with_afq(sketch={"rows": rows, "columns": columns}), name=f"AFQ {rows} x {columns:,}"
    )
    return one_link.Sharing(scheme, flows, replace(one_link.AMPLE, per_port=per_port))


_SHARING = (
    *(_sharing(flows, 2, columns, "16 MB") for flows in (512, 2_048) for columns in (16_384, 262_144)),
    _sharing(2_048, 4, 16_384, "16 MB"),
    *(_sharing(2_048, 2, columns, "64 MB") for columns in (16_384, 262_144)),
)
"""More cells with the same queue, and a longer queue with the same cells."""


@exhibit("afq/causes", title="Why rows of figures 7, 8, 11, 12 and 16 differ: settings changed one by one")
class Causes(Parts):
    parts = (_Changes, Incasts, Windows, Approximations)
