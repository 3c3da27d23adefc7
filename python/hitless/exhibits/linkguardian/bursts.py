"""How many packets are lost in a row (paper, appendix B.2, figure 20).

The paper provides five one-bit registers, which "can handle 99.9999 % of corruption loss events" at a loss rate of 5 %
(section 3.5). For independent losses that is arithmetic: a run is longer than k with the k-th power of the rate. The
figure's own points are not in the paper's text; what is fitted to it is that statement, read as an equality: Gilbert's
chain, of which (1 - 1 / burst) ^ 5 = 1e-6, has bursts of 1.067 frames where independent losses have 1.053.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from hitless.analysis import proportion_interval
from hitless.exhibits import Context, Exact, Exhibit, Point, Row, Runs, Shape, exhibit
from hitless.exhibits.linkguardian import testbed
from hitless.plot import Plot, Series
from hitless.simulation import Run, Scenario

RATES = (0.01, 0.05)
REGISTERS = 5
_COVERED = 0.999999
"""The share of loss events that the registers cover at 5 %."""

FITTED_BURST = 1 / (1 - (1 - _COVERED) ** (1 / REGISTERS))
"""Mean burst of the chain that leaves out just the rest: 1.067 frames."""

_LONG_BURST = 2.0
_LONGEST_SHOWN = 8


def models() -> Mapping[str, Mapping[str, Any]]:
    """Loss models by the name of their series and the loss rate."""
    made: dict[str, Mapping[str, Any]] = {}
    for rate in RATES:
        made[f"independent {rate:.0%}"] = {"kind": "bernoulli", "rate": rate}
    for name, burst in (("bursty, fitted", FITTED_BURST), (f"bursty, {_LONG_BURST:g} frames", _LONG_BURST)):
        made[f"{name} 5%"] = {"kind": "gilbert-elliott", "rate": 0.05, "mean_burst_frames": burst}
    return made


def longer_than(model: Mapping[str, Any], frames: int) -> float:
    """The share of runs that are longer, in theory: a run goes on with the same chance after each frame."""
    goes_on = model["rate"] if model["kind"] == "bernoulli" else 1 - 1 / model["mean_burst_frames"]
    return float(goes_on**frames)


def _line_rate(model: Mapping[str, Any], packets: int) -> Scenario:
    duration_s = testbed.packets_duration_s(packets, 100)
    return testbed.scenario(
        100,
        name="bursts",
        transport={"kind": "udp", "rate": "100 Gbps"},
        flows={"kind": "constant-rate", "stop": testbed.seconds(duration_s)},
        duration_s=duration_s,
        loss=model,
        kernel=None,
    )


def runs_of_losses(run: Run) -> dict[int, int]:
    """How often so many frames in a row were lost."""
    table = run.table("corrupted_runs").filter(pl.col("link") == testbed.LINK)
    return dict(zip(table["frames"].to_list(), table["count"].to_list(), strict=True))


@exhibit("lg/fig20", title="Packets lost in a row at loss rates of 1 % and 5 %")
class Figure20(Exhibit):
    """The distribution, and what five registers cover of it."""

    def points(self, context: Context) -> Iterable[Point]:
        packets = context.length("packets a run", full=1_000_000_000, normal=20_000_000, quick=6_000_000)
        for name, model in models().items():
            yield Point(name, _line_rate(model, packets), keep=("corrupted_runs",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for name, model in models().items():
            found = runs_of_losses(runs[name])
            events = sum(found.values())
            yield from _lengths(name, model, found, events)
            yield from _coverage(name, model, found, events)

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        lengths = list(range(1, _LONGEST_SHOWN + 1))
        for name, model in models().items():
            found = runs_of_losses(runs[name])
            events = sum(found.values())
            shares = [sum(count for frames, count in found.items() if frames <= length) / events for length in lengths]
            series.append(Series(name, lengths, [max(1 - share, 0.0) or None for share in shares], style="points"))
            series.append(Series(f"{name}, theory", lengths, [longer_than(model, length) for length in lengths]))
        yield Plot("Losses in a row", "packets", "share of loss events that are longer", series, y_scale="log")


def _lengths(name: str, model: Mapping[str, Any], found: Mapping[int, int], events: int) -> Iterator[Row]:
    """The shares of runs of one, two and three frames; theory stands beside them, the paper has no numbers."""
    for length in (1, 2, 3):
        share = found.get(length, 0) / events
        interval = proportion_interval(found.get(length, 0), events)
        theory = longer_than(model, length - 1) - longer_than(model, length)
        sure = proportion_interval(found.get(length, 0), events, confidence=0.9999)
        judge = Shape(sure.low <= theory <= sure.high, f"theory, {theory:.3g}, lies in the interval of 99.99 %")
        note = f"{events:,} loss events"
        yield Row(name, str(length), "of the loss events", "", share, interval=interval, judge=judge, note=note)


def _coverage(name: str, model: Mapping[str, Any], found: Mapping[int, int], events: int) -> Iterator[Row]:
    """What five registers cover: in theory, and counted."""
    theory = 1 - longer_than(model, REGISTERS)
    longer = sum(count for frames, count in found.items() if frames > REGISTERS)
    interval = proportion_interval(longer, events)
    seen = f"{longer:,} of {events:,} were longer: at most {interval.high:.1e} of all"
    if "5%" not in name or _LONG_BURST in model.values():
        yield Row(name, f"{REGISTERS} registers", "loss events covered, theory", "%", 100 * theory, note=seen)
        return
    held = Shape(theory >= _COVERED * (1 - 1e-12), "at least the 99.9999 % that the paper states")
    judge = held if name.startswith("independent") else Exact(1e-9)
    note = seen if name.startswith("independent") else f"{seen}; fitted to this number"
    paper = 100 * _COVERED
    yield Row(
        name, f"{REGISTERS} registers", "loss events covered, theory", "%", 100 * theory, paper, None, judge, note
    )
    within = Shape(interval.low <= 1 - theory <= interval.high, "theory lies in the interval of what was counted")
    yield Row(
        name, f"{REGISTERS} registers", "loss events covered, counted", "%", 100 * (1 - longer / events), judge=within
    )
