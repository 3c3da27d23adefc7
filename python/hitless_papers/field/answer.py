"""Tables and sentences of `hitless_papers.field.one_bad_link` in Markdown."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from hitless.numbers import NOTHING, format_number
from hitless_papers.field.one_bad_link import LAST, P99, PERMUTATION, WORKLOADS, Scale, metric
from hitless_papers.field.transports import TRANSPORTS
from hitless_papers.field.troubles import CUT, FLAPPING, HEALTHY, LLR, REROUTED, SLOW, loss
from hitless_papers.model import Context, Effort

EXHIBIT = "field/one-bad-link"
_NO_END = "no end"


class Time(Protocol):
    """A row of the exhibit, in microseconds; None if a flow does not end."""

    @property
    def measured(self) -> float | None: ...
    @property
    def ci_low(self) -> float | None: ...
    @property
    def ci_high(self) -> float | None: ...


Find = Callable[[tuple[str, str, str]], Time | None]
"""Returns the row with this series, x and metric."""

_WORST = loss("1e-2").name
_SHOWN = [
    HEALTHY.name,
    *(", ".join([_WORST, *more]) for more in ([], [LLR.name], ["LinkGuardian"])),
    SLOW.name,
    FLAPPING.name,
    f"{FLAPPING.name}, {LLR.name}",
    CUT.name,
    f"{CUT.name}, {REROUTED.name}",
]
"""Lines of README's table."""


def short(find: Find, effort: Effort) -> str:
    """Return README's table of the permutation's last flow, and three sentences."""
    return f"{_table(find, _SHOWN, metric(LAST, PERMUTATION), _plain)}\n\n{_sentences(find, effort)}"


def whole(find: Find, effort: Effort) -> str:
    """Return a table with intervals for each workload and quantity."""
    return "\n\n".join(_whole(find, effort))


def _whole(find: Find, effort: Effort) -> Iterator[str]:
    scale = Scale.of(Context(effort=effort))
    lines = list(dict.fromkeys(cell.x for cell in scale.cells()))
    for workload in WORKLOADS:
        for quantity in (LAST, P99):
            name = metric(quantity, workload)
            yield f"**{name[:1].upper()}{name[1:]}, us**\n\n{_table(find, lines, name, _with_interval)}"


def _table(find: Find, lines: Sequence[str], name: str, shown: Callable[[Time], str]) -> str:
    names = [transport.name for transport in TRANSPORTS]
    made = [" | ".join(["| link", *names]) + " |", "|---|" + "---:|" * len(names)]
    for x in lines:
        found = [find((transport, x, name)) for transport in names]
        cells = [NOTHING if row is None else shown(row) for row in found]
        made.append(f"| {' | '.join([x, *cells])} |")
    return "\n".join(made)


def _plain(row: Time) -> str:
    return _NO_END if row.measured is None else format_number(float(f"{row.measured:.4g}"))


def _with_interval(row: Time) -> str:
    if row.measured is None or row.ci_low is None or row.ci_high is None:
        return _plain(row)
    low, high = (format_number(float(f"{end:.4g}")) for end in (row.ci_low, row.ci_high))
    return f"{_plain(row)} [{low}, {high}]"


def _sentences(find: Find, effort: Effort) -> str:
    fabric = Scale.of(Context(effort=effort)).fabric
    links = 3 * fabric.hosts  # k^3 / 4 links in each of three tiers
    spraying = [transport.name for transport in TRANSPORTS if transport.chooses_paths]
    others = [transport.name for transport in TRANSPORTS if not transport.chooses_paths]

    def longer(names: Sequence[str], x: str) -> str:
        return ", ".join(f"{name} {_percent(find, name, x)}" for name in names)

    rerouted, llr = f"{CUT.name}, {REROUTED.name}", f"{_WORST}, {LLR.name}"
    sentences = (
        f"One of {links:,} links loses 1 % of its frames, and the last of {fabric.hosts:,} flows takes longer than in "
        f"a healthy fabric: {longer([*spraying, *others], _WORST)}. With LLR on that link the differences are "
        f"{longer([*spraying, *others], llr)}. An undetected cut costs {longer(spraying, CUT.name)}; if the switches "
        f"at its ends reroute, {longer(spraying, rerouted)}."
    )
    return textwrap.fill(sentences, 120)


def _percent(find: Find, transport: str, x: str) -> str:
    healthy, row = (find((transport, each, metric(LAST, PERMUTATION))) for each in (HEALTHY.name, x))
    if healthy is None or row is None or not healthy.measured:
        return NOTHING
    if row.measured is None:
        return _NO_END
    percent = round(100 * (row.measured / healthy.measured - 1))
    return f"{percent:+d} %" if percent else "0 %"
