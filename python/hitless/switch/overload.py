"""Overload of a link or switch that runs for months: unlike the overload of a lab's results, it ends."""

import time

from hitless.live import Status

QUIET_S = 60.0
"""Time without a missed deadline or a dropped frame after which it keeps up again. Chosen."""
_COUNTED = ("frames_overrun", "frames_refused", "frames_merged", "returns")


class Overload:
    def __init__(self) -> None:
        self._counts: tuple[int, ...] = ()
        self._changed_at_s = 0.0

    def settled(self, status: Status) -> Status:
        """Return the status with ``is_overloaded`` for the last minute; the counts and warnings stay."""
        now_s, ports = time.monotonic(), status.values["ports"]
        counts = (status.misses, *(sum(port[name] for port in ports) for name in _COUNTED))
        if counts != self._counts:
            self._counts, self._changed_at_s = counts, now_s
        is_recent = now_s - self._changed_at_s < QUIET_S or any("failed" in port for port in ports)
        return Status({**status.values, "is_overloaded": status.is_overloaded and is_recent})
