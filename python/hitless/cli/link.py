"""`hitless link`: one end of a protected link, and the check of its interfaces."""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from hitless.cli.switch import told_result
from hitless.errors import BadInput, HitlessError
from hitless.live import LiveOptions, LiveRun, NetworkInterface, Status, ports
from hitless.quantities import bps_of, seconds_of
from hitless.service.metrics import serving
from hitless.service.privileges import OF_FORWARDING, drop_all_but
from hitless.service.process import log_to_stderr, signals
from hitless.switch import changes, check, kernel_path
from hitless.switch.fail_open import FailOpen
from hitless.switch.link import FRAME_BYTES, RING_FRAMES, LinkPlan, MtuPlan, mtu_plan, scenario, with_settings
from hitless.switch.link_file import EXAMPLE, Config, Link, read_link_file, require_changeable
from hitless.switch.metrics import LiveCollector
from hitless.switch.restorer import restoring
from hitless.switch.service import LiveService
from hitless.switch.status import Overload
from hitless.terminal.console import print_json, print_note, print_text

log = logging.getLogger(__name__)


def _read(text: str, of: Callable[[str], float], named: str, what: str, examples: str) -> float:
    """Parse a quantity from the file or the command line. Raises `BadInput`."""
    try:
        value = of(text)
    except ValueError:
        value = -1.0
    if value < 0.0:
        raise BadInput(f"{named} {text!r} is not a {what}", hint=f"write it as in {examples}")
    return value


def run(config: Config) -> int:
    return _run(_End(config))


def run_file(path: Path) -> int:
    """Protect a link configured by a file, which is read again at SIGHUP; return the exit code."""
    return _run(_End(read_link_file(path), path))


def check_file(path: Path) -> None:
    config = read_link_file(path)
    plan = plan_of(config.link, path)
    _require_two(plan)
    scenario(plan)
    print_text(config.model_dump_json(indent=2))
    print_note(f"{path}: valid; effective configuration above")


def _require_two(plan: LinkPlan) -> None:
    if plan.inside == plan.outside:
        rule = "frames enter through one and leave through the other"
        raise BadInput(f"--inside and --outside are both {plan.inside}", rule=rule)


def example() -> None:
    print_text(EXAMPLE)


def disconnect(file: Path | None, outside: str | None) -> None:
    """Remove the path that the kernel keeps after the end of a link."""
    if file is not None:
        require_alone(outside=outside)
        outside = read_link_file(file).link.outside
    if outside is None:
        raise BadInput("--disconnect: no link given", hint="give FILE or --outside IF")
    print_note(f"{outside}: path removed" if kernel_path.remove(outside) else f"{outside}: there is no path")


def require_alone(**options: str | None) -> None:
    """Refuse options together with a file. Raises `BadInput`."""
    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise BadInput(f"{', '.join(given)}: the file already sets this")


def require_all(**options: str | None) -> None:
    """Require options that are mandatory without a file. Raises `BadInput`."""
    missing = [f"--{name}" for name, value in options.items() if value is None]
    if missing:
        raise BadInput(f"{', '.join(missing)}: missing", hint="or a FILE: hitless link --example prints one")


def plan_of(link: Link, file: Path | None) -> LinkPlan:
    """Return the plan from the file, or from the command line without one."""
    rate, delay, answer = ("rate =", "delay =", "answer =") if file else ("--rate", "--delay", "--answer")
    return LinkPlan(
        inside=link.inside,
        outside=link.outside,
        rate_bps=round(_read(link.rate, bps_of, rate, "rate", '"1 Gbps" or "250 Mbps"')),
        delay_us=round(1e6 * _read(link.delay, seconds_of, delay, "time", '"500 us" or "20 ms"'), 6),
        processes_us=round(1e6 * _read(link.answer, seconds_of, answer, "time", '"5 ms" or "20 ms"'), 6),
        loss_rate=link.loss_rate,
        target_loss_rate=link.target,
        mode=link.mode,
        is_active=link.active,
        vlan_tags=link.vlan_tags,
    )


def _run(end: "_End") -> int:
    log_to_stderr(verbose=False)
    with signals(end):
        result = end.run()
    _tell_repairs(result)
    return told_result(result, strict=end.is_strict)


def _tell_repairs(result: Status) -> None:
    """Report the fate of packets that the link lost on the way here, if it was protected."""
    rows = [row for row in result.values["mechanisms"] if "receiver" in row[2]]

    def count(key: str) -> int:
        return sum(int(value) for *_, counter, _, value in rows if counter == key)

    delivered, lost = count("packets_delivered"), count("packets_lost")
    if delivered + lost == 0:
        return
    print_note(
        f"of {delivered + lost} packets for this end the link lost {count('packets_missing')}: "
        f"{count('packets_recovered')} recovered, {lost} lost for good ({count('ack_no_timeouts')} timeouts)"
    )


