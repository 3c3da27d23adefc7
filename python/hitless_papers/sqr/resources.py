"""Switch resources of SQR: packet buffer, compared with chips (table I), and pipeline (table II)."""

import tomllib
from collections.abc import Iterable, Mapping

from hitless.checking import Fields, check_scenario_of
from hitless_papers import Context, Exact, Exhibit, Factor, Row, Runs, Unjudged, exhibit
from hitless_papers.sqr import testbed
from hitless_papers.statement_of_resources import SRAM_BLOCKS, STATEFUL_ALUS, TABLES_TOO, statement

_BUFFERS_MB: Mapping[str, int] = {
    "Trident+ (2010)": 9,
    "Trident II (2013)": 12,
    "Trident II+ (2015)": 16,
    "Tomahawk+ (2016)": 22,
    "Tomahawk II (2017)": 42,
}
_LEAST_DELAY_US = {"steady": testbed.DETECTION_US, "failed": testbed.ROUTE_FAILURE_US}
_CACHES: Mapping[tuple[str, int, float], float] = {
    ("steady", 10, 1.0): 37.5,
    ("failed", 10, 1.0): 950.0,
    ("steady", 100, 1.0): 375.0,
    ("steady", 100, 0.2): 75.0,
    ("failed", 100, 0.2): 1_900.0,
}
"""Cache size in KB, by state, link speed in Gb/s and protected share of the link (sections IV-D and VI)."""


def scenario() -> Fields:
    return testbed.scenario(
        "sqr-resources",
        [testbed.one_long_flow("40 ms")],
        duration="40 ms",
        failures=[testbed.failures(testbed.SAME_PORT)],
        recovery=testbed.recovery(testbed.SAME_PORT),
        sqr={},
    )


@exhibit("sqr/tab1", title="Size of SQR's cache, compared with the packet buffers of chips")
class Table1(Exhibit):
    """Equation 1 (link speed times delay), with the model's delays."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        delays_us = _delays_us()
        for (state, gbps, share), paper_kb in _CACHES.items():
            cache_kb = delays_us[state] * gbps * share / 8
            x = f"{state}, {gbps}G" + ("" if share == 1.0 else f", {share:.0%} protected")
            kept_us, least_us = delays_us[state], _LEAST_DELAY_US[state]
            note = f"copies stay for {kept_us:.2f} us: the paper's {least_us:g} us and the flight of a frame"
            yield Row("SQR", x, "cache of one port", "KB", cache_kb, paper_kb, judge=Exact(), note=note)
        for chip, megabytes in _BUFFERS_MB.items():
            percent = 100 * delays_us["failed"] * 10 / 8 / (1_000 * megabytes)
            why = Unjudged("table I only gives the chips' buffers; the text calls the cache's share comfortable")
            yield Row(chip, "failed, 10G", "of the packet buffer", "%", percent, judge=why, note=f"of {megabytes} MB")


@exhibit("sqr/tab2", title="Pipeline resources of SQR")
class Table2(Exhibit):
    """Registers of SQR, compared with the compiler's report."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = statement(scenario(), "sw6", "sqr")
        alus = 100 * of.takes["stateful ALUs"] / STATEFUL_ALUS
        note = "the paper adds 14.58 % to switch.p4, 7 of 48; ours also records missing copies"
        yield Row("SQR", "sw6", "stateful ALUs", "%", alus, 15.63, judge=Factor(), note=note)
        sram = 100 * of.takes["SRAM (blocks of 16 KiB)"] / SRAM_BLOCKS
        yield Row("SQR", "sw6", "SRAM", "%", sram, 15.31, judge=Unjudged(TABLES_TOO))
        for name, paper in (("match crossbar", 10.22), ("hash bits", 13.28), ("VLIW actions", 6.77)):
            why = Unjudged("the model has no tables, so it does not count them")
            yield Row("SQR", "sw6", name, "%", None, paper, judge=why)
        yield Row("SQR", "sw6", "TCAM", "%", 0.0, 0.0, judge=Unjudged("the model has no tables, so it needs no TCAM"))
        for name in ("stages of egress", "mirror sessions", "queues at a port", "SRAM (bits)"):
            yield Row("SQR", "sw6", name, "", of.takes[name])


def _delays_us() -> Mapping[str, float]:
    settings = tomllib.loads(check_scenario_of(scenario()))["mechanism"][0]
    named = {"steady": settings["steady_delay"], "failed": settings["failure_delay"]}
    return {state: _microseconds(text) for state, text in named.items()}


def _microseconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"ps": 1e-6, "ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]
