"""A running `hitless link` or `hitless switch` of this machine: its counters, and its protection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hitless.corruptd.actors import ActionFailed, End, Target
from hitless.corruptd.detection import Setting
from hitless.corruptd.sources import NoReading
from hitless.corruptd.window import Reading
from hitless.errors import HitlessError
from hitless.service import running

ANSWER_S = 2.0
"""Timeout for an answer: polls wait for it."""
OF_LINK = "there->here"
"""The direction in which the two ends of `hitless link` receive."""


@dataclass(frozen=True, slots=True)
class LiveSource:
    """Frames that arrived on a link, and frames that it corrupted or, while it is protected, lost."""

    name: str
    """Name of the process; empty for the only one."""
    link: str

    def read(self) -> Reading:
        try:
            status = running.choose(self.name or None).ask(running.Status(), timeout_s=ANSWER_S)
        except HitlessError as failed:
            raise NoReading(failed.what) from failed
        link = OF_LINK if status["program"] == "link" else self.link
        counters = next((one for one in status["links"] if one["link"] == link), None)
        if counters is None:
            known = ", ".join(one["link"] for one in status["links"][:8])
            raise NoReading(f"{status['program']} {status['name']} has no link {link}, but {known}")
        bad = counters["frames_corrupted"] + _lost(status, link)
        return Reading(counters["frames_arrived"], bad, basis=f"{status['pid']} {status['started_at']}")


def _lost(status: Mapping[str, Any], link: str) -> int:
    """Return the frames that a real link lost on the way here: gaps in the numbers of a protected link."""
    incoming = (one for one in status["protected_links"] if one["direction"] == "incoming")
    return sum(int(one["lost_on_link"]) for one in incoming if one["link"] == link)


@dataclass(frozen=True, slots=True)
class LiveActor:
    """Protects links of running processes over their control sockets."""

    acts: ClassVar[bool] = True
    _instances: dict[tuple[str, End], tuple[running.Running, str]] = field(default_factory=dict)

    def apply(self, target: Target, setting: Setting) -> None:
        try:
            process = running.choose(target.live or None)
            instance = process.instance
            link = None if process.full_name.startswith("link-") else target.live_link or target.link
            if setting.is_on:
                request = running.Protect(link=link, end=target.end, copies=setting.copies, mode=setting.mode)
                process.ask(request, timeout_s=ANSWER_S)
            else:
                process.ask(running.Unprotect(link=link, end=target.end), timeout_s=ANSWER_S)
        except HitlessError as refused:
            raise ActionFailed(refused.what) from refused
        except OSError as gone:
            raise ActionFailed(f"hitless {target.live} has just ended") from gone
        self._instances[target.link, target.end] = process, instance

    def has_forgotten(self, target: Target) -> bool:
        """Has the process been restarted since `apply`, or has it ended?"""
        known = self._instances.get((target.link, target.end))
        if known is None:
            return False
        process, instance = known
        try:
            return process.instance != instance
        except OSError:
            return True
