"""The process of `hitless switch`: runs until stopped, and reads its file again at SIGHUP."""

import logging
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from hitless.errors import BadInput, HitlessError
from hitless.lab import kernel_drops, results
from hitless.live import LiveOptions, LiveRun, Status, ports
from hitless.service.metrics import serving
from hitless.service.privileges import OF_FORWARDING, drop_all_but
from hitless.service.process import Controlled, notify
from hitless.service.running import Program
from hitless.switch import changes
from hitless.switch.configuration import CHANGEABLE, Config, read_config
from hitless.switch.control import Handler, controlled
from hitless.switch.metrics import LiveCollector
from hitless.switch.status import Overload, StatusReport

log = logging.getLogger(__name__)

ALIVE_S = 1.0
"""Interval for the systemd watchdog, and for logging changes of interfaces."""


class LiveService(Controlled, ABC):
    """A live run as a service. `run` returns its results after `stop`, SIGTERM or SIGINT."""

    program: Program

    def __init__(self, name: str, file: Path | None) -> None:
        """``name`` is for the control socket; ``file`` is the configuration."""
        super().__init__()
        self._name, self._file = name, file

    @property
    @abstractmethod
    def is_strict(self) -> bool:
        """Is a missed deadline a failure?"""

    @abstractmethod
    def run(self) -> Status:
        """Forward until stopped. Raises `HitlessError`."""

    @abstractmethod
    def _say(self, live: LiveRun) -> None:
        """Log what is forwarded, once it is."""

    @abstractmethod
    def _read_again(self, live: LiveRun) -> None:
        """Read the file again. An invalid file, or one with forbidden changes, changes nothing."""

    @abstractmethod
    def _came_back(self, interface: str) -> None:
        """Prepare a returned interface as at the start. Raises `HitlessError` or `OSError`."""

    def _beside(self, _live: LiveRun) -> AbstractContextManager[None]:
        """Return work for the time of forwarding."""
        return nullcontext()

    def _forward(self, live: LiveRun, status: Callable[[], Status]) -> None:
        """Forward until stopped, or until the run has ended."""
        file = str(self._file.absolute()) if self._file else None
        report = StatusReport({"program": self.program, "name": self._name, "pid": os.getpid(), "file": file})
        handler = Handler(live, report, status)
        reached = controlled(self.program, self._name, handler.handle)
        with live.running(at_end=self.wake.set), self._beside(live), reached:
            self._say(live)
            notify("READY=1")
            try:
                while not self.is_stopping and live.is_running:
                    if self.take_reload():
                        self._read_again(live)
                    if lost := ports.tell_changes(live, self._came_back):
                        hint = "the unit of packaging/systemd starts it anew"
                        raise HitlessError(f"{lost.interface} is lost for this process", hint=hint)
                    with suppress(HitlessError):  # the run has just ended
                        report.observe(status())
                    notify("WATCHDOG=1")
                    self.wake.wait(ALIVE_S)
            finally:
                notify("STOPPING=1")


class Service(LiveService):
    """One run of the switch."""

    program = "switch"

    def __init__(self, path: Path) -> None:
        super().__init__(path.stem, path)
        self._path = path
        self._config, self._scenario = read_config(path)

    @property
    def is_strict(self) -> bool:
        return self._config.switch.strict

    def run(self) -> Status:
        """Forward, and write the results if the file asks for them."""
        config = self._config
        out = self._path.parent / config.switch.results if config.switch.results is not None else None
        if out is not None:
            results.require_new(out)
        elif self._scenario.effective.get("measure", {}).get("capture"):
            log.warning("[[measure.capture]] is left out: captures need results = FOLDER in [switch]")
        switched_off = [entry.name for entry in config.interface if entry.offloads == "switch-off"]
        for warning in ports.slow_links(config.interfaces, self._rates_bps()):
            log.warning("%s", warning)
        with ports.without_offloads(switched_off, log.warning):
            live = LiveRun(self._scenario, interfaces=config.interfaces, options=_options(config, out))
            drop_all_but(OF_FORWARDING)
            drops, overload = kernel_drops.of_interfaces(config.interfaces), Overload()

            def status() -> Status:
                return overload.settled(drops.added_to(live.status()))

            with serving(LiveCollector(status), config.metrics, "hitless switch"):
                self._forward(live, status)
            result = drops.added_to(live.result())
            if out is not None:
                result = results.write(out, live, result, ["hitless", *sys.argv[1:]])
            return result

    def _say(self, live: LiveRun) -> None:
        for port in live.status().values["ports"]:
            log.info("%s is behind %s: %s; %s", port["node"], port["interface"], port["mode"], ports.of_buffers(port))

    def _read_again(self, live: LiveRun) -> None:
        try:
            config, scenario = read_config(self._path)
            _require_same(self._config, config)
            wanted = changes.commands(self._scenario.effective, scenario.effective)
        except HitlessError as wrong:
            log.error("%s was not read again, the switch continues unchanged:\n%s", self._path, wrong)  # noqa: TRY400
            return
        for command in wanted:
            if not _carried_out(live, command):
                return
        self._config, self._scenario = config, scenario
        log.info("%s was read again: %s", self._path, ", ".join(wanted) or "nothing to change")

    def _came_back(self, interface: str) -> None:
        if any(entry.name == interface and entry.offloads == "switch-off" for entry in self._config.interface):
            ports.switch_off_again(interface)

    def _rates_bps(self) -> dict[str, int]:
        """Return the rate of the link to each real node."""
        return {
            end: link["directions"][0]["rate_bps"]
            for link in self._scenario.links
            for end in (*link["ends"], link["name"])
        }


def _options(config: Config, out: Path | None) -> LiveOptions:
    switch = config.switch
    captures = results.captures_of(out) if out is not None else None
    return LiveOptions(mode=switch.mode, slack_us=switch.slack_us, busy_poll=switch.busy_poll, captures=captures)


def _require_same(before: Config, after: Config) -> None:
    """Require that fixed fields are unchanged."""
    fixed = [name for name in ("interface", "metrics") if getattr(before, name) != getattr(after, name)]
    names = [name for name in type(before.switch).model_fields if name not in CHANGEABLE]
    fixed += [f"switch.{name}" for name in names if getattr(before.switch, name) != getattr(after.switch, name)]
    if fixed:
        raise BadInput(
            f"{', '.join(fixed)}: changed in the file, and a running switch keeps it: restart it to change that"
        )


def _carried_out(live: LiveRun, command: str) -> bool:
    try:
        live.command(command)
    except HitlessError as refused:
        log.error("%s: %s", command, refused)  # noqa: TRY400 - the text says it all
        return False
    return True
