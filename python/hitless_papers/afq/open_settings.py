"""Experiments of `afq/causes` on the cluster: incasts, initial windows, and what AFQ approximates."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hitless_papers import Context, Exhibit, Point, Row, Runs, Unjudged
from hitless_papers.afq import cluster, flows, incast, load_sweep, ratios, schemes
from hitless_papers.afq.flows import ALL_FLOWS, SHORT_FLOWS
from hitless_papers.afq.sizes import ENTERPRISE, PARETO
from hitless_papers.estimates import mean_in_run

EXPERIMENT = Unjudged("an experiment, judged in the figure with its own settings")

_SENDERS = incast.SENDERS[-3:]
_LOAD, _MS = 70, 10
"""Of figure 8."""
_WINDOWS = (1, 2, 3, 4, 10)
_FULL = "shared buffer full"


@dataclass(frozen=True)
class _Incast:
    name: str
    senders: int
    transport: Mapping[str, Any] = field(default_factory=dict)
    host_buffer: str = incast.HOST_BUFFER

    @property
    def case(self) -> incast.IncastCase:
        scheme = replace(schemes.PAIR_AFQ, transport={**schemes.PACKET_PAIR, **self.transport})
        return incast.IncastCase(scheme, self.senders, self.host_buffer)

    @property
    def key(self) -> str:
        return f"incast: {self.senders} senders, {self.name}"

    def rows(self, runs: Runs) -> Iterator[Row]:
        run, x = runs[self.key], f"{self.senders} senders, {self.name}"
        over = mean_in_run(incast.completion_ms(run)).scaled(1 / incast.ideal_ms(self.senders))
        of = (incast.share(self.case, run),)
        note = f"{int(run.table('flows')['timeouts'].sum()):,} timeouts"
        yield over.row("AFQ", x, "completion time over ideal", None, EXPERIMENT, note=note, completed=of)
        ahead = run.counter("packets_dropped_too_far_ahead")
        for reason, count in ((_FULL, run.summary.drops.get(_FULL, 0)), ("too far ahead", ahead)):
            value = count / incast.queries_begun(run)
            yield Row("AFQ", x, f"packets dropped for each query: {reason}", "", value, judge=EXPERIMENT)


def _incasts() -> Iterator[_Incast]:
    for senders in _SENDERS:
        yield _Incast("as in figure 11", senders)
        yield _Incast("SACK and RACK", senders, {"sack": True, "rack_tlp": True})
        yield _Incast("RTO of 2 ms at least", senders, {"rto_min": "2 ms"})
        yield _Incast("1 MB for the client's port", senders, host_buffer="1 MB")


def _window(segments: int) -> schemes.Scheme:
    transport = {**schemes.DCTCP, "initial_window": segments}
    return replace(schemes.DCTCP_MARKING, name=f"DCTCP, window {segments}", transport=transport)


_COMPARED = (schemes.PAIR_AFQ, *map(_window, _WINDOWS))


class Incasts(Exhibit):
    """What makes incasts of 128 and 256 senders late: the client's buffer, and how losses in it are repaired."""

    def points(self, context: Context) -> Iterable[Point]:
        queries = context.length("queries for each point", full=200, normal=20, quick=5)
        for one in _incasts():
            yield Point(one.key, one.case.scenario(queries), keep=flows.TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for one in _incasts():
            yield from one.rows(runs)


class Windows(Exhibit):
    """DCTCP's initial window in figure 8."""

    def points(self, context: Context) -> Iterable[Point]:
        for scheme in _COMPARED:
            case = cluster.ClusterCase(PARETO, _LOAD, scheme)
            yield Point(f"windows: {case.key}", case.scenario(_MS, {}), keep=cluster.TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        cases = [cluster.ClusterCase(PARETO, _LOAD, scheme) for scheme in _COMPARED]
        flows = cluster.compared(Runs({case.key: runs[f"windows: {case.key}"] for case in cases}), cases)
        for scheme in _COMPARED[1:]:
            for words, ratio in (
                (f"mean FCT of {SHORT_FLOWS}", ratios.mean(flows.short, scheme.name, "AFQ")),
                (f"p99 FCT of {SHORT_FLOWS}", ratios.tail(flows.short, scheme.name, "AFQ")),
                (f"mean FCT of {ALL_FLOWS}", ratios.mean(flows, scheme.name, "AFQ")),
            ):
                metric = f"{words}, {scheme.name} over it"
                yield ratio.row("AFQ", f"{_LOAD} %", metric, None, EXPERIMENT)


_USED = 90
_APPROXIMATIONS = (
    schemes.IDEAL,
    schemes.PAIR_AFQ,
    replace(schemes.PAIR_AFQ.with_afq(sketch={"rows": 4, "columns": 262_144}), name="AFQ, 4 x 262,144 cells"),
    replace(schemes.PAIR_AFQ.with_afq(bytes_per_round="500 B", queues=63), name="AFQ, 63 rounds of 500 B"),
)


class Approximations(Exhibit):
    """AFQ over Ideal-FQ at 90 % use of the core links, with more cells and with shorter rounds."""

    def points(self, context: Context) -> Iterable[Point]:
        for case in self._cases():
            yield Point(f"approximations: {case.key}", case.scenario(load_sweep.USED_MS, {}), keep=cluster.TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        cases = self._cases()
        flows = cluster.compared(Runs({case.key: runs[f"approximations: {case.key}"] for case in cases}), cases)
        for scheme in _APPROXIMATIONS[1:]:
            over = ratios.mean(flows.short, scheme.name, schemes.IDEAL.name)
            yield over.row(
                scheme.name, f"{_USED} % used", f"mean FCT of {SHORT_FLOWS}, over Ideal-FQ", None, EXPERIMENT
            )

    @staticmethod
    def _cases() -> list[cluster.ClusterCase]:
        return [cluster.ClusterCase(ENTERPRISE, load_sweep.OFFERED[_USED], scheme) for scheme in _APPROXIMATIONS]