class _End(LiveService):
    program = "link"

    def __init__(self, config: Config, file: Path | None = None) -> None:
        # The control socket is named after the interface to the other machine.
        super().__init__(config.link.outside, file)
        self._config = config
        self._plan = plan_of(config.link, file)
        _require_two(self._plan)
        self._scenario = scenario(self._plan)
        self._fail_open: FailOpen | None = None
        self._overload = Overload()

    @property
    def is_strict(self) -> bool:
        return self._config.link.strict

    def run(self) -> Status:
        plan, link = self._plan, self._config.link
        options = LiveOptions(
            busy_poll=link.busy_poll, frames=plan.frames, frame_bytes=FRAME_BYTES, ring_frames=RING_FRAMES
        )
        _require_fit(plan, link)
        with _borrowed_interfaces(plan):
            # With the path of an earlier run, each frame would cross twice.
            if not link.fail_open and kernel_path.remove(plan.outside):
                print_note(f"{plan.outside}: the kernel's path of an earlier run is removed (--no-fail-open)")
            live = LiveRun(self._scenario, interfaces=plan.interfaces, options=options)
            self._fail_open = FailOpen(live, plan, self.stop, has_path=link.fail_open)
            drop_all_but(OF_FORWARDING)
            with serving(LiveCollector(lambda: self._status(live)), self._config.metrics, "hitless link"):
                self._forward(live, lambda: self._status(live))
            if link.fail_open:
                print_note(
                    f"the kernel forwards between {plan.inside} and {plan.outside} from now on, unprotected; "
                    f"hitless link --disconnect --outside {plan.outside} ends that"
                )
            return with_settings(live.result(), plan)

    def _status(self, live: LiveRun) -> Status:
        assert self._fail_open is not None, "made before the run"
        return with_settings(self._overload.settled(self._fail_open.added_to(live.status())), self._plan)

    def _beside(self, _live: LiveRun) -> AbstractContextManager[None]:
        assert self._fail_open is not None, "made before the run"
        return self._fail_open.active()

    def _say(self, live: LiveRun) -> None:
        plan = self._plan
        for port in live.status().values["ports"]:
            print_note(f"{port['interface']}: {port['mode']}; {ports.of_buffers(port)}")
        print_note(
            f"{plan.inside} - {plan.outside}: {plan.mode}, repairs within {plan.answer_us / 1e3:g} ms, "
            f"buffers of {2 * plan.buffer_bytes / 1e3:.0f} KB; Ctrl-C ends it"
        )

    def _read_again(self, live: LiveRun) -> None:
        if self._file is None:
            log.info("this link has no file to read again: start it with hitless link FILE")
            return
        try:
            config = read_link_file(self._file)
            require_changeable(self._config, config)
            plan = plan_of(config.link, self._file)
            wanted_scenario = scenario(replace(plan, first_number=self._plan.first_number))
            wanted = changes.commands(self._scenario.effective, wanted_scenario.effective)
            for command in wanted:
                live.command(command)
        except HitlessError as wrong:
            log.error("%s was not read again, the link continues unchanged:\n%s", self._file, wrong)  # noqa: TRY400
            return
        self._config, self._scenario = config, wanted_scenario
        log.info("%s was read again: %s", self._file, ", ".join(wanted) or "nothing to change")

    def _came_back(self, interface: str) -> None:
        ports.switch_off_again(interface)
        assert self._fail_open is not None, "made before the run"
        self._fail_open.renew()
        link = self._config.link
        if interface == link.outside and link.set_mtu:
            sums = mtu_plan(self._plan)
            if not sums.fits:
                _set_mtu(ports.opened(interface), sums)


def _require_fit(plan: LinkPlan, link: Link) -> None:
    """Refuse the interfaces if they cannot be used, and log other findings. Raises `BadInput`."""
    found = check.findings(plan, set_mtu=link.set_mtu)
    check.refuse(found)
    print_note(found[0].text)
    for finding in found:
        if finding.verdict == "warning":
            log.warning("%s: %s: %s", finding.subject, finding.text, finding.mend)


@contextmanager
def _borrowed_interfaces(plan: LinkPlan) -> Iterator[None]:
    """Make room for frames from inside, and switch off offloads; restores both, also if this process is killed."""
    names = (plan.inside, plan.outside)
    offloads = {name: ports.opened(name).offloads_on() for name in names}
    sums = mtu_plan(plan)
    is_raised = not sums.fits

    def restore() -> None:
        for name, switched in offloads.items():
            ports.switch_on(name, switched)
        if is_raised:
            ports.opened(plan.outside).set_mtu_bytes(sums.outside_bytes)

    with restoring(restore):
        if is_raised:
            _set_mtu(ports.opened(plan.outside), sums)
        for name in names:
            ports.switch_off(name, log.warning)
        yield


def _set_mtu(outside: NetworkInterface, sums: MtuPlan) -> None:
    try:
        outside.set_mtu_bytes(sums.needed_bytes)
    except OSError as refused:
        raise HitlessError(f"{refused}", hint=f"the link's MTU is too small: {sums}") from refused


def check_interfaces(
    file: Path | None, *, json: bool, inside: str | None, outside: str | None, rate: str | None, **more: bool | int
) -> int:
    """Print the findings; return the exit code: 1 if there is a warning or an error."""
    if file is not None:
        require_alone(inside=inside, outside=outside, rate=rate)
        link = read_link_file(file).link
    else:
        require_all(inside=inside, outside=outside, rate=rate)
        link = Link.model_validate({"inside": inside, "outside": outside, "rate": rate, **more})
    plan = plan_of(link, file)
    scenario(plan)
    found = check.findings(plan, set_mtu=link.set_mtu)
    found += check.of_other_end(plan)
    _show(found, plan, json=json)
    return int(any(finding.verdict in {"warning", "error"} for finding in found))


def _show(found: list[check.Finding], plan: LinkPlan, *, json: bool) -> None:
    if json:
        fields = ("verdict", "subject", "text", "mend")
        rows = [{name: getattr(finding, name) for name in fields} for finding in found]
        print_json({"inside": plan.inside, "outside": plan.outside, "findings": rows})
        return
    for finding in found:
        print_text(f"{finding.verdict:8}{finding.subject}: {finding.text}")
        if finding.mend:
            print_text(f"{'':8}-> {finding.mend}")
