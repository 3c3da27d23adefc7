"""`hitless lab`: starting a lab, and what is said of it."""

import tomllib
from pathlib import Path
from typing import Any

from rich.table import Table

from hitless.cli.console import print_json, print_note, stdout
from hitless.cli.run import STANDARD_INPUT, read_scenario, shown_name
from hitless.errors import BadInput
from hitless.lab import client, control, kernel, registry
from hitless.lab.plan import lab_name
from hitless.lab.process import Lab, Launch, ended_by_signals, plan_of
from hitless.lab.scope import scope
from hitless.live import Mode
from hitless.simulation import check_scenario
from hitless.suggest import did_you_mean

MISSES_CODE = 1


def up(
    file: Path,
    *,
    name: str | None,
    foreground: bool,
    strict: bool,
    record: Path | None,
    mode: Mode,
    congestion: str | None,
    json: bool,
) -> int:
    """Start a lab; return the exit code."""
    text, file_name = read_scenario(file), shown_name(file)
    scenario = tomllib.loads(check_scenario(text, file_name))
    kernel.require_tools()
    kernel.require_privileges("hitless lab")
    _require_congestion(congestion)
    _require_writable(record)
    launch = Launch(
        name=lab_name(name, scenario["name"]),
        text=text,
        file_name=file_name if file == STANDARD_INPUT else str(file.absolute()),
        mode=mode,
        is_strict=strict,
        record=client.absolute(record),
        congestion=congestion,
    )
    plan_of(launch)
    _say_scope(scenario, text)
    if foreground:
        return _in_foreground(launch, json=json)
    ready = client.start(launch, print_note)
    _say_ready(launch, ready, json=json)
    print_note(_next_steps(launch))
    return 0


def _require_congestion(congestion: str | None) -> None:
    available = sorted(kernel.congestion_controls().names)
    if congestion is not None and congestion not in available:
        raise BadInput(f"this kernel has no congestion control {congestion}", hint=did_you_mean(congestion, available))


def _require_writable(record: Path | None) -> None:
    if record is not None and not record.absolute().parent.is_dir():
        raise BadInput(f"there is no folder {record.parent}", where="--record")


def _say_scope(scenario: dict[str, Any], written: str) -> None:
    parts = scope(scenario, written)
    print_note("taken from the scenario: " + "; ".join(parts.used))
    for line in parts.ignored:
        print_note(f"left out: {line}")


def _in_foreground(launch: Launch, *, json: bool) -> int:
    def tell(kind: str, what: Any) -> None:
        if kind == "note":
            print_note(what)
        elif kind == "ready":
            _say_ready(launch, what, json=False)
            print_note("Ctrl-C ends the lab")

    lab = Lab(launch, tell)
    with ended_by_signals(lab):
        result = lab.run()
    return _say_result(launch.name, result, strict=launch.is_strict, json=json)


def _say_ready(launch: Launch, ready: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json({"name": launch.name, **ready})
        return
    table = Table(title=f"lab {launch.name}", title_justify="left")
    for column in ("host", "address", "interface mode", "kernel set to"):
        table.add_column(column)
    modes = {entry["node"]: entry["mode"] for entry in ready["status"].get("interfaces", [])}
    for host in plan_of(launch).hosts:
        table.add_row(host.name, host.address, modes.get(host.name, ""), ready["hosts"][host.name])
    stdout.print(table)
    for line in self_test_lines(ready["status"]):
        print_note(line)


def self_test_lines(status: dict[str, Any]) -> list[str]:
    """What the self-test found."""
    return [str(line) for line in status.get("self_test", [])]


def _next_steps(launch: Launch) -> str:
    first, second = plan_of(launch).hosts[:2]
    which = "" if len(registry.names()) == 1 else f"--name {launch.name} "
    return (
        f"next: hitless lab exec {which}{first.name} -- ping -c 3 {second.name}\n"
        f"      hitless lab status {which}--watch\n"
        f"      hitless lab down {which}"
    ).rstrip()


def execute(name: str | None, host: str, command: list[str]) -> None:
    """Become a program in a host."""
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        raise BadInput("which program?", hint=f"hitless lab exec {host} -- ping -c 3 ADDRESS")
    client.execute(name, host, command)


def ask(name: str | None, request: control.Request) -> None:
    """Have a lab do something, and say what."""
    client.ask(name, request)
    link = getattr(request, "link", "")
    print_note(f"{request.command} {link}: done")


def down(name: str | None, *, every: bool, json: bool) -> int:
    """End labs; return the exit code."""
    if every and name is not None:
        raise BadInput("--name and --all exclude each other")
    chosen = registry.names() if every else [registry.choose(name)]
    if not chosen:
        print_note("no lab is up")
    return max([_end(each, json=json) for each in chosen], default=0)


def _end(name: str, *, json: bool) -> int:
    strict = registry.require(registry.Place(name)).is_strict
    result = client.end(name)
    if result is None:
        print_note(f"the lab {name} had no process any more; what it left is removed")
        return 0
    return _say_result(name, result, strict=strict, json=json)


def _say_result(name: str, result: dict[str, Any], *, strict: bool, json: bool) -> int:
    misses = int(result.get("misses", 0))
    if json:
        print_json({"name": name, **result})
    print_note(f"the lab {name} is down, and nothing of it is left")
    if misses:
        print_note(f"warning: {misses} deadlines were missed: for those moments it was not the switch of the scenario")
    return MISSES_CODE if misses and strict else 0


def show_list(*, json: bool) -> None:
    """Every lab."""
    labs = client.listed()
    if json:
        print_json([{**each.record.model_dump(), "is_up": each.is_up} for each in labs])
        return
    if not labs:
        print_note("no lab is up")
        return
    table = Table()
    for column in ("lab", "state", "since", "hosts", "scenario"):
        table.add_column(column)
    for each in labs:
        record = each.record
        state = "up" if each.is_up else "its process is gone"
        table.add_row(record.plan.name, state, record.started_at, str(len(record.plan.hosts)), record.scenario)
    stdout.print(table)
