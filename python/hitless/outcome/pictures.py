"""Pictures of one run, and how a notebook shows a run."""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from hitless.drawing.picture import Picture
from hitless.drawing.plot import Plot, Series, tail_series
from hitless.errors import BadInput
from hitless.outcome.facts import facts_of
from hitless.outcome.run import Run
from hitless.outcome.times import ALL_SIZES, PERCENTILES, Times, times_of
from hitless.visible import visible


@dataclass(frozen=True, slots=True)
class RunPictures:
    """The pictures that a run can show. What it has not recorded raises `BadInput`."""

    run: Run

    def fct_tail(self, *groups: str) -> Picture:
        """The share of completion times at or above each, of all groups of flows or of those named."""
        found = tail(self.run, groups)
        if found is None:
            hint = "the run has to keep messages, and some of these groups have to be completed"
            raise BadInput("there are no completion times to draw", hint=hint)
        return Picture(found)

    def queues(self) -> Picture:
        """Bytes at the ports that ``[[measure.queue]]`` looks at, over time."""
        return self._samples("queues", "[[measure.queue]]")

    def throughput(self) -> Picture:
        """Bytes that arrived over the links that ``[[measure.throughput]]`` looks at, in each of its intervals."""
        return self._samples("throughput", "[[measure.throughput]]")

    def _samples(self, table: str, asked_by: str) -> Picture:
        found = samples(self.run, table)
        if found is None:
            raise BadInput(f"there are no samples of {table} to draw", hint=f"{asked_by} of the scenario asks for them")
        return Picture(found)


def tail(run: Run, groups: Sequence[str] = ()) -> Plot | None:
    """The tail of the completion times of each group; None where there are none."""
    whole = [times for times in times_of(run) if times.sizes == ALL_SIZES and times.us.size]
    chosen = [times for times in whole if not groups or times.group in groups]
    if not chosen:
        return None
    series = [_tail_of(times) for times in chosen]
    return Plot("Completion times", "FCT (us)", "share at or above", series, x_scale="log", y_scale="log")


_DRAWN = 20_000
"""Points of a curve: more cannot be told apart."""


def _tail_of(times: Times) -> Series:
    """The tail of one group; of very many values some of the points, each where it is, and all of the end."""
    if times.us.size <= _DRAWN:
        return tail_series(_name(times), times.us.tolist())
    values = np.sort(times.us)
    from_end = np.unique(np.geomspace(1, values.size, _DRAWN).astype(np.int64))
    places = (values.size - from_end)[::-1]
    first = np.searchsorted(values, values[places])
    return Series(_name(times), values[places].tolist(), (1.0 - first / values.size).tolist(), style="step")


def _name(times: Times) -> str:
    return f"{times.group}, queries" if times.what == "queries" else times.group


_SAMPLED = {
    "queues": ("port", "Queue depth", "KB", 1e3),
    "throughput": ("link", "Carried in each interval", "MB", 1e6),
}


def samples(run: Run, table: str) -> Plot | None:
    """What samplers saw over time, one curve for each place they looked at; None where they saw nothing."""
    subject, title, unit, scale = _SAMPLED[table]
    if table not in run.tables or run.table(table).is_empty():
        return None
    frames = run.table(table).partition_by(subject, as_dict=True, maintain_order=True)
    series = [
        Series(str(name), (frame["time_ps"] / 1e9).to_list(), (frame["value_bytes"] / scale).to_list())
        for (name,), frame in frames.items()
    ]
    return Plot(title, "time (ms)", f"{title.lower()} ({unit})", series)


def run_as_html(run: Run) -> str:
    """A small table, and the tail of its completion times where it has any."""
    plot = tail(run)
    return _table(_facts(run)) + (Picture(plot).svg if plot else "")


def scenario_as_html(name: str, effective: str) -> str:
    """What a scenario consists of, in a few lines."""
    return _table([("name", name), *facts_of(effective)])


def _facts(run: Run) -> Iterable[tuple[str, str]]:
    scenario = tomllib.loads(run.effective)
    values = run.summary.values
    yield str(scenario.get("name", "run")), str(scenario.get("description", ""))
    yield "seed", str(values.get("seed", ""))
    if "simulated_s" in values:
        yield "simulated", f"{float(values['simulated_s']) * 1e3:,.3f} ms in {run.wall_s:.2f} s"
    if isinstance(values.get("flows"), dict):
        yield "flows", ", ".join(f"{count:,} {what}" for what, count in values["flows"].items() if count)
    for times in times_of(run):
        if times.sizes == ALL_SIZES and times.us.size:
            yield f"FCT of {_name(times)}", _percentiles(times)
    yield "dropped", ", ".join(f"{count:,} {why}" for why, count in run.summary.drops.items()) or "nothing"
    for warning in run.summary.warnings:
        yield "warning", warning


def _percentiles(times: Times) -> str:
    found = zip(PERCENTILES, times.percentiles_us(), strict=True)
    return ", ".join(f"p{percent:g} {value:,.1f} us" for percent, value in found if value is not None)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
        if text
    )
    return f"<table>{visible(cells)}</table>"
