"""Sends every frame of a link twice and discards the second copy: the simplest protection, and a worked example."""

from collections import Counter
from dataclasses import dataclass, field

import hitless

COPY = 1
"""Role of a copy."""
WINDOW = 10_000
"""Numbers that the receiving end remembers: far more than fit between a frame and its copy."""


@dataclass
class Settings:
    """The parameters of twin."""

    ports: list[str] = field(
        metadata={"doc": 'Both ends of a link: "sw2->sw6" and "sw6->sw2". Each has an object of the class.'}
    )


class Twin(
    hitless.Mechanism[Settings],
    kind="twin",
    stage="link-protection",
    claims=["owns-link"],
    counters={"frames_sent_twice": "frames sent twice", "copies_dropped": "copies dropped"},
    header_bytes=4,
):
    """Numbers the frames that leave by a port and sends each twice; the other end of the link drops what it has."""

    def __init__(self) -> None:
        self.numbers = dict.fromkeys(self.ports, 0)
        self.seen: dict[int, set[int]] = {port: set() for port in self.ports}
        self.count: Counter[str] = Counter()

    def egress(self, context: hitless.Context) -> hitless.Verdict:
        """Number a frame and put its copy into the same queue. The copy comes here too, and leaves as it is."""
        if context.is_mine:
            return hitless.Verdict.CONTINUE
        packet = context.packet
        packet.header = self.numbers[context.port].to_bytes(4, "big")
        self.numbers[context.port] += 1
        context.queue(context.port, packet.queue).mirror(COPY)
        self.count["frames_sent_twice"] += 1
        return hitless.Verdict.CONTINUE

    def rx(self, context: hitless.Context) -> hitless.Verdict:
        """Take the number off a frame that came in by the link, and drop the frame if its twin was here before."""
        packet = context.packet
        if packet.header is None:
            return hitless.Verdict.CONTINUE
        number = int.from_bytes(packet.header, "big")
        packet.header = None
        seen = self.seen[context.port]
        if number in seen:
            seen.discard(number)
            self.count["copies_dropped"] += 1
            return hitless.Verdict.drop(hitless.DropReason.DUPLICATE)
        seen.add(number)
        seen.discard(number - WINDOW)
        return hitless.Verdict.CONTINUE

    def report(self) -> hitless.Counters:
        """Return the counters."""
        return dict(self.count)
