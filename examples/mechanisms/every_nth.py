"""Drops every Nth packet that leaves by some ports, and marks every Mth: a mechanism as a Python class."""

from dataclasses import dataclass, field

import hitless


@dataclass
class Settings:
    """The parameters of every-nth-py."""

    ports: list[str] = field(metadata={"doc": 'Ports: "sw2->sw6" is the port that sends on this link.'})
    drop_every: int = field(default=0, metadata={"minimum": 0, "doc": "Period of dropped packets; 0: no drops."})
    mark_every: int = field(default=0, metadata={"minimum": 0, "doc": "Period of marked packets; 0: no marks."})


COUNTERS = {"packets_dropped": "packets dropped", "packets_marked": "packets marked"}


class EveryNth(hitless.Mechanism[Settings], kind="every-nth-py", marks=True, counters=COUNTERS):
    """At egress drops every Nth packet of a port, and marks every Mth if its transport supports ECN."""

    def __init__(self) -> None:
        self.seen = dict.fromkeys(self.ports, 0)
        self.dropped = 0
        self.marked = 0

    def egress(self, context: hitless.Context) -> hitless.Verdict:
        self.seen[context.port] += 1
        number, settings = self.seen[context.port], self.settings
        if settings.drop_every and number % settings.drop_every == 0:
            self.dropped += 1
            return hitless.Verdict.drop()
        if settings.mark_every and number % settings.mark_every == 0:
            self.marked += context.packet.mark_congestion()
        return hitless.Verdict.CONTINUE

    def report(self) -> hitless.Counters:
        return {"packets_dropped": self.dropped, "packets_marked": self.marked}
