"""100 and 400 Gbps: how many bytes a round should have.

Enterprise flows by packet pair from 16 hosts to 16 others over one link as fast as theirs, at 70 % load, with a round
trip of 10 us. The paper's rule, d l / (6 nQ), gives 651 B at 100 Gbps and 2,604 B at 400 Gbps: one frame, and about
two.
"""

from collections.abc import Iterable, Iterator, Mapping

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs
from hitless_papers.afq import flows, ratios, schemes
from hitless_papers.afq.flows import TABLES, dropped_per_flow
from hitless_papers.afq.schemes import Buffers, Scheme
from hitless_papers.afq.sizes import ENTERPRISE, FRAME_BYTES

_RATES_GBPS = (100, 400)
_FRAMES = (1, 2, 4, 8)
_HOSTS = 16
_LOAD = 70
_RTT_US = 10
_BUFFERS = Buffers("2 MB")
"""As many queues of as many bytes as at 10 Gbps would hold a fortieth of the time; the size is an assumption."""


def _afq(frames: int) -> Scheme:
    size = f"{frames * FRAME_BYTES} B"
    transport = {**schemes.PACKET_PAIR, "bytes_per_round": size}
    return Scheme(f"AFQ, {frames} frames a round", transport, afq={**schemes.AFQ, "bytes_per_round": size})


_SCHEMES = (*map(_afq, _FRAMES), schemes.IDEAL)


class FastLinks(Exhibit):
    """Completion times by bytes in a round, compared with Ideal-FQ."""

    def points(self, context: Context) -> Iterable[Point]:
        for rate_gbps in _RATES_GBPS:
            length_ms = context.length(f"ms at {rate_gbps} Gbps", full=1_000, normal=50, quick=20)
            for scheme in _SCHEMES:
                yield Point(_key(rate_gbps, scheme), _scenario(scheme, rate_gbps, length_ms), keep=TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for rate_gbps in _RATES_GBPS:
            yield from _rows(rate_gbps, {scheme.name: runs[_key(rate_gbps, scheme)] for scheme in _SCHEMES})


def _key(rate_gbps: int, scheme: Scheme) -> str:
    return f"{rate_gbps} Gbps: {scheme.name}"


def _scenario(scheme: Scheme, rate_gbps: int, duration_ms: int) -> Fields:
    data, _ = ENTERPRISE.wire_bytes(rate_gbps * 1e9, duration_ms / 1e3)
    link = {"rate": f"{rate_gbps} Gbps", "delay": f"{round(_RTT_US * 1e3 / 6)} ns"}
    group = ENTERPRISE.group(
        _LOAD / 100 * rate_gbps * 1e9 / (8 * data),
        sources=[f"h0..h{_HOSTS - 1}"],
        destinations=[f"h{_HOSTS}..h{2 * _HOSTS - 1}"],
    )
    ends = {"hosts_left": _HOSTS, "hosts_right": _HOSTS, "host_link": link, "bottleneck": link}
    topology = {"kind": "dumbbell", **ends}
    return scheme.scenario(_BUFFERS, name="fast", duration=f"{duration_ms} ms", topology=topology, flows=[group])


def _rows(rate_gbps: int, runs: Mapping[str, Run]) -> Iterator[Row]:
    compared = flows.compared(runs, lambda run: flows.with_idle_us(run, (rate_gbps,) * 3, _RTT_US / 2))
    x = f"{rate_gbps} Gbps, {_LOAD} %"
    for name, run in runs.items():
        for title, group in compared.by_length.items():
            yield ratios.normalized_mean(group, name).row(name, x, f"mean FCT of {title}, normalized")
        yield Row(name, x, "packets dropped per flow", "", dropped_per_flow(run))
