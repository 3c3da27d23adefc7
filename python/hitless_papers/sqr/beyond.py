"""Experiments beyond the paper: several failures, other detection, rates, hosts and variants of SQR.

All variants run on figure 2, with short web search flows from h2 to h4, one every 4.1 ms. No row is judged.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Unjudged, exhibit
from hitless_papers.sqr import fct, overhead, testbed
from hitless_papers.sqr.fct import CHECKED, GIVEN_UP, checked, passes_per_copy, protected

_TABLES = ("flows", "messages", "mechanisms", "failures")
_EQUATION_1 = Unjudged("the paper has equation 1, and measures in sqr/fig13")
_BOTH_LINKS = (testbed.FAILING, "sw5<->sw10")
_F10_DETOUR = {"kind": "local-reroute", "reconfiguration": "970 us", "backup": "first"}
_SIGNAL_LOSS = {"kind": "signal-loss"}
_PROBES = {"kind": "probes", "interval": "10 us", "misses": 3}
_ROCE = {"kind": "roce", "timeout": "4 ms"}
_DCTCP = {**testbed.TCP, "congestion": "dctcp"}
_LARGE_BUFFER = {"kind": "shared", "total": "64 MB", "alpha": 8}
_SMALL_BUFFER = {"kind": "shared", "total": "4 MB", "alpha": 8}


@dataclass(frozen=True)
class Variant:
    """One change to the paper's set-up."""

    name: str
    note: str = ""
    scheme: Mapping[str, Any] = field(default_factory=lambda: testbed.SAME_PORT)
    detection: Mapping[str, Any] | None = None
    links: Sequence[str] = (testbed.FAILING,)
    again_after_us: float | None = None
    """Time from each failure to a second one."""
    transport: Mapping[str, Any] = field(default_factory=lambda: testbed.TCP)
    rate_gbps: int = 10
    sqr: Mapping[str, Any] | None = field(default_factory=dict)
    switch: Mapping[str, Any] = field(default_factory=dict)
    others: Sequence[Mapping[str, Any]] = ()
    sources: Sequence[str] = ("h2",)

    def scenario(self, flows: int) -> Fields:
        recovery = testbed.recovery(self.scheme, self.detection)
        sqr = None if self.sqr is None else {"links": list(self.links), **self.sqr}
        stop = testbed.milliseconds(fct.PERIOD_MS * flows)
        return testbed.scenario(
            "beyond",
            [
                {**fct.short_flows("web search", flows), "sources": list(self.sources)},
                *({**group, "stop": stop} for group in self.others),
            ],
            transports={"tcp": self.transport, **({"background": testbed.TCP} if self.others else {})},
            failures=list(self._failures()),
            recovery=recovery,
            sqr=sqr,
            rate_gbps=self.rate_gbps,
            switch=self.switch,
            measure={"order": True},
        )

    def _failures(self) -> Iterable[Mapping[str, Any]]:
        for link in self.links:
            # Without jitter all links fail at the same time, also in the second failure.
            made = {**testbed.failures(self.scheme), "link": link, "every": "21.3 ms", "jitter": "0 s"}
            yield made
            if self.again_after_us is not None:
                yield {**made, "first": testbed.microseconds(20_000 + self.again_after_us)}


def _bursts() -> Sequence[Mapping[str, Any]]:
    """Build two simultaneous bursts over the protected link: a queue of up to 1.5 MB at sw6, without loss."""
    burst = {"transport": "background", "kind": "incast", "fan_in": 1, "size": "1.5 MB", "period": "10 ms"}
    return (
        {"name": "background h1", "servers": ["h1"], "clients": ["h4"], **burst},
        {"name": "background h3", "servers": ["h3"], "clients": ["h6"], **burst},
    )


