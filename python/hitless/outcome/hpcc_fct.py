"""HPCC's `fct.txt`: completion times of flows in the form that its analysis scripts read."""

import re
from pathlib import Path

import numpy as np

from hitless.checking import fabric_of
from hitless.errors import BadInput
from hitless.outcome.ideal import ideal_of
from hitless.outcome.scenario import scenario_of
from hitless.outcome.tables import Columns, Tables
from hitless.whole_file import name_of, read_text

_ADDRESS = 0x0B000001  # of node 0: 11.0.0.1; each node has a network of 256 addresses
_PORT = 100
"""Destination port of HPCC's flows; its scripts select flows by port."""
_SENDING_PORT = 10_000
_PORTS = 55_000
_TABLES = ("flows", "messages", "scenario.toml")


def fct_of_folder(folder: Path) -> str:
    """Return the completion times of the only run in a results folder, or of a run's own folder. Raises `BadInput`."""
    runs = [path.parent for path in (*folder.glob("messages.parquet"), *folder.glob("*/messages.parquet"))]
    if len(runs) != 1:
        hint = "a folder with flows.parquet, messages.parquet and scenario.toml"
        raise BadInput(f"{len(runs)} runs are in the folder", where=name_of(folder), rule="one run", hint=hint)
    tables = Tables({}, {name: runs[0] / f"{name}.parquet" for name in ("flows", "messages")})
    try:
        return fct_text(read_text(runs[0] / "scenario.toml"), tables.columns("messages"), tables.columns("flows"))
    except FileNotFoundError as failed:
        raise BadInput(f"{failed.filename} is missing", where=name_of(runs[0]), rule="a complete run") from failed


def fct_text(effective: str, messages: Columns, flows: Columns) -> str:
    """Return a line for each complete message, in order of completion.

    `source destination source_port destination_port bytes start_ns fct_ns ideal_fct_ns`, addresses in hexadecimal. A
    message is complete when its last byte has arrived; HPCC also counts the acknowledgement's way back, in both times.
    """
    ideal = ideal_of(effective)
    if ideal is None:
        raise BadInput("the scenario has no topology", rule="completion times of an idle network need one")
    scenario = scenario_of(effective)
    address = _addresses(fabric_of(scenario)["hosts"])
    ports = {group["name"]: group.get("port") or _PORT for group in scenario.get("flows", [])}
    ideal_ns = np.ceil(np.nan_to_num(ideal.of(messages, flows)) / 1000).astype(np.int64)
    row_of = {flow: row for row, flow in enumerate(flows["flow"].tolist())}
    sources, destinations, groups = (list(flows[name]) for name in ("source", "destination", "group"))
    lines = []
    for message in np.argsort(messages["delivered_ps"], kind="stable").tolist():
        delivered_ps, row = int(messages["delivered_ps"][message]), row_of.get(int(messages["flow"][message]))
        if delivered_ps < 0 or row is None:
            continue
        started_ps = int(messages["started_ps"][message])
        ends = f"{address[sources[row]]:08x} {address[destinations[row]]:08x}"
        port = _SENDING_PORT + int(messages["flow"][message]) % _PORTS
        size, fct_ns = int(messages["bytes"][message]), -(-(delivered_ps - started_ps) // 1000)
        lines.append(f"{ends} {port} {ports[groups[row]]} {size} {started_ps // 1000} {fct_ns} {ideal_ns[message]}\n")
    return "".join(lines)


def _addresses(hosts: list[str]) -> dict[str, int]:
    """Return the address of each host in HPCC's plan; nodes are numbered by name ("h12"), or by place."""
    named = [re.search(r"[0-9]{1,5}$", host) for host in hosts]
    numbers = [int(number[0]) for number in named if number is not None]
    if len(set(numbers)) < len(hosts):
        numbers = list(range(len(hosts)))
    return {
        host: _ADDRESS + (number // 256 << 16) + (number % 256 << 8)
        for host, number in zip(hosts, numbers, strict=True)
    }
