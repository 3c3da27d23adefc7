"""Sources of counter readings for a port."""

from typing import Protocol

from hitless.corruptd.window import Reading


class NoReading(Exception):
    """The reading failed: the text says why. The next one may succeed."""


class CounterSource(Protocol):
    """The counters of one port."""

    def read(self) -> Reading:
        """Read them now. Raises `NoReading`."""
