"""`hitless why`: completion times explained."""

from pathlib import Path
from typing import Any

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.table import Table

from hitless.cli.reading_app import WhyOptions
from hitless.errors import BadInput
from hitless.numbers import format_number
from hitless.outcome.autopsy import TABLE, Why, parts_at, slowest
from hitless.outcome.autopsy import why as explain
from hitless.suggest import did_you_mean
from hitless.terminal.console import print_json, print_text, stdout


def why(options: WhyOptions) -> int:
    autopsies = _chosen(_autopsies(options.folder), options.group)
    if options.flow is not None:
        explained = explain(autopsies, options.flow, options.number)
        if options.json:
            print_json(_as_json(explained))
        else:
            _show_message(explained)
        return 0
    found, parts = slowest(autopsies, options.slowest), parts_at(autopsies)
    if options.json:
        print_json({"slowest": [_as_json(one) for one in found], "parts_us": parts.to_dicts()})
        return 0
    print_text("\n".join(f"{_name(one)}: {one.sentence}" for one in found) or "no message was delivered")
    if parts.width > 1:
        _show_parts(parts)
    return 0


def _autopsies(folder: Path) -> pl.DataFrame:
    """Return the autopsies in a folder of results, or in its subfolder with tables. Raises `BadInput`."""
    paths = [
        path for path in (folder / f"{TABLE}.parquet", *sorted(folder.glob(f"*/{TABLE}.parquet"))) if path.is_file()
    ]
    if not paths:
        hint = "autopsy = true in [measure] of the scenario divides completion times; then hitless run --out FOLDER"
        raise BadInput("there is no autopsy", where=str(folder), hint=hint)
    if len(paths) > 1:
        names = ", ".join(str(path.parent) for path in paths)
        raise BadInput("there are several runs with autopsies", where=str(folder), hint=f"name one of: {names}")
    return pl.read_parquet(paths[0])


def _chosen(autopsies: pl.DataFrame, group: str | None) -> pl.DataFrame:
    if group is None:
        return autopsies
    groups = autopsies["group"].unique(maintain_order=True).to_list()
    if group not in groups:
        raise BadInput(f"no delivered message is of a group {group!r}", hint=did_you_mean(group, groups))
    return autopsies.filter(pl.col("group") == group)


def _name(one: Why) -> str:
    message = f", message {one.number}" if one.number else ""
    return f"flow {one.flow} ({one.group}{message})"


def _as_json(one: Why) -> dict[str, Any]:
    about = {"flow": one.flow, "group": one.group, "number": one.number, "fct_us": one.total_us}
    return {**about, "sentence": one.sentence, "round_trips": one.round_trips, "parts_us": dict(one.parts_us)}


def _show_message(one: Why) -> None:
    print_text(f"{_name(one)}: {one.sentence}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("part")
    table.add_column("us", justify="right")
    table.add_column("share", justify="right")
    for row in one.table.iter_rows(named=True):
        table.add_row(row["part"], f"{row['time_us']:,.6f}", f"{row['share']:.1%}")
    table.add_row("completion time", f"{one.total_us:,.6f}", "100.0%")
    stdout.print(table)


def _show_parts(parts: pl.DataFrame) -> None:
    table = Table(title="mean parts around percentiles, in us", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("part")
    for name in parts.columns[1:]:
        table.add_column(name, justify="right")
    for part, *values in parts.iter_rows():
        table.add_row(part, *(format_number(value) for value in values))
    stdout.print(table)