_VARIANTS = (
    Variant("SB' alone", sqr=None),
    Variant("SB'+SQR", "the paper's set-up, for comparison"),
    Variant(
        "both links of sw10",
        "sw6 - sw10 and sw5 - sw10 fail at the same time; flows come from h2 and h3",
        links=_BOTH_LINKS,
        sources=("h2", "h3"),
    ),
    Variant("again at once", "a second failure 60 us after each repair", again_after_us=820.0),
    Variant("again after 2 ms", "a second failure 2 ms after the first", again_after_us=2_000.0),
    Variant("probes", "a probe every 10 us, 3 may miss; the ends detect at different times", detection=_PROBES),
    Variant("signal loss", "hardware detects within 2.755 us (section VI)", detection=_SIGNAL_LOSS),
    Variant("signal loss, LRR", "hardware detects within 2.755 us (section VI)", testbed.LOCAL_REROUTE, _SIGNAL_LOSS),
    Variant("F10 detours", "detection 30 us, reconfiguration 970 us", _F10_DETOUR),
    Variant("when-rerouted", "copies leave as soon as a path exists", sqr={"release": "when-rerouted"}),
    Variant("delay primitive", "queues that hold each packet for a fixed time", sqr={"caching": "delay-queue"}),
    Variant("delay primitive, LRR", "", testbed.LOCAL_REROUTE, sqr={"caching": "delay-queue"}),
    Variant("25 Gbps", rate_gbps=25),
    Variant("100 Gbps", rate_gbps=100),
    Variant(
        "400 Gbps",
        "a buffer of 64 MB, because the repair needs 38 MB and 22 MB would overflow",
        rate_gbps=400,
        switch={"buffer": _LARGE_BUFFER},
    ),
    Variant("DCTCP", "marking threshold 65 packets", transport=_DCTCP, switch={"ecn": {"threshold": "65 packets"}}),
    Variant("RDMA alone", "RoCE, go-back-N, timeout 4 ms", transport=_ROCE, sqr=None),
    Variant("RDMA", "RoCE, go-back-N, timeout 4 ms", transport=_ROCE),
)
_PRESSURE = (
    Variant(
        "bursts", "a queue of 1.5 MB builds up at sw6 every 10 ms", switch={"buffer": _SMALL_BUFFER}, others=_bursts()
    ),
    Variant(
        "bursts, backstop",
        "the same bursts; no new copies above 1 MB",
        switch={"buffer": _SMALL_BUFFER},
        others=_bursts(),
        sqr={"backstop": {"pause": "1 MB", "resume": "0.8 MB"}},
    ),
)


@dataclass(frozen=True)
class Buffer:
    rate_gbps: int
    delay_us: float
    caching: str

    @property
    def x(self) -> str:
        return f"{self.rate_gbps} Gbps, {self.delay_us:g} us"

    @property
    def key(self) -> str:
        return f"{self.caching} {self.x}"

    def scenario(self) -> Fields:
        rate_gbps = self.rate_gbps
        return overhead.steady(rate_gbps, self.delay_us, 20, line_gbps=rate_gbps, caching=self.caching)

    def rows(self, run: Run) -> Iterable[Row]:
        """Compare the buffer with equation 1, and show the cost of each copy."""
        paper = overhead.product_kb(self.rate_gbps, self.delay_us)
        yield Row(self.caching, self.x, "buffer used", "KB", overhead.mean_kb(run), paper, judge=_EQUATION_1)
        yield Row(self.caching, self.x, "passes for each copy", "", passes_per_copy(run))


_BUFFERS = [
    Buffer(rate_gbps, delay_us, caching)
    for rate_gbps, delay_us in ((10, 30.0), (10, 2.755), (25, 30.0), (100, 30.0), (100, 2.755), (400, 30.0))
    for caching in ("ring", "delay-queue")
]


@exhibit("sqr/beyond", title="SQR beyond the paper: failures, detection, rates, hosts and variants")
class Beyond(Exhibit):
    """SB'+SQR at 10 Gb/s, with one change in each variant."""

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("flows", full=10_000, normal=3_000, quick=1_000)
        for variant in (*_VARIANTS, *_PRESSURE):
            yield Point(variant.name, variant.scenario(count), keep=_TABLES)
        for buffer in _BUFFERS:
            yield Point(buffer.key, buffer.scenario(), keep=_TABLES)

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for variant in (*_VARIANTS, *_PRESSURE):
            yield from _row(variant, runs[variant.name])
        for buffer in _BUFFERS:
            yield from buffer.rows(runs[buffer.key])


def _row(variant: Variant, run: Run) -> Iterable[Row]:
    failures = run.table("failures")
    x = f"{len(failures)} failures"
    note = variant.note
    for column in CHECKED:
        yield Row(
            variant.name, x, column.removeprefix("network_").replace("_", " "), "", checked(run, column), note=note
        )
        note = ""
    died = int(protected(run)["frames_lost_to_failures"].sum())
    yield Row(variant.name, x, "frames that died on links", "", died)
    messages = run.completed_messages()
    messages = messages.filter(~messages["group"].str.starts_with("background"))
    longest_us = float((messages["delivered_ps"] - messages["started_ps"]).max()) / 1e6  # type: ignore[arg-type]
    yield Row(variant.name, x, "largest FCT", "us", longest_us, completed=[fct.share(run, variant.name)])
    if variant.sqr is None:
        return
    for what, key in (("most", "cached_peak_bytes"), ("mean", "cached_mean_bytes")):
        yield Row(variant.name, "sw6", f"cache, {what}", "KB", run.counter(key, "sw6") / 1e3)
    yield Row(variant.name, x, "passes for each copy", "", passes_per_copy(run))
    for key, name in GIVEN_UP.items():
        value = run.counter(key)
        if value or variant in _PRESSURE:
            yield Row(variant.name, x, name, "", value)
    if variant in _PRESSURE:
        yield Row(variant.name, "all switches", "packets that the buffer had no room for", "", _dropped(run))


def _dropped(run: Run) -> int:
    """Count the drops that neither a dead link nor the end of a flow caused."""
    others = ("lost on a link that was down", "arrived after the end of the flow")
    return sum(count for reason, count in run.summary.drops.items() if reason not in others)
