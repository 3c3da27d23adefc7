"""`hitless why`: completion times explained."""

from pathlib import Path
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.table import Table

from hitless.cli.reading_app import WhyOptions
from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.outcome.around import counts_at, parts_at, sentences_at
from hitless.outcome.autopsy import TABLE, Why, of_group, slowest
from hitless.outcome.autopsy import why as explain
from hitless.outcome.front import FRONT_TABLE
from hitless.outcome.queries import HAVE_QUERIES, queries_of, unanswered, why_query
from hitless.terminal.console import print_json, print_text, stdout

_PS_PER_US = 1e6


def why(options: WhyOptions) -> int:
    _refuse_mixtures(options)
    path = _autopsies(options.folder)
    fronts, messages = (_scan(path.with_name(f"{name}.parquet")) for name in (FRONT_TABLE, "messages"))
    tables = {TABLE: pl.read_parquet(path)}
    if (options.query is not None or options.queries) and messages is not None:
        tables["messages"] = messages.collect()
        messages = tables["messages"].lazy()
    if options.query is not None:
        return _show(why_query(tables, options.query, options.group, fronts=fronts), options)
    what = "answered query" if options.queries else "delivered message"
    autopsies = of_group(queries_of(tables) if options.queries else tables[TABLE], options.group, what)
    if options.flow is not None:
        return _show(explain(autopsies, options.flow, options.number, fronts=fronts), options)
    found, parts = slowest(autopsies, options.slowest, fronts=fronts), parts_at(autopsies)
    sentences = sentences_at(autopsies, "queries" if options.queries else "messages")
    if options.json:
        about = {"slowest": [_as_json(one) for one in found], "parts_us": parts.to_dicts(), "percentiles": sentences}
        print_json(about)
        return 0
    nothing = f"no query to explain: {HAVE_QUERIES}" if options.queries else "no message was delivered"
    print_text("\n".join(f"{_name(one)}: {one.sentence}" for one in found) or nothing)
    if parts.width > 1:
        _show_parts(parts)
        print_text("\n".join(f"{name}: {sentence}" for name, sentence in sentences.items()))
        print_text(_counts(len(autopsies), messages, options))
    return 0


def _refuse_mixtures(options: WhyOptions) -> None:
    """Raise `BadInput` for arguments that exclude each other."""
    of_message = [name for name, value in (("FLOW", options.flow), ("--number", options.number)) if value is not None]
    of_query = [*["--query"] * (options.query is not None), *["--queries"] * options.queries]
    if of_message and of_query:
        hint = "FLOW and --number explain a message, --query and --queries explain queries"
        raise BadInput(f"{of_message[0]} and {of_query[0]} exclude each other", hint=hint)
    if len(of_query) > 1:
        raise BadInput("--query and --queries exclude each other", hint="--queries explains the slowest queries")
    if of_message == ["--number"]:
        raise BadInput("--number needs a flow", hint="hitless why RUN FLOW --number N")


def _scan(path: Path) -> pl.LazyFrame | None:
    return pl.scan_parquet(path) if path.is_file() else None


def _show(one: Why, options: WhyOptions) -> int:
    if options.json:
        print_json(_as_json(one))
    else:
        _show_message(one)
    return 0


def _autopsies(folder: Path) -> Path:
    """Return the file of autopsies in a folder of results, or in its subfolder with tables. Raises `BadInput`."""
    paths = [
        path for path in (folder / f"{TABLE}.parquet", *sorted(folder.glob(f"*/{TABLE}.parquet"))) if path.is_file()
    ]
    if not paths:
        hint = "autopsy = true in [measure] of the scenario divides completion times; then hitless run --out FOLDER"
        raise BadInput("there is no autopsy", where=str(folder), hint=hint)
    if len(paths) > 1:
        names = ", ".join(str(path.parent) for path in paths)
        raise BadInput("there are several runs with autopsies", where=str(folder), hint=f"name one of: {names}")
    return paths[0]


def _name(one: Why) -> str:
    message = f", message {one.number}" if one.number else ""
    size = f"{format_number(one.bytes / 1e3)} KB"
    if one.query is not None:
        return f"query {one.query} ({one.group}; the last answer is flow {one.flow}{message}, {size})"
    return f"flow {one.flow} ({one.group}{message}, {size})"


def _as_json(one: Why) -> dict[str, Any]:
    about: dict[str, Any] = {"flow": one.flow, "group": one.group, "number": one.number, "bytes": one.bytes}
    if one.query is not None:
        about = {"query": one.query, **about}
    about["fct_us" if one.query is None else "qct_us"] = one.total_us
    parts = {"round_trips": one.round_trips, "parts_us": dict(one.parts_us)}
    return {**about, "sentence": one.sentence, **parts, "front": one.front.drop("flow", "number").to_dicts()}


def _show_message(one: Why) -> None:
    print_text(f"{_name(one)}: {one.sentence}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("part")
    table.add_column("us", justify="right")
    table.add_column("share", justify="right")
    for row in one.table.iter_rows(named=True):
        table.add_row(row["part"], format_number(row["time_us"]), f"{row['share']:.1%}")
    table.add_row("completion time", format_number(one.total_us), "100.0%")
    stdout.print(table)
    if not one.front.is_empty():
        _show_front(one.front)


def _show_front(front: pl.DataFrame) -> None:
    title = "in front of the packet in its longest queue"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in ("frames", "group or mechanism", "flow"):
        table.add_column(name)
    for name in ("count", "bytes", "us on the line"):
        table.add_column(name, justify="right")
    for row in front.iter_rows(named=True):
        flows = int(row["front_flows"])
        flow = str(row["front_flow"]) if flows == 1 else f"{flows} flows" if flows else ""
        who = row["front_group"] or row["mechanism"]
        times = f"{row['frames']:,}", f"{row['bytes']:,}", format_number(row["time_ps"] / _PS_PER_US)
        table.add_row(row["kind"], who, flow, *times)
    stdout.print(table)


def _show_parts(parts: pl.DataFrame) -> None:
    table = Table(title="mean parts around percentiles, in us", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("part")
    for name in parts.columns[1:]:
        table.add_column(name, justify="right")
    for part, *values in parts.iter_rows():
        table.add_row(part, *(format_number(value) for value in values))
    stdout.print(table)


def _counts(count: int, messages: pl.LazyFrame | None, options: WhyOptions) -> str:
    """Say how many messages or queries are around each percentile, and how many are missing."""
    around = ", ".join(f"{name}: {found:,}" for name, found in counts_at(count).items())
    told = f"{around} of {count:,} {'queries' if options.queries else 'messages'}"
    if messages is None:
        return told
    chosen = messages if options.group is None else messages.filter(pl.col("group") == options.group)
    if options.queries:
        missing, why_not = unanswered(chosen.collect()), "lack answers"
    else:
        missing, why_not = (
            chosen.filter(pl.col("delivered_ps") < 0).select(pl.len()).collect().item(),
            "were not delivered",
        )
    return f"{told}; {missing:,} {why_not} and are missing" if missing else told
