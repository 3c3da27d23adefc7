"""The output of `hitless run`: completion times, losses and mechanism activity on one screen."""

from collections.abc import Iterator, Sequence

import polars as pl

from hitless.numbers import NOTHING, format_number
from hitless.outcome.losses import COUNT_THEM, Losses, losses_of
from hitless.outcome.mechanisms import did_of
from hitless.outcome.times import ALL_SIZES, PERCENTILES, Times, goodputs_gbps, times_of
from hitless.simulation import Run
from hitless.terminal.console import stdout

_ROWS_MAX = 9
"""Maximum rows of completion times and of goodput; further groups are only counted."""
_INDENT = "  "


def show_answer(name: str, run: Run) -> None:
    for line in answer(name, run):
        stdout.print(line, markup=False)


def answer(name: str, run: Run) -> Iterator[str]:
    values = run.summary.values
    yield f"{name}: seed {values.get('seed')}, {_time(float(values.get('simulated_s', 0.0)))} simulated"
    if run.summary.incomplete:
        yield f"INCOMPLETE: {run.summary.incomplete}"
    times = times_of(run)
    if times:
        yield ""
        yield from _times(times)
    groups = list(_groups(run))
    if groups:
        yield ""
        yield f"{'flows':<24}{'number':>8}{'goodput':>15}{'retransmitted':>15}{'timeouts':>11}"
        yield from _at_most(groups)
    yield ""
    yield from _losses(losses_of(run), run)
    if run.summary.unfinished:
        yield ""
        yield run.summary.unfinished
    done = did_of(run)
    if done:
        yield ""
        yield "mechanisms"
        yield from (f"{_INDENT}{did.mechanism}: {did}" for did in done)


def _times(times: Sequence[Times]) -> Iterator[str]:
    columns = "".join(f"{f'p{percent:g}':>9}" for percent in PERCENTILES)
    yield f"{'FCT, us':<24}{'number':>8}{'mean':>9}{columns}{'slowdown':>12}"
    yield from _at_most([_time_row(one) for one in times])
    unfinished = sum(one.unfinished for one in times if one.sizes == ALL_SIZES and one.what == "messages")
    if any(one.slowdowns.size for one in times):
        yield f"{_INDENT}slowdown: p50 and p99 of the FCT over the time in the empty fabric"
    if unfinished:
        yield f"{_INDENT}{unfinished:,} were not delivered when the run ended and are excluded"


def _time_row(one: Times) -> str:
    """Return a row: named after the group for all sizes together, then indented for a class or queries."""
    part = "queries (QCT)" if one.what == "queries" else one.sizes
    name = one.group if part == ALL_SIZES else f"  {part}"
    cells = "".join(f"{_number(value):>9}" for value in (one.mean_us, *one.percentiles_us()))
    return f"{_INDENT}{_cut(name, 22):<22}{one.us.size:>8,}{cells}{_slowdowns(one):>12}"


def _slowdowns(one: Times) -> str:
    found = one.slowdowns_at((50.0, 99.0))
    return ", ".join(NOTHING if value is None else f"{value:.3g}" for value in found) if any(found) else NOTHING


def _groups(run: Run) -> Iterator[str]:
    goodputs = {group: (flows, gbps) for group, flows, gbps in goodputs_gbps(run)}
    if not goodputs:
        return
    sums = (pl.col(name).sum() for name in ("packets_retransmitted", "timeouts"))
    by_group = run.scan("flows").group_by("group", maintain_order=True).agg(*sums).collect(engine="streaming")
    for group, again, timeouts in by_group.iter_rows():
        flows, gbps = goodputs[str(group)]
        goodput = f"{_number(gbps)} Gb/s"
        yield f"{_INDENT}{_cut(str(group), 22):<22}{flows:>8,}{goodput:>15}{again:>15,}{timeouts:>11,}"


def _losses(losses: Losses, run: Run) -> Iterator[str]:
    """Return losses: packets lost end to end, separate from frames that only a mechanism missed."""
    if losses.lost_to_hosts is None:
        yield f"packets lost to hosts: unknown, because {losses.why}; {COUNT_THEM}"
    else:
        yield f"packets lost to hosts: {losses.lost_to_hosts:,}"
    for reason, count in losses.dropped.items():
        yield f"{_INDENT}{count:>9,}  dropped: {reason}"
    if losses.corrupted:
        whose = ", including those from mechanisms" if run.summary.values.get("retired") else ""
        yield f"{_INDENT}{losses.corrupted:>9,}  frames corrupted on links{whose}"
    if losses.recovered is not None:
        yield f"{_INDENT}{losses.recovered:>9,}  corrupted packets recovered by mechanisms"
    if losses.lost_down:
        yield f"{_INDENT}{losses.lost_down:>9,}  frames lost on links that were down"


def _at_most(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_ROWS_MAX]
    if len(lines) > _ROWS_MAX:
        yield f"{_INDENT}and {len(lines) - _ROWS_MAX} more: --json has all"


def _number(value: float | None) -> str:
    """Format with at most four digits."""
    return f"{value:,.0f}" if value is not None and 1e3 <= value < 1e7 else format_number(value)


def _cut(name: str, columns: int) -> str:
    return name if len(name) <= columns else f"{name[: columns - 3]}..."


def _time(seconds: float) -> str:
    return f"{format_number(seconds)} s" if seconds >= 1.0 else f"{format_number(seconds * 1e3)} ms"
