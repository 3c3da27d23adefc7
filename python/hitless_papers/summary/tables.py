"""Tables of the summary in Markdown."""

from collections import Counter
from collections.abc import Iterable, Sequence

from hitless.numbers import format_number
from hitless_papers.envelope.exhibit import HARMS, HELPS, REFUSED, WORST
from hitless_papers.judge import VERDICT_WORDS, VERDICTS
from hitless_papers.summary.document import Summary, SummaryExhibit, SummaryRow

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


def rows_of(exhibits: Iterable[SummaryExhibit]) -> str:
    """All rows of exhibits that have a number of the paper or a verdict."""
    lines = [_line(["exhibit", "what", "paper", "measured", "verdict"]), "|---|---|---:|---:|---|"]
    for exhibit in exhibits:
        title = f"{exhibit.id} ({provenance(exhibit)})"
        for number, row in enumerate(exhibit.rows):
            cells = [title if number == 0 else "", _what(row), _paper(row), _measured(row), _verdict(row)]
            lines.append(_line(cells))
    return "\n".join(lines)


def chosen(rows: Iterable[tuple[str, str, SummaryRow]]) -> str:
    """Rows with words of their own: what stands before them, the words, and the row."""
    lines = [_line(["", "what", "paper", "measured", "verdict"]), "|---|---|---:|---:|---|"]
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
    """Rows that differ: the id of the exhibit, the row, its cause."""
    lines = [_line(["exhibit", "what", "paper", "measured", "cause"]), "|---|---|---:|---:|---|"]
    lines += [_line([name, _what(row), _paper(row), _measured(row), cause]) for name, row, cause in rows]
    return "\n".join(lines)


def provenance(exhibit: SummaryExhibit) -> str:
    """How an exhibit was run: effort, seeds, commit."""
    seeds = f"seed {exhibit.seeds[0]}" if len(exhibit.seeds) == 1 else f"{len(exhibit.seeds)} seeds"
    return f"{exhibit.effort}, {seeds}, {exhibit.commit}"


def _what(row: SummaryRow) -> str:
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
