"""`hitless lab`: starting a lab, and its messages."""

import re
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.table import Table

from hitless.cli.grid import print_columns
from hitless.cli.lab_app import UpOptions
from hitless.cli.live_result import warn
from hitless.cli.scenario_text import STANDARD_INPUT, read_scenario, shown_name
from hitless.errors import BadInput, HitlessError
from hitless.lab import client, control, kernel, registry, results
from hitless.lab.plan import NAME_PATTERN, LabPlan, lab_name
from hitless.lab.process import Lab, Launch, ended_by_signals, plan_of
from hitless.lab.rates import scaled
from hitless.lab.scope import scope
from hitless.live import LiveScenario, Status, check_live, replay
from hitless.prototype.kinds import load
from hitless.service import control as service_control
from hitless.suggest import did_you_mean
from hitless.terminal.console import print_error, print_json, print_note, print_text, stdout


def up(options: UpOptions) -> int:
    file, mechanisms = options.scenario, options.mechanism or []
    load(mechanisms)
    text, file_name = read_scenario(file), shown_name(file)
    if options.scale_rates is not None:
        check_live(text, file_name)
        factor = options.scale_rates
        text = scaled(text, factor, file_name)
        print_note(f"--scale-rates {factor:g}: all links are {1 / factor:,.4g} times slower; delays stay")
    scenario = check_live(text, file_name)
    kernel.require_tools()
    kernel.require_privileges("hitless lab")
    _require_congestion(options.congestion)
    if options.record is not None and not options.record.absolute().parent.is_dir():
        raise BadInput(f"there is no folder {options.record.parent}", where="--record")
    if options.out is not None:
        results.require_new(options.out)
    launch = Launch(
        name=lab_name(options.name, scenario.effective["name"]),
        text=text,
        file_name=file_name if file == STANDARD_INPUT else str(file.absolute()),
        mode=options.mode,
        slack_us=options.slack_us,
        real_time=options.real_time,
        is_strict=options.strict,
        record=client.absolute(options.record),
        congestion=options.congestion,
        mechanisms=[str(file.absolute()) for file in mechanisms],
        ipv6=options.ipv6,
        out=client.absolute(options.out),
        command=["hitless", *sys.argv[1:]],
    )
    plan = plan_of(launch.name, scenario, ipv6=options.ipv6)
    _say_scope(scenario, has_results=options.out is not None)
    if options.foreground:
        return _in_foreground(launch, plan, json=options.json)
    ready = client.start(launch, print_note)
    # It is up: Ctrl-C could not undo that any more, and would only suppress the instructions.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if options.json:
        print_json({"name": plan.name, **ready})
    _say_ready(plan, ready, table=not options.json)
    print_note(_next_steps(plan))
    return 0


def _require_congestion(congestion: str | None) -> None:
    available = sorted(kernel.congestion_controls().names)
    if congestion is not None and congestion not in available:
        raise BadInput(f"this kernel has no congestion control {congestion}", hint=did_you_mean(congestion, available))


def _say_scope(scenario: LiveScenario, *, has_results: bool) -> None:
    parts = scope(scenario.effective, scenario.text, has_results=has_results)
    print_note("taken from the scenario: " + "; ".join(parts.used))
    for line in parts.ignored:
        print_note(f"left out: {line}")


def _in_foreground(launch: Launch, plan: LabPlan, *, json: bool) -> int:
    def tell(kind: str, what: Any) -> None:
        if kind == "note":
            print_note(what)
        elif kind == "ready":
            _say_ready(plan, what, table=not json)
            print_note("Ctrl-C ends the lab")

    lab = Lab(launch, tell)
    with ended_by_signals(lab):
        result = lab.run()
    return _say_result(launch.name, result, strict=launch.is_strict, json=json)


def _say_ready(plan: LabPlan, ready: dict[str, Any], *, table: bool) -> None:
    if table:
        stdout.print(_hosts(plan, ready))
    for line in _self_test_lines(ready["status"]):
        print_note(line)
    for warning in ready["status"]["warnings"]:
        print_note(f"warning: {warning}")


def _hosts(plan: LabPlan, ready: dict[str, Any]) -> Table:
    table = Table(title=f"lab {plan.name}", title_justify="left")
    for column in ("host", "address", "interface mode", "kernel set to"):
        table.add_column(column)
    modes = {port["node"]: port["mode"] for port in ready["status"]["ports"]}
    kinds = ((modes.get(host.name, ""), ready["hosts"][host.name]) for host in plan.hosts)
    for kind, alike in groupby(zip(kinds, plan.hosts, strict=True), key=lambda pair: pair[0]):
        hosts = [host for _, host in alike]
        table.add_row(_range([host.name for host in hosts]), _range([host.address for host in hosts]), *kind)
    return table


