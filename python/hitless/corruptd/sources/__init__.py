"""Where readings of a port's counters come from."""

from typing import Protocol

from hitless.corruptd.window import Reading


class NoReading(Exception):
    """There is no reading: the text says why. The next one may succeed."""


class CounterSource(Protocol):
    """The counters of one port."""

    def read(self) -> Reading:
        """Read them now. Raises `NoReading`."""
