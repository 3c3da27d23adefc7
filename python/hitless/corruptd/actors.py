"""The effect of a decision: on a switch, through a command, or only as a report."""

import logging
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, TypeAlias

from hitless.corruptd.detection import Setting

log = logging.getLogger(__name__)

End: TypeAlias = Literal["sender", "receiver"]


class ActionFailed(Exception):
    """The switch is not in the requested state; the text says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """One end of a link, on the local switch."""

    link: str
    end: End
    dev_port: int = 0
    mcast_grp: int = 0
    live: str = ""
    """Name of the running `hitless link` or `hitless switch`; empty for the only one."""
    live_link: str = ""
    """Name of the link there; empty for the same."""


class Actor(Protocol):
    """An object that can change the switch."""

    @property
    def acts(self) -> bool:
        """Does it change anything, instead of only reporting?"""

    def apply(self, target: Target, setting: Setting) -> None:
        """Apply the setting; idempotent. Raises `ActionFailed`."""

    def has_forgotten(self, target: Target) -> bool:
        """Has the switch lost the setting since `apply`?"""


class Lasting:
    """Actors that cannot tell whether the switch has lost a setting."""

    def has_forgotten(self, _target: Target) -> bool:
        """Assume that it has not."""
        return False


class SwitchPorts(Protocol):
    """A switch as an object: `ports` of a `hitless.steps.Steps`, or any other object with these methods."""

    def receive_counters(self, link: str) -> tuple[int, int]:
        """Return framesRxOk and framesRxAll of the port that receives from ``link``."""

    def protect(self, link: str, end: End, copies: int, mode: str) -> None:
        """Let one end of ``link`` protect it. Raises ValueError if this is impossible."""

    def unprotect(self, link: str, end: End) -> None:
        """Let one end of ``link`` stop protecting it. Raises ValueError if this is impossible."""


@dataclass(frozen=True, slots=True)
class SwitchActor(Lasting):
    """Acts on a switch in this process."""

    acts: ClassVar[bool] = True
    switch: SwitchPorts

    def apply(self, target: Target, setting: Setting) -> None:
        try:
            if setting.is_on:
                self.switch.protect(target.link, target.end, setting.copies, setting.mode)
            else:
                self.switch.unprotect(target.link, target.end)
        except (ValueError, RuntimeError) as refused:
            raise ActionFailed(str(refused)) from refused


@dataclass(frozen=True, slots=True)
class HookActor(Lasting):
    """Runs a command, without a shell, with the action in its environment."""

    acts: ClassVar[bool] = True
    command: Sequence[str]
    timeout_s: float = 10.0

    def apply(self, target: Target, setting: Setting) -> None:
        """Run it; an exit status other than 0 is a failure, explained by the last line of its output."""
        environment = {**os.environ, **hook_environment(target, setting)}
        try:
            done = subprocess.run(
                list(self.command),
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise ActionFailed(f"{self.command[0]} was stopped after {self.timeout_s:g} s") from late
        except OSError as failed:
            raise ActionFailed(f"{self.command[0]} cannot be run: {failed.strerror}") from failed
        if done.returncode != 0:
            said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
            raise ActionFailed(f"{self.command[0]} ended with status {done.returncode}: {said[-1] if said else ''}")


def hook_environment(target: Target, setting: Setting) -> Mapping[str, str]:
    """Return the variables that a hook reads."""
    return {
        "HITLESS_ACTION": "protect" if setting.is_on else "unprotect",
        "HITLESS_LINK": target.link,
        "HITLESS_END": target.end,
        "HITLESS_COPIES": str(setting.copies),
        "HITLESS_MODE": setting.mode,
        "HITLESS_DEV_PORT": str(target.dev_port),
        "HITLESS_MCAST_GRP": str(target.mcast_grp),
    }


class ReportActor(Lasting):
    """Changes nothing and reports the action."""

    acts: ClassVar[bool] = False

    def apply(self, target: Target, setting: Setting) -> None:
        log.warning("report only: the %s of %s would be set to: %s", target.end, target.link, setting)


@dataclass(slots=True)
class Applier:
    """Keeps one end in the requested state: acts on a change, and again after a failure."""

    target: Target
    actor: Actor
    retry_s: float
    wanted: Setting | None = None
    applied: Setting | None = None
    failure: str = ""
    failures: int = 0
    _retry_at_s: float = field(default=float("-inf"))

    @property
    def is_applied(self) -> bool:
        return self.wanted == self.applied

    @property
    def in_force(self) -> Setting | None:
        """The setting applied to the switch; None before the first."""
        return self.applied if self.actor.acts else None

    @property
    def complaint(self) -> str:
        """Why the switch is not in the requested state; empty if it is."""
        if not self.actor.acts:
            return "this daemon only reports"
        return "" if self.is_applied else self.failure or "not done yet"

    def tick(self, now_s: float, wanted: Setting | None) -> bool:
        """Request this setting, and act if due. Return whether it acted, successfully or not."""
        if wanted != self.wanted:
            self.wanted = wanted
            self._retry_at_s = float("-inf")
        if self.applied is not None and self.actor.has_forgotten(self.target):
            log.warning(
                "%s was restarted: the %s of %s is set again", self.target.live, self.target.end, self.target.link
            )
            self.applied = None
        if self.wanted is None or self.is_applied or now_s < self._retry_at_s:
            return False
        try:
            self.actor.apply(self.target, self.wanted)
        except ActionFailed as failed:
            self.failures += 1
            self.failure = str(failed)
            self._retry_at_s = now_s + self.retry_s
            log.warning("the %s of %s is not %s: %s", self.target.end, self.target.link, self.wanted, failed)
        else:
            self.applied, self.failure = self.wanted, ""
            log.info("the %s of %s is now: %s", self.target.end, self.target.link, self.wanted)
        return True
