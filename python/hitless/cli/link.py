"""`hitless link`: one end of a protected link."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hitless.cli.switch import log_to_stderr, told_result
from hitless.errors import BadInput, HitlessError
from hitless.live import LiveOptions, LiveRun, NetworkInterface, Status
from hitless.service import metrics as service_metrics
from hitless.service.metrics import serving
from hitless.service.process import Wake, notify, signals
from hitless.switch import ports
from hitless.switch.link import LinkPlan, MtuPlan, mtu_plan, require_room, scenario
from hitless.switch.metrics import LiveCollector
from hitless.terminal.console import print_note

log = logging.getLogger(__name__)

_RATE = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([kMGT]?)bps\s*$")
_MULTIPLES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_TIME = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*(ns|us|ms|s)\s*$")
_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
_ALIVE_S = 1.0


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """What the command line says beside the plan."""

    strict: bool
    set_mtu: bool
    vlan_tags: int
    metrics_port: int
    live: LiveOptions


def rate_bps(text: str) -> int:
    """The rate that ``"1 Gbps"`` means. Raises `BadInput`."""
    parts = _RATE.match(text)
    if parts is None:
        raise BadInput(f"--rate {text!r} is no rate", hint='write it as in "1 Gbps" or "250 Mbps"')
    return round(float(parts[1]) * _MULTIPLES[parts[2]])


def time_us(text: str) -> float:
    """The time that ``"1.5 ms"`` means, in microseconds. Raises `BadInput`."""
    parts = _TIME.match(text)
    if parts is None:
        raise BadInput(f"--delay {text!r} is no time", hint='write it as in "500 us" or "20 ms"')
    return float(parts[1]) * _US[parts[2]]


def run(plan: LinkPlan, options: LinkOptions) -> int:
    """Protect the link until told to stop; return the exit code."""
    log_to_stderr(verbose=False)
    if plan.inside == plan.outside:
        raise BadInput(
            f"--inside and --outside are both {plan.inside}", rule="frames come in by one and go out by the other"
        )
    end = _End(plan, options)
    with signals(end):
        result = end.run()
    return told_result(result, strict=options.strict)


class _End:
    """One end of the link."""

    def __init__(self, plan: LinkPlan, options: LinkOptions) -> None:
        self._plan = plan
        self._options = options
        self._scenario = scenario(plan)
        self._wake = Wake()
        self._is_stopping = False

    def stop(self) -> None:
        self._is_stopping = True
        self._wake.set()

    def reload(self) -> None:
        log.info("a link has no file to read again")

    def run(self) -> Status:
        plan, options = self._plan, self._options
        section = service_metrics.Metrics(port=options.metrics_port)
        with _room_on_the_link(plan, options), ports.without_offloads([plan.inside, plan.outside], log.warning):
            live = LiveRun(self._scenario, interfaces=plan.interfaces, options=options.live)
            with serving(LiveCollector(live.status), section, "hitless link"), live.running(at_end=self._wake.set):
                self._say(live)
                self._wait(live)
            return live.result()

    def _say(self, live: LiveRun) -> None:
        plan = self._plan
        for port in live.status().values["ports"]:
            print_note(f"{port['interface']}: {port['mode']}")
        print_note(
            f"{plan.inside} - {plan.outside}: {plan.mode}, repairs within {plan.answer_us / 1e3:g} ms, "
            f"buffers of {2 * plan.buffer_bytes / 1e3:.0f} KB; Ctrl-C ends it"
        )
        notify("READY=1")

    def _wait(self, live: LiveRun) -> None:
        while not self._is_stopping and live.is_running:
            notify("WATCHDOG=1")
            self._wake.wait(_ALIVE_S)
        notify("STOPPING=1")


@contextmanager
def _room_on_the_link(plan: LinkPlan, options: LinkOptions) -> Iterator[None]:
    """See that frames from inside fit the link; an MTU that is raised is set back at the end."""
    outside = ports.opened(plan.outside)
    inside_bytes, before_bytes = ports.opened(plan.inside).mtu_bytes, outside.mtu_bytes
    sums = mtu_plan(inside_bytes, before_bytes, options.vlan_tags)
    if sums.fits or not options.set_mtu:
        require_room(sums, plan.outside, plan.inside, options.vlan_tags)
        print_note(str(sums))
        yield
        return
    _set_mtu(outside, sums)
    print_note(f"{sums}: raised to {sums.needed_bytes} while this runs; the other end needs the same")
    try:
        yield
    finally:
        outside.set_mtu_bytes(before_bytes)


def _set_mtu(outside: NetworkInterface, sums: MtuPlan) -> None:
    try:
        outside.set_mtu_bytes(sums.needed_bytes)
    except OSError as refused:
        raise HitlessError(f"{refused}", hint=f"the link has no room: {sums}") from refused
