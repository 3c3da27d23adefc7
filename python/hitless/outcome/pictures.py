"""Pictures of a run, and its display in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from hitless.drawing.picture import Picture
from hitless.drawing.plot import Plot, Series, tail_series
from hitless.errors import BadInput
from hitless.outcome.around import parts_plot
from hitless.outcome.autopsy import TABLE
from hitless.outcome.queries import queries_of
from hitless.outcome.run import Run
from hitless.outcome.scenario import facts_of, scenario_of
from hitless.outcome.times import ALL_SIZES, PERCENTILES, Times, times_of
from hitless.visible import visible


@dataclass(frozen=True, slots=True)
class RunPictures:
    """The pictures that a run can show. Asking for anything that it did not record raises `BadInput`."""

    run: Run

    def fct_tail(self, *groups: str) -> Picture:
        """Plot the share of completion times at or above each value, for all groups of flows or for the named ones."""
        found = tail(self.run, groups)
        if found is None:
            hint = "the run must keep messages, and some of these groups must be completed"
            raise BadInput("there are no completion times to draw", hint=hint)
        return Picture(found)

    def parts(self, *, queries: bool = False) -> Picture:
        """Plot the parts of completion times around the median and in the tail, which ``[measure] autopsy`` records.

        With ``queries``, it plots queries of incasts instead of messages.
        """
        found = query_parts(self.run) if queries else parts(self.run)
        if found is None:
            what = "autopsies of queries" if queries else "autopsies"
            raise BadInput(f"there are no {what} to draw", hint="autopsy = true in [measure] records them")
        return Picture(found)

    def queues(self) -> Picture:
        """Plot the bytes at the ports that ``[[measure.queue]]`` samples, over time."""
        return self._samples("queues", "[[measure.queue]]")

    def throughput(self) -> Picture:
        """Plot the bytes that arrived over the links of ``[[measure.throughput]]``, in each of its intervals."""
        return self._samples("throughput", "[[measure.throughput]]")

    def _samples(self, table: str, asked_by: str) -> Picture:
        found = samples(self.run, table)
        if found is None:
            raise BadInput(f"there are no samples of {table} to draw", hint=f"{asked_by} in the scenario records them")
        return Picture(found)


def tail(run: Run, groups: Sequence[str] = ()) -> Plot | None:
    """Plot the tail of the completion times of each group; None without completion times."""
    whole = [times for times in times_of(run) if times.sizes == ALL_SIZES and times.us.size]
    chosen = [times for times in whole if not groups or times.group in groups]
    if not chosen:
        return None
    series = [_tail_of(times) for times in chosen]
    return Plot("Completion times", "FCT (us)", "share at or above", series, x_scale="log", y_scale="log")


def parts(run: Run) -> Plot | None:
    """Plot the parts of the completion times; None without autopsies."""
    return parts_plot({"run": run.table(TABLE)}) if TABLE in run.tables else None


def query_parts(run: Run) -> Plot | None:
    """Plot the parts of the completion times of queries; None without autopsies or queries."""
    return parts_plot({"run": queries_of(run.tables)}, "queries") if TABLE in run.tables else None


_DRAWN = 20_000
"""Maximum points of a curve; more are indistinguishable."""


def _tail_of(times: Times) -> Series:
    """Return the tail of a group; very long tails are thinned but for the end, and every point keeps its place."""
    if times.us.size <= _DRAWN:
        return tail_series(_name(times), times.us.tolist())
    values = np.sort(times.us)
    from_end = np.unique(np.geomspace(1, values.size, _DRAWN).astype(np.int64))
    places = (values.size - from_end)[::-1]
    first = np.searchsorted(values, values[places])
    return Series(_name(times), values[places].tolist(), (1.0 - first / values.size).tolist(), style="step")


def _name(times: Times) -> str:
    return f"{times.group} (whole queries)" if times.what == "queries" else times.group


_SAMPLED = {"queues": ("port", "Queue depth", "KB", 1e3), "throughput": ("link", "Carried in each interval", "MB", 1e6)}


def samples(run: Run, table: str) -> Plot | None:
    """Plot samples over time, one curve for each sampled place; None without samples."""
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
    """Return a small table, and the tail of the completion times if there are any."""
    plot = tail(run)
    return html_table(_facts(run)) + (Picture(plot).svg if plot else "")


def scenario_as_html(name: str, effective: str) -> str:
    """Return a description of a scenario in a few lines."""
    return html_table([("name", name), *facts_of(effective)])


def _facts(run: Run) -> Iterable[tuple[str, str]]:
    scenario = scenario_of(run.effective)
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


def html_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table with a name and a text in each row, both escaped; rows without text are omitted."""
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in rows
        if text
    )
    return f"<table>{visible(cells)}</table>"
