"""Sources of counter readings for a port; `SwitchSource` reads a switch in this process, or any object like it."""

from dataclasses import dataclass
from typing import Protocol

from hitless.corruptd.actors import SwitchPorts
from hitless.corruptd.window import Reading


class NoReading(Exception):
    """The reading failed: the text says why. The next one may succeed."""


class CounterSource(Protocol):
    """The counters of one port."""

    def read(self) -> Reading:
        """Read them now. Raises `NoReading`."""


@dataclass(frozen=True, slots=True)
class SwitchSource:
    switch: SwitchPorts
    link: str

    def read(self) -> Reading:
        """Read framesRxOk and framesRxAll."""
        try:
            frames_ok, frames_all = self.switch.receive_counters(self.link)
        except (ValueError, RuntimeError) as refused:
            raise NoReading(str(refused)) from refused
        if frames_ok > frames_all:
            raise NoReading(f"{frames_ok} good frames of {frames_all} frames cannot be")
        return Reading(frames_ok, frames_all - frames_ok)
