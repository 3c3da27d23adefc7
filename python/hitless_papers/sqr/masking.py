"""One long flow from h2 to h4 while sw6 - sw10 fails: figures 7 and 9, and a check for loss and reordering."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exact, Factor, Point, Replicated, Row, Runs, Shape, Unjudged, exhibit, rising
from hitless_papers.estimates import mean_of
from hitless_papers.scenarios import linux
from hitless_papers.sqr import fct, testbed
from hitless_papers.sqr.fct import GIVEN_UP, checked, protected

_STANDSTILL = "longest time without a new segment, mean of the runs"
_SCHEMES = ("SB'", "SB'+SQR")
_REACTIONS = ("packets_retransmitted", "timeouts", "fast_recoveries")
_PERIOD_US = 100
_NOTHING_TRIED = Unjudged("no frame died on the link, so the run tests nothing")
_SLOW_PASS_US = 70
"""Kernel pass of an experiment that keeps 600 us of frames in flight."""
_EXPERIMENT = Unjudged("an experiment; the rows above, with the hosts of all other exhibits, are judged")
_PLATEAU = "all packets in flight are lost by then; 600 us hold 488 full frames, and the paper does not give the window"
_WINDOW_US = 150.0
"""Interval over which the bytes of ports are counted (section III-F), measured by the same clock."""


@exhibit("sqr/fig7", title="cwnd and sequence number of a long flow during a failure")
class Figure7(Replicated):
    """Several runs, in which the failure is up to 4 ms late, because the timeout counts ticks of 4 ms."""

    _AFTER_MS = 60

    def points(self, context: Context) -> Iterable[Point]:
        self._failure_ms = context.length("ms before the failure", full=2_000, normal=500, quick=100)
        count = context.length("runs", full=20, quick=6)
        failure = {"link": testbed.FAILING, "first": testbed.milliseconds(self._failure_ms), "jitter": "4 ms"}
        end = testbed.milliseconds(self._failure_ms + self._AFTER_MS)
        cases = {
            scheme: testbed.scenario(
                "one-failure",
                [testbed.one_long_flow(end)],
                duration=end,
                failures=[failure],
                recovery=testbed.recovery(testbed.SAME_PORT),
                sqr={} if scheme.endswith("SQR") else None,
                measure={"order": True, "flow": [{"group": "iperf", "period": f"{_PERIOD_US} us"}]},
            )
            for scheme in _SCHEMES
        }
        return self.replicated(count, cases, keep=("flows", "flow_progress", "failures"))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for scheme in _SCHEMES:
            found = [_Progress(run) for run in self.each(runs, scheme)]
            yield from self._masked(found) if scheme.endswith("SQR") else self._alone(found)

    @staticmethod
    def _alone(found: list["_Progress"]) -> Iterator[Row]:
        scheme, x = _SCHEMES[0], "one failure"
        stops = [progress.standstill_ms for progress in found]
        note = f"{_STANDSTILL}; {testbed.HOSTS_NOTE}"
        yield mean_of(stops).row(scheme, x, "disruption", 12.0, Factor(), unit="ms", note=note)
        left = max(100 * progress.least_window_share for progress in found)
        collapses = Shape(left < 10, "the window collapses to less than 10 % in every run")
        yield Row(scheme, x, "largest of the least windows, of that before", "%", left, judge=collapses)
        for what in _REACTIONS:
            yield Row(scheme, f"{len(found)} failures", what.replace("_", " "), "", sum(p.total(what) for p in found))

    @staticmethod
    def _masked(found: list["_Progress"]) -> Iterator[Row]:
        scheme, x = _SCHEMES[1], "one failure"
        longest = max(progress.standstill_ms for progress in found)
        brief = Shape(
            longest <= 2 * testbed.ROUTE_FAILURE_US / 1e3, "no disruption of more than two route failure times"
        )
        yield Row(scheme, x, "longest disruption", "ms", longest, judge=brief)
        left = min(100 * progress.least_window_share for progress in found)
        yield Row(scheme, x, "least window after the failure, of that before", "%", left, 100.0, judge=Exact())
        for what in _REACTIONS:
            total = sum(progress.total(what) for progress in found)
            yield Row(scheme, f"{len(found)} failures", what.replace("_", " "), "", total, 0.0, judge=Exact())

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for column, title, y_title in (
            ("cwnd_bytes", "cwnd", "cwnd (KB)"),
            ("sequence", "Sequence number", "sent (KB)"),
        ):
            series = []
            for scheme in _SCHEMES:
                shown = _Progress(runs[f"{scheme} 0"]).since(self._failure_ms - 20)
                x = (shown["time_ps"] / 1e9).to_list()
                series.append(Series(scheme, x, (shown[column] / 1e3).to_list()))
            yield Plot(f"{title} of a flow during a failure", "time (ms)", y_title, series)


class _Progress:
    def __init__(self, run: Run) -> None:
        self._flow = run.table("flows")
        self._samples = run.table("flow_progress")
        self._down_ps = int(run.table("failures")["down_ps"][0])

    def total(self, column: str) -> int:
        return int(self._flow[column].sum())

    def since(self, from_ms: float) -> pl.DataFrame:
        return self._samples.filter(pl.col("time_ps") >= from_ms * 1e9)

    @property
    def standstill_ms(self) -> float:
        """Longest time after the failure in which the highest sent byte does not change."""
        after = self.since(self._down_ps / 1e9)
        lengths = after.group_by("sequence").len()["len"]
        return float(lengths.max() or 0) * _PERIOD_US / 1e3  # type: ignore[arg-type]

    @property
    def least_window_share(self) -> float:
        """Minimum window after the failure, divided by the window at the failure; at most 1."""
        before = self._samples.filter(pl.col("time_ps") < self._down_ps)["cwnd_bytes"][-1]
        least = self.since(self._down_ps / 1e9)["cwnd_bytes"].min()
        return min(1.0, float(least) / float(before))  # type: ignore[arg-type]


@exhibit("sqr/fig9", title="Packets lost in a failure, against the route failure time", headline=True)
class Figure9(Replicated):
    """X is a recovery of this duration; with 30 us, which is the detection alone, it is LRR."""

    _TIMES_US = (30, 100, 200, 300, 400, 500, 600, 700, 760, 800, 1_000)
    _FEW_TIMES_US = (30, 300, 600, 760, 1_000)
    _SLOW = f"X, {_SLOW_PASS_US} us a kernel pass"
    _SLOW_TIMES_US = (300, 600, 1_000)

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("runs", full=10, normal=3, quick=1)
        failures = context.length("failures a run", full=10, quick=1)
        self._times_us = self._FEW_TIMES_US if context.effort == "quick" else self._TIMES_US
        cases = {
            f"{scheme} {time_us}": long_flow(_repair(time_us), failures, sqr)
            for time_us in self._times_us
            for scheme, sqr in (("X", None), ("X+SQR", {}))
        }
        for time_us in self._SLOW_TIMES_US:
            slow = {**long_flow(_repair(time_us), failures, None), "host": linux(_SLOW_PASS_US)}
            cases[f"{self._SLOW} {time_us}"] = slow
        return self.replicated(count, cases, keep=("flows", "failures", "mechanisms"))

    def _per_failure(self, runs: Runs, scheme: str, time_us: int) -> list[float]:
        found = self.each(runs, f"{scheme} {time_us}")
        return [checked(run, "network_packets_lost") / len(run.table("failures")) for run in found]

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        lost = {}
        for time_us in self._times_us:
            each = self._per_failure(runs, "X", time_us)
            lost[time_us] = sum(each) / len(each)
            yield mean_of(each).row("X", f"{time_us} us", "packets lost per failure", unit="")
        rises = rising([lost[time_us] for time_us in self._times_us if time_us <= 600], slack=0.05)
        growth = Shape(rises and lost[600] > 2 * lost[30], "grows with the route failure time")
        ratio = lost[600] / lost[30] if lost[30] else None
        yield Row("X", "30 to 600 us", "losses at 600 us over 30 us", "times", ratio, judge=growth)
        still = Shape(lost[600] > 1.1 * lost[300], "grows up to 600 us, by more than 10 % after 300 us")
        ratio = lost[600] / lost[300] if lost[300] else None
        yield Row("X", "300 to 600 us", "losses at 600 us over 300 us", "times", ratio, judge=still, note=_PLATEAU)
        late = [lost[time_us] for time_us in self._times_us if time_us >= 600]
        plateau = Shape(0 < max(late) <= 1.25 * min(late), "a plateau above 600 us")
        ratio = max(late) / min(late) if min(late) else None
        yield Row("X", "600 us and more", "largest over least loss", "times", ratio, judge=plateau)
        for time_us in self._times_us:
            masked = self.each(runs, f"X+SQR {time_us}")
            dead = sum(int(run.table("failures")["frames_lost"].sum()) for run in masked)
            note = f"{sum(len(run.table('failures')) for run in masked)} failures; {dead:,} frames died on the link"
            total = sum(checked(run, "network_packets_lost") for run in masked)
            judge: Exact | Unjudged = Exact() if dead else _NOTHING_TRIED
            yield Row("X+SQR", f"{time_us} us", "packets lost", "", total, 0.0, judge=judge, note=note)
        for time_us in self._SLOW_TIMES_US:
            each = self._per_failure(runs, self._SLOW, time_us)
            yield mean_of(each).row(self._SLOW, f"{time_us} us", "packets lost per failure", None, _EXPERIMENT, unit="")

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        series = []
        for scheme in ("X", "X+SQR"):
            y = [sum(each) / len(each) for each in (self._per_failure(runs, scheme, t) for t in self._times_us)]
            series.append(Series(scheme, list(self._times_us), y))
        yield Plot("Packets lost in a failure", "route failure time (us)", "packets lost per failure", series)


def long_flow(
    scheme: Mapping[str, Any], failures: int, sqr: Mapping[str, Any] | None, others: Iterable[Mapping[str, Any]] = ()
) -> Fields:
    """Build one flow and failures 30 ms apart, repaired by ``scheme``; ``others`` share the network."""
    failing = {**testbed.failures(scheme, every_ms=30), "count": failures, "jitter": "4 ms"}
    end = testbed.milliseconds(30 * failures + 10)
    background = [{**group, "stop": end} for group in others]
    return testbed.scenario(
        "long-flow",
        [testbed.one_long_flow(end), *background],
        transports={"tcp": testbed.TCP, **({"background": testbed.TCP} if background else {})},
        failures=[failing],
        recovery=testbed.recovery(scheme),
        sqr=sqr,
        measure={"order": True},
        duration=testbed.milliseconds(30 * failures + 30),
    )


def _repair(time_us: float) -> Mapping[str, Any]:
    reconfiguration_us = time_us - testbed.DETECTION_US
    if reconfiguration_us == 0.0:
        return testbed.LOCAL_REROUTE
    return {"kind": "same-port", "reconfiguration": testbed.microseconds(reconfiguration_us)}


@dataclass(frozen=True)
class _Trial:
    name: str
    time_us: float

    @property
    def clock_bits(self) -> int:
        """Minimum width of SQR's clock: half its period must exceed each measured time."""
        longest_us = max(self.time_us + 2.5, _WINDOW_US + 0.01)
        return round(2 * longest_us * 1e3).bit_length()


