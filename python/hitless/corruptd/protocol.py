"""Who asks whom, how often, and what is believed: both ends of a link as state machines.

The end behind the link repeats what it wants, with a number that only rises; the end before it does what the highest
number says, and answers each. So a message may be lost, repeated, or late, and either end may start again.
"""

from dataclasses import dataclass, field
from typing import Literal, Self, TypeAlias

from pydantic import model_validator

from hitless.corruptd.detection import OFF, Setting
from hitless.corruptd.messages import Acknowledgement, Request, Seconds, action_of
from hitless.service.configuration import Checked

Fate: TypeAlias = Literal["accepted", "duplicate", "stale", "foreign", "implausible"]

EPOCH_AHEAD_NS = 86_400 * 10**9
"""How far the clocks of two switches may differ. An epoch is the time of a start, so none lies further ahead."""


def is_plausible(epoch: int, wall_ns: int) -> bool:
    """Can a daemon have started at ``epoch``, seen by a clock that says ``wall_ns``?"""
    return epoch <= wall_ns + EPOCH_AHEAD_NS


class Pace(Checked):
    """How often things are said, and what holds when nothing is: ``[messages]``."""

    retry_s: Seconds = 1.0
    """A request without an answer is repeated, and a failed action tried again, after this."""
    refresh_s: Seconds = 10.0
    """A request with an answer is repeated after this."""
    lifetime_s: Seconds = 3_600.0
    """A request holds this long when nothing more is heard of it, whatever the request says."""
    when_expired: Literal["unprotect", "keep"] = "unprotect"

    @model_validator(mode="after")
    def _outlives_refresh(self) -> Self:
        if self.lifetime_s < 3.0 * self.refresh_s:
            raise ValueError("lifetime_s must be three times refresh_s at least, so that one lost message ends nothing")
        return self


@dataclass(frozen=True, slots=True)
class Upstream:
    """Whom to ask about a link."""

    link: str
    switch_id: str
    dev_port: int = 0
    mcast_grp: int = 0


class Requester:
    """The end behind the link. `want` says what; `poll` answers the request that is due."""

    def __init__(self, upstream: Upstream, origin: str, epoch: int, pace: Pace) -> None:
        self.upstream = upstream
        self.origin = origin
        self.epoch = epoch
        self.pace = pace
        self.wanted: Setting | None = None
        self.is_acknowledged = False
        self.failure = ""
        """What the other end said when it could not."""
        self._loss_rate = 0.0
        self._sequence = 0
        self._is_open = False
        """Was the latest request sent and not answered yet?"""
        self._answer = (0, False)
        """Sequence of the latest answer, and whether it was done."""
        self._first_of_wanted = 0
        self._due_s = 0.0

    def want(self, setting: Setting | None, loss_rate: float) -> None:
        """From now on this is wanted; None leaves the link as it is."""
        self._loss_rate = loss_rate
        if setting == self.wanted:
            return
        self.wanted = setting
        self.is_acknowledged = False
        self._first_of_wanted = self._sequence + 1
        self._due_s = float("-inf")

    def poll(self, now_s: float) -> Request | None:
        """The request to send now, if one is due. One that is due while another is open was not answered in time."""
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
        """An answer has come."""
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
    """The end before the link: what was asked last, and until when that holds."""

    link: str
    switch_id: str
    origin: str
    """The only switch that may ask: the one behind the link."""
    lifetime_s_max: float
    """No request holds longer."""
    keep_when_expired: bool = False
    wanted: Setting | None = None
    """None: nobody has asked, and the switch is left as it is."""
    latest: tuple[int, int] = (-1, -1)
    """Epoch and sequence of the latest request."""
    expires_at_s: float = float("inf")
    request: Request | None = field(default=None)
    """The latest request, for whoever acts on it."""
    expirations: int = 0

    def take(self, request: Request, now_s: float, wall_ns: int) -> Fate:
        """Process a request. A duplicate is answered again, because the first answer may be lost."""
        if (request.link, request.origin, request.switch_id) != (self.link, self.origin, self.switch_id):
            return "foreign"
        if not is_plausible(request.epoch, wall_ns):
            return "implausible"
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
        """Has the latest request just run out? Then protection ends, unless it is to be kept."""
        if now_s < self.expires_at_s:
            return False
        self.expires_at_s = float("inf")
        self.expirations += 1
        # Nobody holds the link any more, so whoever asks next begins anew, also with a clock that was set back.
        self.latest = (-1, -1)
        self.request = None
        if not self.keep_when_expired:
            self.wanted = OFF
        return True

    def answer(self, *, applied: bool, detail: str = "") -> Acknowledgement:
        """The answer to the latest request."""
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
