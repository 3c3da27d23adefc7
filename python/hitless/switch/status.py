"""The status document of `hitless link` and `hitless switch`, and the times of its changes."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from hitless.live import Status

FORMAT = 1
_STATES = {"on": "active", "off": "dormant"}

Values = Mapping[str, Any]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class StatusReport:
    """Makes documents; `observe` is called every second, so that the times of changes are known."""

    def __init__(self, about: Values) -> None:
        """``about`` describes the process: program, name, pid, file."""
        self._about = {"format": FORMAT, **about, "started_at": _now()}
        self._states: dict[tuple[str, str], tuple[tuple[Any, ...], str]] = {}
        self._heard: dict[str, tuple[int, str | None]] = {}
        self._peer: tuple[Any, str] = (None, _now())

    def observe(self, status: Status) -> None:
        """Note changes of the peer and of protection, and new frames from each interface."""
        answers = (status.values.get("peer") or {}).get("answers")
        if answers != self._peer[0]:
            self._peer = (answers, _now())
        for port in status.values["ports"]:
            count, _ = self._heard.get(port["node"], (0, None))
            if port["frames_received"] != count:
                self._heard[port["node"]] = (port["frames_received"], _now())
        for end in status.values["protections"]:
            state = (end["phase"], end["is_commanded"], end["keeps_order"], end["copies"])
            before = self._states.get(_key(end))
            if before is None or before[0] != state:
                self._states[_key(end)] = (state, _now())

    def document(self, status: Status) -> dict[str, Any]:
        """Return the document: docs/reference/live-control.md."""
        self.observe(status)
        values = status.values
        return {
            **self._about,
            "elapsed_s": values["elapsed_s"],
            "is_overloaded": status.is_overloaded,
            "deadline_misses": status.misses,
            "frames_in": values["frames_entered"],
            "frames_out": values["frames_left"],
            "frames_inside": values["frames_inside"],
            "peer": None if values.get("peer") is None else {**values["peer"], "since": self._peer[1]},
            "protected_links": list(self._protected_links(values)),
            "links": values["links"],
            "interfaces": [self._interface(port) for port in values["ports"]],
            "drops": {reason: count for reason, count in values["drops"].items() if count},
            "kernel_drops": values.get("kernel_drops", []),
            "warnings": status.warnings,
        }

    def _interface(self, port: Values) -> dict[str, Any]:
        return {
            "node": port["node"],
            "interface": port["interface"],
            "mode": port["mode"],
            "large_buffers": port["large_buffers"],
            "is_usable": "failed" not in port,
            "has_carrier": port["has_carrier"],
            "frames_received": port["frames_received"],
            "frames_sent": port["frames_sent"],
            "last_frame_at": self._heard.get(port["node"], (0, None))[1],
        }

    def _protected_links(self, values: Values) -> Iterator[dict[str, Any]]:
        """Return an entry for each direction with LinkGuardian; the sending end decides if both are here."""
        ends = {_key(end): end for end in values["protections"]}
        interfaces = {port["node"]: port["interface"] for port in values["ports"]}
        for link in dict.fromkeys(link for link, _ in ends):
            sender, receiver = ends.get((link, "sender")), ends.get((link, "receiver"))
            decisive = sender or receiver
            assert decisive is not None
            counting = receiver or decisive
            beyond = decisive["beyond"] if sender is None or receiver is None else None
            yield {
                "link": link,
                "direction": _direction(sender, receiver),
                "peer": beyond,
                "interface": interfaces.get(beyond),
                "is_commanded": decisive["is_commanded"],
                "state": _STATES.get(decisive["phase"], decisive["phase"]),
                "mode": "blocking" if decisive["keeps_order"] else "non-blocking",
                "copies": decisive["copies"],
                "since": self._states[_key(decisive)][1],
                "packets": counting["packets"],
                "lost_on_link": counting["lost_on_link"],
                "recovered": counting["recovered"],
                "lost_end_to_end": counting["lost"],
            }


def _key(end: Values) -> tuple[str, str]:
    return end["link"], end["end"]


def _direction(sender: Values | None, receiver: Values | None) -> str:
    if sender and receiver:
        return "internal"
    return "outgoing" if sender else "incoming"


QUIET_S = 60.0
"""Time without a missed deadline or a dropped frame after which it keeps up again. Chosen."""
_COUNTED = ("frames_overrun", "frames_refused", "frames_merged", "returns")


class Overload:
    """Overload of a link or switch that runs for months: unlike the overload of a lab's results, it ends."""

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
