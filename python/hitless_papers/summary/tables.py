"""Tables of the summary in Markdown."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from hitless.numbers import format_number
from hitless_papers.envelope.exhibit import HARMS, HELPS, REFUSED, WORST
from hitless_papers.judge import VERDICT_WORDS, VERDICTS
from hitless_papers.summary.document import Summary, SummaryExhibit, SummaryRow, SummaryTail
from hitless_papers.tails import TITLE

_WORDS = {**VERDICT_WORDS, "differs": "**differs**"}


def counts(summary: Summary, papers: Sequence[tuple[str, str]]) -> str:
    """Verdicts by paper; ``papers`` are their names and titles."""
    lines = [_line(["paper", *(VERDICT_WORDS[verdict] for verdict in VERDICTS)]), "|---|" + "---:|" * len(VERDICTS)]
    total: Counter[str] = Counter()
    for name, title in papers:
        of: Counter[str] = Counter()
        for exhibit in summary.exhibits:
            if exhibit.paper == name:
                of.update(exhibit.verdicts)
        if of:
            total += of
            lines.append(_line([title, *(f"{of[verdict]}" for verdict in VERDICTS)]))
    lines.append(_line(["all", *(f"{total[verdict]}" for verdict in VERDICTS)]))
    return "\n".join(lines)


def sections(exhibits: Iterable[SummaryExhibit], titles: Mapping[str, str]) -> str:
    """A section for each exhibit: title, provenance, and all rows with a verdict or a number of the paper."""
    return "\n\n".join(_section(exhibit, titles.get(exhibit.id, "")) for exhibit in exhibits)


def _section(exhibit: SummaryExhibit, title: str) -> str:
    heading = f"## {exhibit.id}: {title}" if title else f"## {exhibit.id}"
    rows = [row for row in exhibit.rows if not row.is_finding]
    seeds = f"seed {exhibit.seeds[0]}" if len(exhibit.seeds) == 1 else f"{len(exhibit.seeds)} seeds"
    lines = [heading, "", f"Effort {exhibit.effort}, {seeds}, commit {exhibit.commit}."]
    if exhibit.tail is not None:
        lines += _tail(exhibit.tail)
    if exhibit.rows and not rows:
        return "\n".join(lines)
    lines += ["", _line(["quantity", "paper", "measured", "verdict"]), "|---|---:|---:|---|"]
    lines += [_line([_name(row), _paper(row), _measured(row), _verdict(row)]) for row in rows]
    return "\n".join(lines)


def _tail(tail: SummaryTail) -> list[str]:
    """Return a picture of the parts of completion times, and their explanation."""
    words = f"{TITLE}: {tail.title}. {tail.words}. Effort {tail.effort}, seed {tail.seed}, commit {tail.commit}."
    return ["", f"![{tail.title}: parts of completion times](pictures/{tail.picture})", "", textwrap.fill(words, 120)]


def chosen(rows: Iterable[tuple[str, str, SummaryRow]]) -> str:
    """Rows with words of their own: what stands before them, the words, and the row."""
    lines = [_line(["", "quantity", "paper", "measured", "verdict"]), "|---|---|---:|---:|---|"]
    lines += [_line([before, words, _paper(row), _measured(row), _verdict(row)]) for before, words, row in rows]
    return "\n".join(lines)


def maps(exhibits: Iterable[SummaryExhibit]) -> str:
    """Places of each map by colour, and its worst service."""
    lines = [_line(["map", "places", "helps", "no harm", "refused", "harms", "worst service, with / without"])]
    lines.append("|---|" + "---:|" * 6)
    for exhibit in exhibits:
        rows = {row.metric: row for row in exhibit.rows}
        places = int(exhibit.rows[0].x.split()[0])
        helps, refused, harms = (int(rows[metric].measured or 0) for metric in (HELPS, REFUSED, HARMS))
        counts = [places, helps, places - helps - refused - harms, refused, harms]
        lines.append(_line([exhibit.rows[0].series, *map(str, counts), _measured(rows[WORST])]))
    return "\n".join(lines)


def differing(rows: Iterable[tuple[str, SummaryRow, str]]) -> str:
    """Rows that differ: exhibit, row, cause. A cause is printed once for consecutive rows of an exhibit."""
    lines = [_line(["exhibit", "quantity", "paper", "measured", "cause"]), "|---|---|---:|---:|---|"]
    before = None
    for name, row, cause in rows:
        told = "as above" if (name, cause) == before else cause
        lines.append(_line([name, _name(row), _paper(row), _measured(row), told]))
        before = name, cause
    return "\n".join(lines)


def causes(rows: Iterable[tuple[str, SummaryRow, str]]) -> str:
    """Each cause with its exhibits and the number of rows that differ for it."""
    found: dict[str, Counter[str]] = {}
    for name, _, cause in rows:
        found.setdefault(cause, Counter())[name] += 1
    lines = [_line(["exhibits", "rows", "cause"]), "|---|---:|---|"]
    lines += [_line([", ".join(names), f"{names.total()}", cause]) for cause, names in found.items()]
    return "\n".join(lines)


def _name(row: SummaryRow) -> str:
    metric = row.metric if not row.unit or row.unit in row.metric else f"{row.metric}, {row.unit}"
    return ", ".join(filter(None, [row.series, row.x, metric]))


def _paper(row: SummaryRow) -> str:
    return row.paper if isinstance(row.paper, str) else format_number(row.paper)


def _measured(row: SummaryRow) -> str:
    if row.ci_low is None and row.ci_high is None:
        return format_number(row.measured)
    low, high = (format_number(end) for end in (row.ci_low, row.ci_high))
    return format_number(row.measured) if low == high else f"{format_number(row.measured)} [{low}, {high}]"


def _verdict(row: SummaryRow) -> str:
    """The verdict, and where seeds do not agree how many of them have the commonest."""
    word, agreed = _WORDS[row.verdict], row.agreement
    return f"{word} ({agreed})" if agreed else word


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
