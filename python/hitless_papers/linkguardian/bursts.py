"""How many packets are lost in a row (paper, appendix B.2, figure 20).

The paper provides five one-bit registers, which "can handle 99.9999 % of corruption loss events" at a loss rate of 5 %
(section 3.5). For independent losses this is arithmetic: the k-th power of the rate is the share of runs longer than k.
The points of the figure are not in the paper's text. The statement, read as an equality, fits a Gilbert chain with
(1 - 1 / burst) ^ 5 = 1e-6: it has bursts of 1.067 frames, independent losses 1.053. The chain is therefore no evidence
for the statement.

In runs with LinkGuardian the registers count the losses beyond them. Only runs with a few million loss events can tell
one in a million, the longest ones; with two registers instead of five all runs can.
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
"""The share of loss events that the registers cover at 5 %."""

FITTED_BURST = 1 / (1 - (1 - _COVERED) ** (1 / REGISTERS))
"""Mean burst of the chain that leaves out just the rest: 1.067 frames."""

_INDEPENDENT = "independent 5%"
_FEW_REGISTERS = 2
_LONG_BURST = 2.0
_LONGEST_SHOWN = 8
_SURE = 0.9999
_EXPECTED_LEAST = 10.0
"""Minimum expected events for a verdict."""


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


def _line_rate(model: Mapping[str, Any], packets: int, registers: int | None = None) -> Fields:
    """Build full frames at line rate; with ``registers``, LinkGuardian has this number of them."""
    settings = {} if registers is None else {"consecutive_losses_max": registers}
    scheme = "none" if registers is None else "LG"
    return testbed.line_rate(100, packets, name="bursts", loss=model, scheme=scheme, settings=settings)


def guarded() -> Iterator[tuple[str, int]]:
    """The loss models at 5 % with LinkGuardian, and its registers."""
    for name in models():
        if "5%" in name:
            yield name, REGISTERS
    yield _INDEPENDENT, _FEW_REGISTERS


def _key(name: str, registers: int) -> str:
    return f"LG, {name}, {registers} registers"


def runs_of_losses(run: Run) -> dict[int, int]:
    """Count the runs of lost frames by their length."""
    table = run.table("corrupted_runs").filter(pl.col("link") == testbed.LINK)
    return dict(zip(table["frames"].to_list(), table["count"].to_list(), strict=True))


@exhibit("lg/fig20", title="Packets lost in a row at loss rates of 1 % and 5 %")
class Figure20(Exhibit):
    """The distribution, and what five registers cover of it."""

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
        yield Plot("Losses in a row", "packets", "share of loss events that are longer", series, y_scale="log")


def _lengths(name: str, model: Mapping[str, Any], found: Mapping[int, int], events: int) -> Iterator[Row]:
    """Show the shares of runs of one to three frames and of longer ones, judged by theory: the paper has no numbers."""
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
    """Show the share that five registers would cover, by arithmetic and counted on the link."""
    x, theory = f"{REGISTERS} registers", 1 - longer_than(model, REGISTERS)
    paper = 100 * _COVERED if "5%" in name and _LONG_BURST not in model.values() else None
    reason = "calibrated on this number" if name.startswith("bursty, fitted") else "arithmetic, of no run"
    yield Row(name, x, "loss events covered, theory", "%", 100 * theory, paper, judge=Unjudged(reason))
    longer = sum(count for frames, count in found.items() if frames > REGISTERS)
    yield _counted(name, REGISTERS, "loss events covered, counted on the link", longer, events)


def _registers(name: str, registers: int, run: Run) -> Row:
    """What LinkGuardian counted. A packet beyond the registers counts, so that events are one or more times over."""
    beyond, events = run.counter("losses beyond the request registers", "sw2"), run.counter("loss events", "sw6")
    return _counted(f"LG, {name}", registers, "loss events covered, by LG's counter", beyond, events)


def _counted(series: str, registers: int, metric: str, beyond: int, events: int) -> Row:
    """Show a covered share; for independent losses the paper judges it, with fewer registers theory."""
    interval, sure = proportion_interval(beyond, events), proportion_interval(beyond, events, confidence=_SURE)
    covered = Interval(100 * (1 - interval.high), 100 * (1 - interval.low))
    note, measured, x = f"{beyond:,} of {events:,} beyond", 100 * (1 - beyond / events), f"{registers} registers"
    if not series.endswith(_INDEPENDENT):
        return Row(series, x, metric, "%", measured, interval=covered, note=note)
    if registers == REGISTERS:
        judge = at_least(100 * _COVERED, f"{metric}: all of the interval is at the paper's 99.9999 % or above")
        return Row(series, x, metric, "%", measured, 100 * _COVERED, interval=covered, judge=judge, note=note)
    theory = RATES[-1] ** registers / (1 - RATES[-1])
    within = Shape(theory in sure, f"theory, {theory:.3g} packets beyond an event, lies in the interval of 99.99 %")
    return Row(series, x, metric, "%", measured, None, interval=covered, judge=within, note=note)
