"""`hitless scenario resources`: resources that mechanisms need on a real switch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from hitless.checking import scenario_resources
from hitless.cli.scenario_text import read_scenario, shown_name
from hitless.terminal.console import print_json, print_note, stdout

_NAMES_SHOWN = 4


def resources(path: Path, *, json: bool) -> None:
    found = scenario_resources(read_scenario(path), shown_name(path))
    if json:
        print_json(found)
        return
    if not found:
        print_note(f"{shown_name(path)}: no switch runs a mechanism")
    for switch in found:
        stdout.print(_amounts(switch))
        stdout.print(_registers(switch))
        for mechanism in switch["mechanisms"]:
            for what in mechanism["not_counted"]:
                print_note(f"not counted, {mechanism['mechanism']}: {what}")
        for short in switch["shortages"]:
            print_note(f"over budget: {short['needed']:,} {short['what']}, of {short['available']:,}")


def _amounts(switch: Mapping[str, Any]) -> Table:
    table = Table(title=_title(switch["switches"]), title_justify="left")
    table.add_column("resource")
    mechanisms = switch["mechanisms"]
    for heading in (*(mechanism["mechanism"] for mechanism in mechanisms), "sum", "the switch has"):
        table.add_column(heading, justify="right")
    budget = switch["budget"] or {}
    for name, total in switch["sum"].items():
        taken = [f"{mechanism['takes'][name]:,}" for mechanism in mechanisms]
        table.add_row(name, *taken, f"{total:,}", f"{budget[name]:,}" if name in budget else "")
    for name in (name for name in budget if name not in switch["sum"]):
        table.add_row(name, *("" for _ in mechanisms), "", f"{budget[name]:,}")
    return table


def _registers(switch: Mapping[str, Any]) -> Table:
    table = Table(box=None, caption="outside: the model keeps it outside of register arrays", caption_justify="left")
    table.add_column("register array", no_wrap=True)
    for heading in ("of", "where", "bits", "cells", "arrays", "KiB", "blocks", ""):
        table.add_column(heading, overflow="fold")
    for mechanism in switch["mechanisms"]:
        for register in mechanism["registers"]:
            table.add_row(
                register["name"],
                mechanism["mechanism"],
                f"{register['half']} {register['stage']}",
                str(register["cell_bits"]),
                f"{register['cells']:,}",
                str(register["arrays"]),
                f"{register['bits'] / 8192:,.1f}",
                str(register["blocks"]),
                "outside" if register["modelled_outside"] else "",
            )
    return table


def _title(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    return shown if len(names) <= _NAMES_SHOWN else f"{shown} and {len(names) - _NAMES_SHOWN} more like it"
