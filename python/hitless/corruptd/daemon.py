"""The daemon without its environment: `step` does everything that is due at a given time."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from hitless.corruptd.actors import Actor, Applier, Target
from hitless.corruptd.bus import Bus
from hitless.corruptd.detection import Detector, Phase, Policy, Setting
from hitless.corruptd.messages import Acknowledgement, BadMessage, Name, Request, channel, decode, encode
from hitless.corruptd.protocol import Fate, Guard, Pace, Requester, Upstream
from hitless.corruptd.sources import CounterSource, NoReading
from hitless.corruptd.sparing_log import SparingLog
from hitless.corruptd.window import CounterBits
from hitless.service.configuration import Checked

log = logging.getLogger(__name__)

PortNumber = Annotated[int, Field(ge=0, lt=2**31)]
LiveName = Annotated[str, Field(max_length=255, pattern=r"^[^/\s]*$")]
"""Name of a running `hitless link` or `hitless switch`, such as "link-eth2"; empty for the only one."""
LinkOfLive = Annotated[str, Field(max_length=256)]
"""Name of the link in its scenario; empty if it is the same."""


@dataclass(frozen=True, slots=True)
class WatchPlan:
    """An incoming link."""

    upstream: Upstream
    source: CounterSource
    arm: bool = True
    """Also arm the local receiving end, which then acknowledges on reverse traffic."""
    dev_port: int = 0
    """Local port, for the actor."""
    bits: CounterBits = 64
    live: str = ""
    live_link: str = ""
    counters: str = ""
    """Identity of the counters: a saved window of other counters is discarded."""


class GuardPlan(Checked):
    """An outgoing link: ``[[guard]]``."""

    link: Name
    downstream_switch_id: Name
    """Downstream switch of the link."""
    dev_port: PortNumber = 0
    mcast_grp: PortNumber = 0
    live: LiveName = ""
    live_link: LinkOfLive = ""


@dataclass(frozen=True, slots=True)
class DaemonPlan:
    switch_id: str
    watches: Sequence[WatchPlan] = ()
    guards: Sequence[GuardPlan] = ()
    policy: Policy = field(default_factory=Policy)
    pace: Pace = field(default_factory=Pace)
    poll_interval_s: float = 1.0


@dataclass(slots=True)
class Watch:
    plan: WatchPlan
    detector: Detector
    requester: Requester
    receiver: Applier
    read_errors: int = 0
    error: str = ""
    """Why the last reading failed; empty if it succeeded."""

    @property
    def link(self) -> str:
        return self.plan.upstream.link


@dataclass(slots=True)
class Guarded:
    guard: Guard
    sender: Applier
    answered: tuple[int, int] = (-1, -1)
    """The latest request that was acknowledged with its result."""


@dataclass(slots=True)
class Tally:
    """Counts since the start."""

    polls: int = 0
    sent: int = 0
    unsent: int = 0
    received: Counter[Fate] = field(default_factory=Counter)
    refused: int = 0


class Daemon:
    """One switch's corruptd. Call `step` often: it returns the time of the next poll.

    ``alive`` is called during a step after everything that can take long: each reading and each action. ``wall_ns`` is
    the clock for epochs; in a simulation, which counts starts as epochs, it stays at 0.
    """

    def __init__(
        self,
        plan: DaemonPlan,
        bus: Bus,
        actor: Actor,
        epoch: int,
        *,
        alive: Callable[[], None] = lambda: None,
        wall_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        self.plan = plan
        self.bus = bus
        self.epoch = epoch
        self.wall_ns = wall_ns
        self._alive = alive
        self._messages_log = SparingLog(log)
        self.tally = Tally()
        self.watches = {watch.upstream.link: self._watch(watch, actor) for watch in plan.watches}
        self.guards = {guard.link: self._guard(guard, actor) for guard in plan.guards}
        assert len(self.watches) == len(plan.watches), "a link is watched once"
        assert len(self.guards) == len(plan.guards), "a link is guarded once"
        self.next_poll_s = float("-inf")
        self.is_dirty = True
        """Has something changed that must survive a restart? At first it has: the epoch."""

    def step(self, now_s: float) -> float:
        """Do everything that is due; return the time of the next poll of the counters."""
        if now_s >= self.next_poll_s:
            self.tally.polls += 1
            for watch in self.watches.values():
                self._read(watch, now_s)
                self._alive()
            self.next_poll_s = max(self.next_poll_s + self.plan.poll_interval_s, now_s)
            if self.next_poll_s <= now_s:
                self.next_poll_s = now_s + self.plan.poll_interval_s
        for watch in self.watches.values():
            self._ask(watch, now_s)
        for payload in self.bus.receive(now_s):
            self._take(payload, now_s)
        for guarded in self.guards.values():
            self._serve(guarded, now_s)
        return self.next_poll_s

    def _watch(self, plan: WatchPlan, actor: Actor) -> Watch:
        upstream, pace = plan.upstream, self.plan.pace
        target = Target(upstream.link, "receiver", plan.dev_port, live=plan.live, live_link=plan.live_link)
        return Watch(
            plan,
            Detector(self.plan.policy, bits=plan.bits),
            Requester(upstream, self.plan.switch_id, self.epoch, pace),
            Applier(target, actor, pace.retry_s),
        )

    def _guard(self, plan: GuardPlan, actor: Actor) -> Guarded:
        target = Target(plan.link, "sender", plan.dev_port, plan.mcast_grp, plan.live, plan.live_link)
        pace = self.plan.pace
        keeps = pace.when_expired == "keep"
        guard = Guard(plan.link, self.plan.switch_id, plan.downstream_switch_id, pace.lifetime_s, keeps)
        return Guarded(guard, Applier(target, actor, pace.retry_s))

    def _read(self, watch: Watch, now_s: float) -> None:
        try:
            reading = watch.plan.source.read()
        except NoReading as failed:
            watch.read_errors += 1
            if str(failed) != watch.error:
                log.warning("no reading of %s: %s", watch.link, failed)
            watch.error = str(failed)
            return
        watch.error = ""
        before = watch.detector.decision
        watch.detector.observe(now_s, reading)
        if watch.detector.decision != before:
            self.is_dirty = True
            decision, rate = watch.detector.decision, watch.detector.loss_rate
            level = logging.INFO if decision.phase is Phase.CLEAR else logging.WARNING
            log.log(level, "%s is %s at a loss rate of %.2e: %s", watch.link, decision.phase, rate, decision.setting)

    def _ask(self, watch: Watch, now_s: float) -> None:
        setting = watch.detector.decision.setting
        watch.requester.want(setting, watch.detector.loss_rate)
        if watch.plan.arm and setting is not None and (setting.is_on or watch.requester.is_acknowledged):
            self._apply(watch.receiver, now_s, setting)
        request = watch.requester.poll(now_s)
        if request is not None:
            self._send(request, now_s)

    def _apply(self, applier: Applier, now_s: float, setting: Setting | None) -> bool:
        acted = applier.tick(now_s, setting)
        if acted:
            self._alive()
        return acted

    def _send(self, message: Request | Acknowledgement, now_s: float) -> None:
        sent = self.bus.publish(channel(message.switch_id), encode(message), now_s)
        self.tally.sent += sent
        self.tally.unsent += not sent

    def _take(self, payload: bytes, now_s: float) -> None:
        try:
            message = decode(payload)
        except BadMessage as bad:
            self.tally.refused += 1
            self._messages_log.write(logging.WARNING, "invalid", now_s, f"a message was refused: {bad}")
            return
        fate = self._take_request(message, now_s) if isinstance(message, Request) else self._take_answer(message, now_s)
        self.tally.received[fate] += 1
        if fate in {"foreign", "implausible"}:
            self._tell_refused(message, fate, now_s)

    def _tell_refused(self, message: Request | Acknowledgement, fate: Fate, now_s: float) -> None:
        why = "is not for us"
        if fate == "implausible":
            why = f"has epoch {message.epoch}, more than a day ahead of our clock: is a clock wrong, or is it forged?"
        text = f"a message from {message.origin} about {message.link} was refused: it {why}"
        self._messages_log.write(logging.WARNING, fate, now_s, text)

    def _take_answer(self, answer: Acknowledgement, now_s: float) -> Fate:
        watch = self.watches.get(answer.link)
        if watch is None or answer.switch_id != self.plan.switch_id:
            return "foreign"
        before = watch.requester.failure
        fate = watch.requester.take(answer, now_s)
        self._tell_failure(watch, before, now_s)
        return fate

    def _tell_failure(self, watch: Watch, before: str, now_s: float) -> None:
        """Log a failure at the other end, quoted: its text is untrusted and must not look like a line of our log."""
        failure, asked = watch.requester.failure, watch.plan.upstream.switch_id
        if failure and failure != before:
            text = f"{watch.link}: {asked} did not execute the request: {failure!r}"
            self._messages_log.write(logging.WARNING, f"failure {watch.link}", now_s, text)
        if before and not failure:
            text = f"{watch.link}: {asked} has executed the request"
            self._messages_log.write(logging.INFO, f"success {watch.link}", now_s, text)

    def _take_request(self, request: Request, now_s: float) -> Fate:
        guarded = self.guards.get(request.link)
        if guarded is None:
            return "foreign"
        fate = guarded.guard.take(request, now_s, self.wall_ns())
        if fate == "accepted":
            self.is_dirty = True
        if fate == "duplicate":
            guarded.answered = (-1, -1)
        return fate

    def _serve(self, guarded: Guarded, now_s: float) -> None:
        guard, sender = guarded.guard, guarded.sender
        if guard.expire(now_s):
            self.is_dirty = True
            guarded.answered = guard.latest
            log.warning("%s: its request expired; it is now: %s", guard.link, guard.wanted)
        acted = self._apply(sender, now_s, guard.wanted)
        request = guard.request
        is_asked = request is not None and guard.wanted == request.setting
        is_answering = is_asked and (acted or guard.latest != guarded.answered)
        if acted or is_answering:
            self._note(guarded, now_s)
        if is_answering:
            guarded.answered = guard.latest
            complaint = sender.complaint
            self._send(guard.answer(applied=not complaint, detail=complaint), now_s)

    def _note(self, guarded: Guarded, now_s: float) -> None:
        """Publish the setting of the sending end, even if it is unchanged: Redis may have lost it."""
        sender = guarded.sender
        setting = sender.in_force
        if setting is not None:
            key = f"protected-{self.plan.switch_id}-{sender.target.dev_port}"
            self.bus.note(key, str(setting.copies) if setting.is_on else None, now_s)
