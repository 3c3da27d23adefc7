"""A link that stays usable while an end does not run: its frames take the kernel's path then."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from hitless.errors import HitlessError
from hitless.live import LiveRun, Status
from hitless.switch import check, masters
from hitless.switch.agreement import Agreement, State
from hitless.switch.kernel_path import KernelPath, Lease
from hitless.switch.link import LinkPlan, mtu_plan
from hitless.switch.peer import Peer
from hitless.switch.trouble import Warnings, of_state

log = logging.getLogger(__name__)

LOOKS_PER_INTERFACES = 6
"""Renewals of the lease between two looks at the MTUs and masters of the interfaces: about half a second."""


class FailOpen:
    """Switches one end between its process and the kernel's path. Make it while packet sockets can be opened."""

    def __init__(self, live: LiveRun, plan: LinkPlan, on_failure: Callable[[], None], *, has_path: bool) -> None:
        self._live = live
        self._on_failure = on_failure
        self._plan = plan
        self._path = KernelPath(plan.inside, plan.outside) if has_path else None
        sums = mtu_plan(plan)
        self._agreement = Agreement(sums.outside_bytes, plan.rate_bps, sums.needed_bytes)
        self._state: State = "silent"
        self._warnings = Warnings()
        self._masters: dict[str, str] = {}
        self._peer = Peer(plan.outside, self._agreement, self._look, self._follow, self._fail)
        self._failure: HitlessError | None = None
        self._looks = 0
        self._lock = threading.Lock()
        # Greetings and frames of the kernel's path are not for the link.
        live.take("there", "link")
        if has_path:
            live.take("inside", "nothing")

    @contextmanager
    def active(self) -> Iterator[None]:
        """Follow the other end while the block runs; afterwards the kernel forwards. Raises `HitlessError`."""
        self._peer.start()
        try:
            yield
        finally:
            self._peer.stop()
        if self._failure is not None:
            raise self._failure

    def added_to(self, status: Status) -> Status:
        """Return the status with ``peer``, and with the state of protection while the kernel forwards."""
        answers = self._state == "agreed"
        instead = "nobody" if self._path is None else "kernel"
        trouble = of_state(self._state, self._plan, self._agreement, time.monotonic())
        peer = {
            "answers": answers,
            "forwarded_by": "hitless" if answers else instead,
            "trouble": None if trouble is None else str(trouble),
        }
        enslaved = [f"{masters.sentence(*pair)}: {masters.mend(pair[0])}" for pair in self._masters.items()]
        protections = [end if answers else _suspended(end) for end in status.values["protections"]]
        changed = {"peer": peer, "protections": protections, "warnings": [*status.warnings, *enslaved]}
        return Status({**status.values, **changed})

    def renew(self) -> None:
        """Install the path again, after the return of an interface. Raises `HitlessError`."""
        with self._lock:
            if self._path is not None and (lease := self._path.renew()) is not None:
                self._forward(lease)

    def _look(self) -> None:
        """Wait for the forwarding loop, renew its lease, note changed interfaces. Raises `HitlessError` if it hangs."""
        self._live.take("there", "link")
        with self._lock:
            if self._path is not None and self._path.is_closed:
                self._forward(self._path.renewed())
        self._looks += 1
        if self._looks % LOOKS_PER_INTERFACES == 1:
            self._look_at_interfaces()

    def _forward(self, lease: Lease) -> None:
        self._live.take("inside", "all", between_s=(lease.from_s, lease.until_s))

    def _look_at_interfaces(self) -> None:
        with suppress(HitlessError):  # an interface is gone
            sums = mtu_plan(self._plan)
            self._agreement.mtu_bytes, self._agreement.frame_bytes = sums.outside_bytes, sums.needed_bytes
        before, self._masters = self._masters, masters.enslaved([self._plan.inside, self._plan.outside])
        for name, master in self._masters.items():
            if before.get(name) != master:
                log.warning("%s -> %s", masters.sentence(name, master), masters.mend(name))

    def _follow(self, state: State) -> None:
        """Follow the agreement. A frame can be lost at a change, but none crosses twice."""
        now_s = time.monotonic()
        before, self._state = self._state, state
        if "agreed" in {before, state} and before != state:
            self._switch(is_agreed=state == "agreed")
        if self._warnings.is_due(state, now_s):
            trouble = of_state(state, self._plan, self._agreement, now_s)
            instead = "the kernel forwards, unprotected" if self._path is not None else "frames are lost"
            if trouble is not None:
                log.warning("%s", replace(trouble, text=f"{trouble.text}: {instead}"))

    def _switch(self, *, is_agreed: bool) -> None:
        with self._lock:
            if self._path is not None and is_agreed:
                self._forward(self._path.close())
            elif self._path is not None:
                self._live.take("inside", "nothing")
                self._path.open()
        peer = self._agreement.peer
        if is_agreed and peer is not None:
            log.info("the other end answers: both forward from now on")
            for finding in check.differences(peer, self._plan, f"other end of {self._plan.outside}"):
                log.warning("%s: %s: %s", finding.subject, finding.text, finding.mend)

    def _fail(self, failure: HitlessError) -> None:
        self._failure = failure
        if self._path is not None:
            self._path.open()
        self._on_failure()


def _suspended(end: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an end of a protected link that waits for the agreement: its packets take another path meanwhile."""
    return {**end, "phase": "waiting"} if end["phase"] in {"on", "starting"} else end