def _range(names: Sequence[str]) -> str:
    """Format equal neighbours as one line: "h0 .. h319"."""
    return names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]}"


def _self_test_lines(status: Mapping[str, Any]) -> Iterator[str]:
    """Return the self-test's results, next to the scenario's requirements."""
    found = status.get("self_test")
    if found is not None:
        late = found["wake_up"]
        yield (
            f"self-test: wakes up {late['median_ns'] / 1e3:.0f} us late, at most {late['worst_ns'] / 1e3:.0f} us; "
            f"forwards {found['forwarded_per_s']:,.0f} frames/s of {found['asked_per_s']:,.0f} that a host may send"
        )


def _next_steps(plan: LabPlan) -> str:
    first, second = plan.hosts[:2]
    which = "" if registry.own_names() == [plan.name] else f"--name {plan.name} "
    return (
        f"next: hitless lab exec {which}{first.name} -- ping -c 3 {second.name}\n"
        f"      hitless lab status {which}--watch\n"
        f"      hitless lab down {which}"
    ).rstrip()


def execute(name: str | None, host: str, command: list[str]) -> None:
    """Replace this process by a program in a host."""
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        raise BadInput("which program?", hint=f"hitless lab exec {host} -- ping -c 3 ADDRESS")
    client.execute(name, host, command)


def ask(name: str | None, command: type[control.LinkRequest], **values: Any) -> None:
    """Send a command for a link to a lab, and report the result. Raises `BadInput` for invalid values."""
    request = service_control.made(command, values)
    client.ask(name, request)
    print_note(f"{request.command} {request.link}: done")


def down(name: str | None, *, every: bool, json: bool) -> int:
    if every and name is not None:
        raise BadInput("--name and --all exclude each other")
    if name is not None and re.fullmatch(NAME_PATTERN, name) and client.has_leftovers(name):
        _clear_leftovers(name)
        return 0
    chosen = registry.own_names() if every else [registry.choose(name)]
    if every and (others := [other for other in registry.names() if other not in chosen]):
        print_note(f"labs of other users stay: {', '.join(others)}; --name ends one")
    if not chosen:
        print_note("no lab is up" if not registry.names() else f"no lab of {registry.current_user()} is up")
    return max([_try_end(each, json=json) for each in chosen], default=0)


def _clear_leftovers(name: str) -> None:
    last_words = client.clear_leftovers(name)
    print_note(f"the lab {name} was already down; its remains are removed")
    if last_words:
        print_note(last_words)


def _try_end(name: str, *, json: bool) -> int:
    """Stop a lab without raising, so that others can be stopped, too."""
    try:
        return _end(name, json=json)
    except HitlessError as fault:
        print_error(fault)
        return fault.exit_code


def _end(name: str, *, json: bool) -> int:
    strict = registry.require(registry.Place(name)).is_strict
    ended = client.end(name)
    if ended.result is None:
        print_note(f"the lab {name} left no results; its remains are removed")
        if ended.last_words:
            print_note(ended.last_words)
        return 0
    return _say_result(name, ended.result, strict=strict, json=json)


def _say_result(name: str, result: Status, *, strict: bool, json: bool) -> int:
    if json or result.not_written:
        print_json({"name": name, "misses": result.misses, **result.values})
    values = result.values
    print_note(
        f"the lab {name} is down and removed: it was up for {values['elapsed_s']:.0f} s, "
        f"{values['frames_entered']} frames in, {values['frames_left']} out"
    )
    return warn(result, strict=strict)


def show_replay(file: Path, *, other: Path | None, mechanisms: Sequence[Path], json: bool) -> int:
    """Repeat a recorded run, or its frames in another scenario; return the exit code."""
    load(mechanisms)
    found = replay(file, check_live(read_scenario(other), shown_name(other)) if other else None)
    if json:
        print_json(asdict(found))
    else:
        print_text(f"{found.arrivals} frames, {found.commands} commands, {found.equal_decisions} equal decisions")
    if not found.is_complete:
        print_note("warning: the recording is truncated: the lab was killed, or its disk did not keep up")
    if found.divergence is None:
        return 0
    print_note(f"the replay differs {found.divergence}")
    return 1


def show_list(*, json: bool) -> None:
    labs = client.listed()
    if json:
        print_json([{**each.record.model_dump(), "is_up": each.is_up} for each in labs])
        return
    if not labs:
        print_note("no lab is up")
        return
    rows = [("lab", "state", "since", "owner", "hosts", "scenario")]
    for each in labs:
        record, state = each.record, "up" if each.is_up else "its process is gone"
        hosts = str(len(record.plan.hosts))
        rows.append((record.plan.name, state, record.started_at, record.owner, hosts, record.scenario))
    print_columns(rows)
