"""100,000 connections on one link of 10 Gbps, each of which sends 10 KB about once a second: 8.5 Gbps in all.

The sketch needs room for the flows that have packets in the buffer, not for all that are open (section 3.4 and appendix
E): what it gets wrong is measured beside Ideal-FQ, which keeps exact accounts.
"""

from collections.abc import Iterable, Iterator

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Share
from hitless_papers.afq import flows, one_link, schemes
from hitless_papers.afq.flows import TABLES, dropped_per_flow, misestimated
from hitless_papers.afq.schemes import Scheme
from hitless_papers.estimates import percentile_of

_CONNECTIONS = 100_000
_HOSTS = 100
_PERIOD_S = 1.0


def _afq(columns: int) -> Scheme:
    sketch = {"rows": 2, "columns": columns}
    afq = {**schemes.AFQ, "sketch": sketch, "measure_estimation": True}
    return Scheme(f"DCTCP+AFQ, sketch 2 x {columns:,}", schemes.DCTCP, afq=afq)


_SCHEMES = (
    Scheme("DCTCP", schemes.DCTCP, marks=True),
    *map(_afq, (128, 1_024, 16_384)),
    Scheme("DCTCP+Ideal-FQ", schemes.DCTCP, flow_queueing=schemes.IDEAL_FQ),
)


class ManyFlows(Exhibit):
    """Completion times of 10 KB, and how often the sketch was wrong."""

    def points(self, context: Context) -> Iterable[Point]:
        messages = context.length("messages of each connection", full=10, normal=3, quick=1)
        for scheme in _SCHEMES:
            yield Point(f"many: {scheme.name}", _scenario(scheme, messages), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scheme in _SCHEMES:
            yield from _rows(scheme, runs[f"many: {scheme.name}"])


def _scenario(scheme: Scheme, messages: int) -> Fields:
    group = {
        "name": "connections",
        "transport": "transport",
        "kind": "requests",
        "sources": [f"h{host}" for host in range(_HOSTS)] * (_CONNECTIONS // _HOSTS),
        "destinations": [f"h{_HOSTS}"] * _CONNECTIONS,
        "size": "10 KB",
        "count": messages,
        "gap": f"{round(_PERIOD_S * 1e3)} ms",
        "spacing": f"{round(_PERIOD_S * 1e9 / _CONNECTIONS)} ns",
    }
    duration = f"{round((messages + 0.1) * _PERIOD_S * 1e3)} ms"
    made = one_link.scenario("many", scheme, [group], hosts=_HOSTS, rtt_us=25, duration=duration, host_gbps=10)
    # Without jitter the connections would take turns like clockwork.
    return {**made, "host": {"kernel": {"jitter": {"kind": "exponential", "mean": "500 us"}}}}


def _rows(scheme: Scheme, run: Run) -> Iterator[Row]:
    times = flows.delivered(run)["fct_us"].to_numpy()
    x = f"{len(run.table('flows')):,} connections"
    of = (Share(scheme.name, len(times), len(run.table("messages")), "messages"),)
    for percent in (50, 99):
        yield percentile_of(times, percent).row(scheme.name, x, f"p{percent} FCT", unit="us", completed=of)
    yield Row(scheme.name, x, "packets dropped per flow", "", dropped_per_flow(run))
    if scheme.afq is not None:
        later, checked = misestimated(run)
        note = f"{later:,} of {checked:,} packets"
        late = 100 * later / checked if checked else None
        yield Row(scheme.name, x, "packets queued later than their bid asks for", "%", late, note=note)