@exhibit("sqr/order", title="No packet lost or reordered, by the checker at the hosts and by the switches' counters")
class Order(Replicated):
    """Each clock wraps within four times the delay that it measures. Background traffic shares all queues."""

    _TRIALS = (
        _Trial("LRR", testbed.DETECTION_US),
        *(_Trial(f"X {time_us} us", time_us) for time_us in (100, 300, 600, 760, 1_000)),
    )

    def points(self, context: Context) -> Iterable[Point]:
        count = context.length("runs", full=20, normal=5, quick=2)
        failures = context.length("failures a run", full=20, normal=10, quick=3)
        cases = {
            trial.name: long_flow(_repair(trial.time_us), failures, {"clock_bits": trial.clock_bits}, fct.background())
            for trial in self._TRIALS
        }
        return self.replicated(count, cases, keep=("flows", "failures", "mechanisms"))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for trial in self._TRIALS:
            yield from self._judged(trial, self.each(runs, trial.name))

    def _judged(self, trial: _Trial, found: list[Run]) -> Iterator[Row]:
        name = trial.name
        failures = sum(len(run.table("failures")) for run in found)
        turns = sum(float(run.summary["simulated_s"]) for run in found) / (2**trial.clock_bits * 1e-9)
        note = f"{failures} failures; a clock of {trial.clock_bits} bits, which wrapped {turns:,.0f} times"
        died = sum(int(protected(run)["frames_lost_to_failures"].sum()) for run in found)
        judge: Exact | Unjudged = Exact() if died else _NOTHING_TRIED
        for column, metric in (("lost", "packets lost"), ("reordered", "packets reordered")):
            total = sum(checked(run, f"network_packets_{column}") for run in found)
            yield Row("checker", name, metric, "", total, 0.0, judge=judge, note=note)
        given_up = sum(run.counter(counted) for run in found for counted in GIVEN_UP)
        none = Shape(given_up == 0, f"{name}: every packet was protected until it was safe")
        yield Row("switches", name, "packets unprotected, refused or skipped", "", given_up, judge=none)
        yield Row("switches", name, "frames that died on the link", "", died)
        twice = sum(checked(run, "network_packets_duplicated") for run in found)
        yield Row("checker", name, "packets duplicated", "", twice, note="allowed")
        own = sum(_duplicates_by_switches(run) for run in found)
        note = "sent from the cache, minus packets kept back and packets that died on the link"
        agree = Shape(own == twice, f"{name}: the switches and the checker count the same duplicates")
        yield Row("switches", name, "packets duplicated", "", own, judge=agree, note=note)


def _duplicates_by_switches(run: Run) -> int:
    """Count the copies that switches sent although the original had arrived."""
    died = int(protected(run)["frames_lost_to_failures"].sum())
    return run.counter("packets_sent_from_cache") - run.counter("packets_kept_back") - died
