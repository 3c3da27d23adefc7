"""When to protect a link, with how many copies and in which mode: a state machine without a clock."""

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from hitless import _native
from hitless.analysis import poisson_interval
from hitless.corruptd.window import CounterBits, Reading, Window, frames_between
from hitless.service.configuration import Checked

Mode: TypeAlias = Literal["blocking", "non-blocking"]
Rate = Annotated[float, Field(gt=0.0, lt=1.0)]


@dataclass(frozen=True, slots=True)
class Setting:
    """The setting of LinkGuardian on a link. It is validated as part of a message or a file."""

    __pydantic_config__: ClassVar = ConfigDict(strict=True, extra="forbid")

    copies: Annotated[int, Field(ge=0, le=255)]
    """Copies retransmitted for each lost packet; 0 is off."""
    mode: Mode

    @property
    def is_on(self) -> bool:
        return self.copies > 0

    def __str__(self) -> str:
        return f"N = {self.copies}, {self.mode}" if self.is_on else "off"


OFF = Setting(0, "blocking")


class Policy(Checked):
    """The parameters of detection, ``[detection]``; docs/how-to/corruptd.md gives the reasons for their defaults."""

    window_frames: Annotated[int, Field(ge=1, le=10**12)] = 100_000_000
    """Number of frames over which loss is measured (appendix C)."""
    threshold: Annotated[float, Field(ge=1e-15, lt=1.0)] = 1e-8
    """Minimum loss rate of a corrupting link (appendix C)."""
    confidence: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.95
    """Confidence that the rate is above the threshold; 0 uses the measured rate as it is, like the paper."""
    bad_frames_min: Annotated[int, Field(ge=1, le=10**6)] = 3
    """Minimum number of bad frames in the window before any action."""
    target_loss_rate: Rate = 1e-8
    """Target of Equation 2."""
    rate_bad_frames: Annotated[int, Field(ge=1, le=10**6)] = 30
    """Number of bad frames over which the present loss rate is measured: thirty give it to about a fifth."""
    clear_below: Annotated[float, Field(ge=0.0, lt=1.0)] = 1e-9
    """Maximum loss rate of clean frames; less than one frame in the paper's window."""
    clear_confidence: Annotated[float, Field(ge=0.0, le=0.999999)] = 0.999
    """Confidence that the rate is below the threshold before a link counts as clear; 0 asks for one window."""
    hold_s: Annotated[float, Field(ge=0.0, le=604_800.0)] = 60.0
    """Minimum time in seconds after a change before protection is withdrawn or reduced."""
    mode: Mode = "blocking"
    fallback: Literal["non-blocking", "off"] = "non-blocking"
    """Action above ``fallback_above`` (section 5, automatic fallback)."""
    fallback_above: Rate = 0.02
    copies_max: Annotated[int, Field(ge=1, le=255)] = 8

    @model_validator(mode="after")
    def _is_hysteresis(self) -> Self:
        if self.clear_below >= self.threshold:
            raise ValueError("clear_below must lie below threshold, or protection would flap")
        return self

    @property
    def clear_frames(self) -> int:
        """Number of clean frames before a link counts as clear: enough to notice a loss rate at the threshold.

        At the threshold, this many frames pass without a bad one with a probability of 1 - ``clear_confidence``.
        """
        return max(self.window_frames, math.ceil(-math.log1p(-self.clear_confidence) / self.threshold))


class Phase(StrEnum):
    UNKNOWN = "unknown"
    """Too little was seen for a decision: request nothing."""
    CLEAR = "clear"
    PROTECTED = "protected"
    FALLBACK = "fallback"
    """It loses more than in-order recovery can mask."""


@dataclass(frozen=True, slots=True)
class Decision:
    phase: Phase = Phase.UNKNOWN
    setting: Setting | None = None
    """None leaves everything unchanged."""


@lru_cache(maxsize=4_096)
def is_above(bad: int, frames: int, threshold: float, confidence: float) -> bool:
    """Is the loss rate at or above ``threshold`` with this one-sided confidence? Garwood's interval of a count."""
    if confidence <= 0.0 or bad == 0:
        return bad > 0 and bad / frames >= threshold
    # The ends of a two-sided interval at 2 c - 1 are one-sided bounds at c; below c = 0.5 the narrowest one counts.
    two_sided = max(2.0 * confidence - 1.0, 1e-9)
    return poisson_interval(bad, frames, two_sided).low >= threshold


