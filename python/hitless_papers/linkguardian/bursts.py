"""Numbers of consecutive losses (paper, appendix B.2, figure 20).

The paper provides five one-bit registers, which "can handle 99.9999 % of corruption loss events" at a loss rate of 5 %
(section 3.5). For independent losses this is arithmetic: a share of rate^k of the bursts is longer than k. The paper's
text does not give the points of the figure. The statement, read as an equality, fits a Gilbert chain with
(1 - 1 / burst) ^ 5 = 1e-6, which has bursts of 1.067 frames; independent losses have 1.053. So the chain is not
evidence for the statement.

In runs with LinkGuardian a counter has the losses beyond the registers. Only the longest runs, with a few million loss
events, can show one in a million; with two registers instead of five all runs can.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from hitless.analysis import Interval, proportion_interval
from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, at_least, exhibit
from hitless_papers.linkguardian import testbed

RATES = (0.01, 0.05)
REGISTERS = 5
_COVERED = 0.999999
"""Share of loss events that the registers cover at 5 %."""

FITTED_BURST = 1 / (1 - (1 - _COVERED) ** (1 / REGISTERS))
"""Mean burst length if the registers cover exactly this share: 1.067 frames."""

_INDEPENDENT = "independent 5%"
_FEW_REGISTERS = 2
_LONG_BURST = 2.0
_LONGEST_SHOWN = 8
_SURE = 0.9999
_EXPECTED_LEAST = 10.0
"""Minimum expected events for a verdict."""


def models() -> Mapping[str, Mapping[str, Any]]:
    """Return the loss models by series and loss rate."""
    made: dict[str, Mapping[str, Any]] = {}
    for rate in RATES:
        made[f"independent {rate:.0%}"] = {"kind": "bernoulli", "rate": rate}
    for name, burst in (("bursty, fitted", FITTED_BURST), (f"bursty, {_LONG_BURST:g} frames", _LONG_BURST)):
        made[f"{name} 5%"] = {"kind": "gilbert-elliott", "rate": 0.05, "mean_burst_frames": burst}
    return made


def longer_than(model: Mapping[str, Any], frames: int) -> float:
    """Return the theoretical share of longer bursts: a burst continues with the same probability after each frame."""
    goes_on = model["rate"] if model["kind"] == "bernoulli" else 1 - 1 / model["mean_burst_frames"]
    return float(goes_on**frames)


def _line_rate(model: Mapping[str, Any], packets: int, registers: int | None = None) -> Fields:
    settings = {} if registers is None else {"consecutive_losses_max": registers}
    scheme = "none" if registers is None else "LG"
    return testbed.line_rate(100, packets, name="bursts", loss=model, scheme=scheme, settings=settings)


def guarded() -> Iterator[tuple[str, int]]:
    """Yield the loss models that run with LinkGuardian, and its number of registers."""
    for name in models():
        if "5%" in name:
            yield name, REGISTERS
    yield _INDEPENDENT, _FEW_REGISTERS


def _key(name: str, registers: int) -> str:
    return f"LG, {name}, {registers} registers"


def runs_of_losses(run: Run) -> dict[int, int]:
    """Count the bursts of lost frames by length."""
    table = run.table("corrupted_runs").filter(pl.col("link") == testbed.LINK)
    return dict(zip(table["frames"].to_list(), table["count"].to_list(), strict=True))


@exhibit("lg/fig20", title="Consecutive losses at loss rates of 1 % and 5 %")
class Figure20(Exhibit):
    """Distribution of burst lengths, and the share that five registers cover."""

    def points(self, context: Context) -> Iterable[Point]:
        packets = context.length("packets a run", full=1_000_000_000, normal=20_000_000, quick=6_000_000)
        for name, model in models().items():
            yield Point(name, _line_rate(model, packets), keep=("corrupted_runs",))
        for name, registers in guarded():
            yield Point(_key(name, registers), _line_rate(models()[name], packets, registers), keep=("mechanisms",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for name, model in models().items():
            found = runs_of_losses(runs[name])
            events = sum(found.values())
            yield from _lengths(name, model, found, events)
            yield from _coverage(name, model, found, events)
        for name, registers in guarded():
            yield _registers(name, registers, runs[_key(name, registers)])

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        lengths = list(range(1, _LONGEST_SHOWN + 1))
        for name, model in models().items():
            found = runs_of_losses(runs[name])
            events = sum(found.values())
            shares = [sum(count for frames, count in found.items() if frames <= length) / events for length in lengths]
            series.append(Series(name, lengths, [max(1 - share, 0.0) or None for share in shares], style="points"))
            expected = [longer_than(model, length) for length in lengths]
            series.append(Series(name, lengths, expected, source="theory"))
        yield Plot("Consecutive losses", "packets", "share of longer loss events", series, y_scale="log")


def _lengths(name: str, model: Mapping[str, Any], found: Mapping[int, int], events: int) -> Iterator[Row]:
    """Yield the shares of bursts of 1, 2, 3 and more frames, judged by theory because the paper omits them."""
    shares = {str(length): longer_than(model, length - 1) - longer_than(model, length) for length in (1, 2, 3)}
    counts = {str(length): found.get(length, 0) for length in (1, 2, 3)}
    shares["more than 3"] = longer_than(model, 3)
    counts["more than 3"] = sum(count for frames, count in found.items() if frames > 3)
    for x, theory in shares.items():
        share, interval = counts[x] / events, proportion_interval(counts[x], events)
        sure = proportion_interval(counts[x], events, confidence=_SURE)
        within = Shape(theory in sure, f"theory, {theory:.3g}, lies in the interval of 99.99 %")
        judge = within if theory * events >= _EXPECTED_LEAST else Unjudged()
        note = f"{events:,} loss events"
        yield Row(name, x, "of the loss events", "", share, interval=interval, judge=judge, note=note)


def _coverage(name: str, model: Mapping[str, Any], found: Mapping[int, int], events: int) -> Iterator[Row]:
    """Yield the share that five registers would cover, by arithmetic and as counted on the link."""
    x, theory = f"{REGISTERS} registers", 1 - longer_than(model, REGISTERS)
    paper = 100 * _COVERED if "5%" in name and _LONG_BURST not in model.values() else None
    reason = "calibrated on this number" if name.startswith("bursty, fitted") else "arithmetic, without a run"
    yield Row(name, x, "loss events covered, theory", "%", 100 * theory, paper, judge=Unjudged(reason))
    longer = sum(count for frames, count in found.items() if frames > REGISTERS)
    yield _counted(name, REGISTERS, "loss events covered, counted on the link", longer, events)


def _registers(name: str, registers: int, run: Run) -> Row:
    """Return the share by LinkGuardian's counters, which count packets: an event can count more than once."""
    beyond, events = run.counter("losses_beyond_registers", "sw2"), run.counter("loss_events", "sw6")
    return _counted(f"LG, {name}", registers, "loss events covered, by LG's counter", beyond, events)


def _counted(series: str, registers: int, metric: str, beyond: int, events: int) -> Row:
    """Return the row of a covered share; the paper judges independent losses or, with two registers, theory does."""
    interval, sure = proportion_interval(beyond, events), proportion_interval(beyond, events, confidence=_SURE)
    covered = Interval(100 * (1 - interval.high), 100 * (1 - interval.low))
    note, measured, x = f"{beyond:,} of {events:,} beyond", 100 * (1 - beyond / events), f"{registers} registers"
    if not series.endswith(_INDEPENDENT):
        return Row(series, x, metric, "%", measured, interval=covered, note=note)
    if registers == REGISTERS:
        judge = at_least(100 * _COVERED, f"{metric}: the whole interval is at or above the paper's 99.9999 %")
        return Row(series, x, metric, "%", measured, 100 * _COVERED, interval=covered, judge=judge, note=note)
    theory = RATES[-1] ** registers / (1 - RATES[-1])
    within = Shape(theory in sure, f"theory, {theory:.3g} packets beyond an event, lies in the interval of 99.99 %")
    return Row(series, x, metric, "%", measured, None, interval=covered, judge=within, note=note)
