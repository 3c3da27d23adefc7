"""Papers' numbers and ranges as text."""

import math

from hitless.numbers import format_number
from hitless_papers.judge import Paper, Range


def format_range(said: Range) -> str:
    """A paper's range as text: "2 to 4", "over 1,000", "at most 60"."""
    if math.isinf(said.high):
        return f"over {format_number(said.low)}"
    if math.isinf(said.low):
        return f"at most {format_number(said.high)}"
    return f"{format_number(said.low)} to {format_number(said.high)}"


def format_paper(paper: Paper | None) -> str:
    """A paper's number or range."""
    return format_range(paper) if isinstance(paper, Range) else format_number(paper)
