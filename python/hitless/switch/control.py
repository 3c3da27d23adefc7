"""The control socket of a running `hitless link` or `hitless switch`."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from hitless.errors import BadInput, HitlessError
from hitless.live import LiveRun, Status
from hitless.service import control, running
from hitless.suggest import did_you_mean
from hitless.switch.status import StatusReport

log = logging.getLogger(__name__)


class Handler:
    """Answers the requests to one run."""

    def __init__(self, live: LiveRun, report: StatusReport, status: Callable[[], Status]) -> None:
        self._live = live
        self._report = report
        self._status = status

    def handle(self, request: running.Status | running.Protect | running.Unprotect) -> dict[str, Any]:
        if isinstance(request, running.Status):
            return self._report.document(self._status())
        ends = _chosen(self._status().values["protections"], request.link, request.end)
        commands = dict.fromkeys(_command(request, link, ends) for link in dict.fromkeys(end["link"] for end in ends))
        for command in commands:
            self._live.command(command)
            log.info("by the control socket: %s", command)
        return self._report.document(self._status())


def _chosen(ends: list[Mapping[str, Any]], link: str | None, end: str | None) -> list[Mapping[str, Any]]:
    """Return the local ends that a request is about. Raises `BadInput`."""
    if not ends:
        hint = 'add [[mechanism]] with kind = "linkguardian" to the scenario, and restart'
        raise BadInput("no link has LinkGuardian here", hint=hint)
    known = list(dict.fromkeys(one["link"] for one in ends))
    wanted = None if link is None else _named(link, known)
    found = [one for one in ends if (wanted is None or one["link"] in wanted) and end in {None, one["end"]}]
    if not found:
        raise BadInput(f"no {end} of {link or 'a protected link'} is here")
    return found


def _named(typed: str, known: list[str]) -> set[str]:
    """Return the links with a name as in scenarios, "a-b" for "a->b", or "a<->b" for both ways. Raises `BadInput`."""
    ways = {typed, typed.replace("<->", "->")}
    if "<->" in typed:
        first, _, second = typed.partition("<->")
        second, mark, number = second.partition("#")
        ways.add(f"{second}->{first}{mark}{number}")
    found = {name for name in known if name in ways or name.replace("->", "-") in ways}
    if not found:
        raise BadInput(f"{typed} has no LinkGuardian here", hint=did_you_mean(typed, known, "links with LinkGuardian"))
    return found


def _command(request: running.Protect | running.Unprotect, link: str, ends: list[Mapping[str, Any]]) -> str:
    if isinstance(request, running.Unprotect):
        return f"unprotect {link}"
    sender = next((one for one in ends if one["link"] == link and one["end"] == "sender"), {})
    copies = request.copies or sender.get("copies") or 1
    mode = request.mode or ("blocking" if sender.get("keeps_order", True) else "non-blocking")
    return f"protect {link} {copies} {mode}"


@contextmanager
def controlled(program: running.Program, name: str, handle: Callable[[Any], dict[str, Any]]) -> Iterator[None]:
    """Serve the control socket in a thread while the block runs; only log if no socket can be made."""
    with ExitStack() as placed:
        try:
            server = control.Server(placed.enter_context(running.placed(program, name)), running.Request)
        except (HitlessError, OSError) as refused:
            log.warning("%s", refused)
            yield
            return
        is_over = threading.Event()
        thread = threading.Thread(target=server.serve, args=(handle, lambda: not is_over.is_set()), name="control")
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            server.wake()
            thread.join()
            server.close()
