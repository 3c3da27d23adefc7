"""NewReno (RFC 5681): a congestion control as a Python class."""

from dataclasses import dataclass, field

import hitless


@dataclass
class Settings:
    """The parameters of newreno-py."""

    divisor: float = field(default=2.0, metadata={"minimum": 1.1, "doc": "Divisor of the window after a loss."})


class NewReno(hitless.Transport[Settings], kind="newreno-py"):
    """Slow start doubles the window in a round trip; then it grows by a segment, and a loss halves it."""

    def __init__(self) -> None:
        self.credit = 0.0

    def on_ack(self, ack: hitless.Ack) -> None:
        delivered = float(ack.delivered_bytes)
        if self.cwnd < self.ssthresh:
            step = min(delivered, self.ssthresh - self.cwnd)
            self.cwnd += step
            delivered -= step
        if self.credit >= self.cwnd:  # from before a reduction: it counts for one segment
            self.credit = 0.0
            self.cwnd += self.mss
        self.credit += delivered
        while self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += self.mss

    def on_loss(self) -> None:
        self.cwnd = max(self.cwnd // self.settings.divisor, 2 * self.mss)
