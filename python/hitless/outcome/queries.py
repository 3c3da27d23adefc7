"""Queries of incasts: the completion time of a query is divided along the critical path of its last answer."""

from collections.abc import Mapping

import polars as pl

from hitless.errors import BadInput
from hitless.outcome.autopsy import Fronts, Why, autopsy_of, explained, of_group

HAVE_QUERIES = "incast groups with two or more queries have autopsies of queries; missing answers exclude a query"
"""Condition for autopsies of queries."""
_MESSAGES = "messages"
_ANSWER = ("flow", "number")
_QUERY = ("group", "query")


def queries_of(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return a row for each query with all its answers: the autopsy of the last answer, and its column ``query``.

    ``started_ps`` is the start of the query. If its last answer started later, ``application_ps`` has that time, too.
    """
    autopsies = autopsy_of(tables).with_columns(pl.col("group").cast(pl.String))
    if _MESSAGES not in tables:
        return autopsies.clear().with_columns(query=pl.lit(0, pl.UInt64))
    answers = _answers(tables[_MESSAGES])
    whole = _whole(answers)
    last = (
        autopsies.join(answers.select(*_ANSWER, "query"), on=_ANSWER, maintain_order="left")
        .join(whole.filter("is_done"), on=_QUERY, maintain_order="left")
        .filter(pl.col("delivered_ps") == pl.col("ended_ps"))
        .unique(_QUERY, keep="first", maintain_order=True)
    )
    later_ps = (pl.col("started_ps") - pl.col("began_ps")).cast(pl.UInt64)
    charged = last.with_columns(application_ps=pl.col("application_ps") + later_ps, started_ps=pl.col("began_ps"))
    return charged.select(*autopsies.columns, "query")


def unanswered(messages: pl.DataFrame) -> int:
    """Return the number of queries with missing answers."""
    return len(_whole(_answers(messages)).filter(~pl.col("is_done")))


def _answers(messages: pl.DataFrame) -> pl.DataFrame:
    of_query = pl.col("query").max().over("group") > 0
    return messages.with_columns(pl.col("group").cast(pl.String)).filter(of_query)


def _whole(answers: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each query, with its start and its end."""
    return answers.group_by(_QUERY).agg(
        began_ps=pl.col("started_ps").min(),
        ended_ps=pl.col("delivered_ps").max(),
        is_done=(pl.col("delivered_ps") >= pl.col("started_ps")).all(),
    )


def why_query(
    tables: Mapping[str, pl.DataFrame], query: int, group: str | None = None, *, fronts: Fronts | None = None
) -> Why:
    """Explain a query by its last answer. Raises `BadInput` without it, or if groups have queries of this number.

    ``fronts`` is the table ``autopsy_front``; without it, no frames in queues are named.
    """
    found = of_group(queries_of(tables), group, "answered query").filter(pl.col("query") == query)
    if found.is_empty():
        of = f" of {group}" if group else ""
        raise BadInput(f"there is no autopsy of query {query}{of}", hint=HAVE_QUERIES)
    if len(found) > 1:
        groups = ", ".join(found["group"])
        raise BadInput(f"several groups have a query {query}", hint=f"name one of the groups: {groups}")
    return explained(found, fronts)[0]
