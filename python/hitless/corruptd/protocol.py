"""Requests, their timing and their validity: both ends of a link as state machines.

The downstream end repeats its desired state with increasing sequence numbers; the upstream end executes the highest
one, and answers each. Messages can therefore be lost, repeated or late, and either end can restart.
"""

from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

from pydantic import model_validator

from hitless.corruptd.detection import OFF, Setting
from hitless.corruptd.messages import Acknowledgement, Request, Seconds, action_of
from hitless.service.configuration import Checked

Fate: TypeAlias = Literal["accepted", "duplicate", "stale", "foreign", "implausible"]

EPOCH_AHEAD_NS = 86_400 * 10**9
"""Maximum clock difference between switches. An epoch is a start time, so it cannot be further ahead."""


def is_plausible(epoch: int, wall_ns: int) -> bool:
    """Is ``epoch`` a possible start time of a daemon, according to a clock that says ``wall_ns``?"""
    return epoch <= wall_ns + EPOCH_AHEAD_NS


class Pace(Checked):
    """Intervals of messages, and lifetimes without them: ``[messages]``."""

    retry_s: Seconds = 1.0
    """Interval for repeating a request without an answer, and for retrying a failed action."""
    refresh_s: Seconds = 10.0
    """Interval for repeating a request that was answered."""
    lifetime_s: Seconds = 3_600.0
    """Maximum lifetime of a request without a further one, whatever the request says."""
    when_expired: Literal["unprotect", "keep"] = "unprotect"

    @model_validator(mode="after")
    def _outlives_refresh(self) -> Self:
        if self.lifetime_s < 3.0 * self.refresh_s:
            raise ValueError("lifetime_s must be three times refresh_s or more, so that one lost message ends nothing")
        return self


@dataclass(frozen=True, slots=True)
class Upstream:
    """Receiver of requests about a link."""

    link: str
    switch_id: str
    dev_port: int = 0
    mcast_grp: int = 0


class Requester:
    """The downstream end. `want` sets the desired state; `poll` returns the request that is due."""

    def __init__(self, upstream: Upstream, origin: str, epoch: int, pace: Pace) -> None:
        self.upstream = upstream
        self.origin = origin
        self.epoch = epoch
        self.pace = pace
        self.wanted: Setting | None = None
        self.is_acknowledged = False
        self.failure = ""
        """Error reported by the other end."""
        self._loss_rate = 0.0
        self._sequence = 0
        self._is_open = False
        """Was the latest request sent and not answered yet?"""
        self._answer = (0, False)
        """Sequence of the latest answer, and whether the action was done."""
        self._first_of_wanted = 0
        self._due_s = 0.0

    def want(self, setting: Setting | None, loss_rate: float) -> None:
        """Set the desired state; None leaves the link unchanged."""
        self._loss_rate = loss_rate
        if setting == self.wanted:
            return
        self.wanted = setting
        self.is_acknowledged = False
        self._first_of_wanted = self._sequence + 1
        self._due_s = float("-inf")  # at once: a corrupting link does not wait for a refresh

    def poll(self, now_s: float) -> Request | None:
        """Return the request to send now, if one is due. If the last one is still open, it was not answered in time."""
        if self.wanted is None or now_s < self._due_s:
            return None
        if self._is_open:
            self.is_acknowledged = False
        self._is_open = True
        self._due_s = now_s + self.pace.retry_s
        self._sequence += 1
        upstream = self.upstream
        return Request(
            switch_id=upstream.switch_id,
            dev_port=upstream.dev_port,
            mcast_grp=upstream.mcast_grp,
            action=action_of(self.wanted.copies),
            link=upstream.link,
            origin=self.origin,
            epoch=self.epoch,
            sequence=self._sequence,
            copies=self.wanted.copies,
            mode=self.wanted.mode,
            loss_rate=self._loss_rate,
            lifetime_s=self.pace.lifetime_s,
        )

    def take(self, answer: Acknowledgement, now_s: float) -> Fate:
        if answer.link != self.upstream.link or answer.origin != self.origin:
            return "foreign"
        is_current = answer.epoch == self.epoch and self._first_of_wanted <= answer.sequence <= self._sequence
        if not is_current or answer.sequence < self._answer[0]:
            return "stale"
        if (answer.sequence, answer.applied) == self._answer:
            return "duplicate"
        self._answer = (answer.sequence, answer.applied)
        self._is_open = False
        self.is_acknowledged = answer.applied
        self.failure = "" if answer.applied else answer.detail or "no reason given"
        self._due_s = now_s + (self.pace.refresh_s if answer.applied else self.pace.retry_s)
        return "accepted"


@dataclass(slots=True)
class Guard:
    """The upstream end: the latest request, and its expiry."""

    link: str
    switch_id: str
    origin: str
    """Only switch that can send requests: the downstream one."""
    lifetime_s_max: float
    """Maximum lifetime of a request."""
    keep_when_expired: bool = False
    wanted: Setting | None = None
    """None before the first request: the switch is left unchanged."""
    latest: tuple[int, int] = (-1, -1)
    """Epoch and sequence of the latest request."""
    expires_at_s: float = float("inf")
    request: Request | None = field(default=None)
    """The latest request, for the actor."""
    expirations: int = 0

    def take(self, request: Request, now_s: float, wall_ns: int) -> Fate:
        """Process a request. A duplicate is answered again, because the first answer may be lost."""
        if (request.link, request.origin, request.switch_id) != (self.link, self.origin, self.switch_id):
            return "foreign"
        if not is_plausible(request.epoch, wall_ns):
            return "implausible"
        # A restarted daemon counts from 1 again: its epoch decides before the sequence.
        number = (request.epoch, request.sequence)
        if number == self.latest:
            return "duplicate"
        if number < self.latest:
            return "stale"
        self.latest = number
        self.request = request
        self.wanted = request.setting
        self.expires_at_s = now_s + min(request.lifetime_s, self.lifetime_s_max)
        return "accepted"

    def expire(self, now_s: float) -> bool:
        """Has the latest request just expired? If so, protection ends, unless it is configured to stay."""
        if now_s < self.expires_at_s:
            return False
        self.expires_at_s = float("inf")
        self.expirations += 1
        # The link is free again, so the next request starts from scratch, even with a clock that was set back.
        self.latest = (-1, -1)
        self.request = None
        if not self.keep_when_expired:
            self.wanted = OFF
        return True

    def answer(self, *, applied: bool, detail: str = "") -> Acknowledgement:
        epoch, sequence = self.latest
        return Acknowledgement(
            switch_id=self.origin,
            link=self.link,
            origin=self.origin,
            epoch=epoch,
            sequence=sequence,
            applied=applied,
            detail=detail[:200],
        )
