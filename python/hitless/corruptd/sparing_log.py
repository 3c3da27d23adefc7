"""Rate limit for log lines that others can cause."""

import logging
from dataclasses import dataclass

PERIOD_S = 60.0
LINES = 10
"""Maximum lines of one kind in a period."""


@dataclass(slots=True)
class _Period:
    began_s: float
    lines: int = 0
    left_out: int = 0


class SparingLog:
    """Writes at most `LINES` lines of a kind in `PERIOD_S`, and counts the others.

    Kinds must be few: they come from this program, not from a message.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._periods: dict[str, _Period] = {}

    def write(self, level: int, kind: str, now_s: float, text: str) -> None:
        period = self._periods.get(kind)
        if period is None or now_s - period.began_s >= PERIOD_S:
            if period is not None and period.left_out:
                text += f" ({period.left_out} lines like it were left out)"
            period = self._periods[kind] = _Period(now_s)
        if period.lines == LINES:
            period.left_out += 1
            return
        period.lines += 1
        if period.lines == LINES:
            text += f"; no more lines like it for up to {PERIOD_S:.0f} s"
        self._log.log(level, "%s", text)
