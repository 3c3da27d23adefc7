"""The counters of a switch in this process: a simulated one, or any object with the same methods."""

from dataclasses import dataclass

from hitless.corruptd.actors import SwitchPorts
from hitless.corruptd.sources import NoReading
from hitless.corruptd.window import Reading


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
