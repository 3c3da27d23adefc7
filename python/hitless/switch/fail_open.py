"""A link that stays usable while an end does not run: its frames take the kernel's path then."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hitless.errors import HitlessError
from hitless.live import LiveRun, Status, ports
from hitless.switch import check
from hitless.switch.greeting import Greeting
from hitless.switch.kernel_path import KernelPath, Lease
from hitless.switch.link import LinkPlan
from hitless.switch.peer import PATIENCE_S, Agreement, Peer

log = logging.getLogger(__name__)


class FailOpen:
    """Switches one end between its process and the kernel's path. Make it while packet sockets can be opened."""

    def __init__(self, live: LiveRun, plan: LinkPlan, on_failure: Callable[[], None], *, has_path: bool) -> None:
        self._live = live
        self._on_failure = on_failure
        self._plan = plan
        self._path = KernelPath(plan.inside, plan.outside) if has_path else None
        agreement = Agreement(ports.opened(plan.outside).mtu_bytes, plan.rate_bps)
        self._peer = Peer(plan.outside, agreement, self._look, self._switch, self._fail)
        self._failure: HitlessError | None = None
        self._lock = threading.Lock()
        if has_path:
            live.take("inside", "nothing")
            live.take("there", "link")

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
        """Return the status with ``peer``: the answers of the other end, and the path of frames."""
        answers = self._peer.is_agreed
        instead = "nobody" if self._path is None else "kernel"
        return Status(
            {**status.values, "peer": {"answers": answers, "forwarded_by": "hitless" if answers else instead}}
        )

    def renew(self) -> None:
        """Install the path again, after the return of an interface. Raises `HitlessError`."""
        with self._lock:
            if self._path is not None and (lease := self._path.renew()) is not None:
                self._forward(lease)

    def _look(self) -> None:
        """Wait for an answer of the forwarding loop, and renew its lease. Raises `HitlessError` if it hangs."""
        self._live.take("there", "all" if self._path is None else "link")
        with self._lock:
            if self._path is not None and self._path.is_closed:
                self._forward(self._path.renewed())

    def _forward(self, lease: Lease) -> None:
        self._live.take("inside", "all", between_s=(lease.from_s, lease.until_s))

    def _switch(self, peer: Greeting | None) -> None:
        """Follow a change of the agreement. A frame can be lost in between, but none crosses twice."""
        with self._lock:
            if self._path is not None and peer is not None:
                self._forward(self._path.close())
            elif self._path is not None:
                self._live.take("inside", "nothing")
                self._path.open()
        if peer is not None:
            log.info("the other end answers: both forward from now on")
            for finding in check.differences(peer, self._plan, f"other end of {self._plan.outside}"):
                log.warning("%s: %s: %s", finding.subject, finding.text, finding.mend)
        else:
            instead = "the kernel forwards, unprotected" if self._path is not None else "frames are lost"
            log.warning("the other end leaves, or is silent for %g ms: %s", PATIENCE_S * 1e3, instead)

    def _fail(self, failure: HitlessError) -> None:
        self._failure = failure
        if self._path is not None:
            self._path.open()
        self._on_failure()