@lru_cache(maxsize=4_096)
def is_below(bad: int, frames: int, threshold: float, confidence: float) -> bool:
    """Is the loss rate at or below ``threshold`` with this one-sided confidence? Garwood's interval of a count."""
    if confidence <= 0.0:
        return bad / frames <= threshold
    two_sided = max(2.0 * confidence - 1.0, 1e-9)
    return poisson_interval(bad, frames, two_sided).high <= threshold


def copies_for(loss_rate: float, target_loss_rate: float) -> int:
    """Return Equation 2, rounded up; a link that loses everything gets a huge number."""
    return _native.linkguardian_copies(loss_rate, target_loss_rate) if loss_rate < 1.0 else 2**31


class Detector:
    """Watches one link: `observe` for each reading, then read ``decision``.

    Protection and more copies are requested at once. Fewer copies, leaving fallback and the end of protection wait for
    ``hold_s`` since the last change. The end also waits for ``clearing``, a longer window, to show that the rate is
    below the threshold. One window of clean frames only shows that it is not far above.
    """

    def __init__(self, policy: Policy, *, bits: CounterBits = 64) -> None:
        self.policy = policy
        self.window = Window(policy.window_frames)
        self.clearing = Window(policy.clear_frames)
        self.decision = Decision()
        self.last: Reading | None = None
        self.changed_at_s = 0.0
        self.restarts = 0
        """Number of counter resets."""
        self.frames_seen = 0
        """Number since the start of the daemon, like `bad_seen`."""
        self.bad_seen = 0
        self._bits = bits

    @property
    def loss_rate(self) -> float:
        """Present loss rate: over the window, or over its newest samples if that is higher."""
        return max(self.window.loss_rate, self.window.recent_loss_rate(self.policy.rate_bad_frames))

    def observe(self, now_s: float, reading: Reading) -> None:
        before, self.last = self.last, reading
        if before is None:
            return
        sample = frames_between(before, reading, self._bits)
        if sample is None:
            self.restarts += 1
            return
        self.frames_seen += sample.frames
        self.bad_seen += sample.bad
        self.window.add(sample)
        self.clearing.add(sample)
        decision = self._decide(is_held=now_s - self.changed_at_s < self.policy.hold_s)
        if decision != self.decision:
            self.decision = decision
            self.changed_at_s = now_s

    def _decide(self, *, is_held: bool) -> Decision:
        if self.decision.phase in {Phase.UNKNOWN, Phase.CLEAR}:
            if self._is_corrupting():
                return self._answer_to(self.loss_rate)
            return Decision(Phase.CLEAR, OFF) if self._is_clean() else self.decision
        if not is_held and self._is_clean():
            return Decision(Phase.CLEAR, OFF)
        return self._adjust(is_held)

    def _is_corrupting(self) -> bool:
        policy, window = self.policy, self.window
        if window.bad < policy.bad_frames_min:
            return False
        return is_above(window.bad, window.frames, policy.threshold, policy.confidence)

    def _is_clean(self) -> bool:
        policy, seen = self.policy, self.clearing
        if not seen.is_full or seen.loss_rate > policy.clear_below:
            return False
        return is_below(seen.bad, seen.frames, policy.threshold, policy.clear_confidence)

    def _answer_to(self, loss_rate: float) -> Decision:
        policy = self.policy
        copies = copies_for(loss_rate, policy.target_loss_rate)
        if loss_rate <= policy.fallback_above and copies <= policy.copies_max:
            return Decision(Phase.PROTECTED, Setting(copies, policy.mode))
        if policy.fallback == "non-blocking":
            return Decision(Phase.FALLBACK, Setting(min(copies, policy.copies_max), "non-blocking"))
        return Decision(Phase.FALLBACK, OFF)

    def _adjust(self, is_held: bool) -> Decision:
        """Strengthen at once; weaken only when not held; stay in fallback for rates just below its limit."""
        current = self.decision
        loss_rate = self.loss_rate
        if loss_rate == 0.0:
            return current
        wanted = self._answer_to(loss_rate)
        if wanted.phase is Phase.FALLBACK and current.phase is not Phase.FALLBACK:
            return wanted
        if wanted.phase is Phase.PROTECTED and current.phase is Phase.FALLBACK:
            # Twice the rate must do, or a rate at the limit would change the mode with each poll (factor chosen).
            is_well_below = self._answer_to(min(2.0 * loss_rate, 1.0)).phase is Phase.PROTECTED
            return wanted if is_well_below and not is_held else current
        is_stronger = _copies(wanted) > _copies(current)
        return wanted if is_stronger or not is_held else current


def _copies(decision: Decision) -> int:
    return decision.setting.copies if decision.setting else 0
