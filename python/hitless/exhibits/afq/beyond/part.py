"""What `Beyond` is made of."""

from abc import ABC, abstractmethod
from collections.abc import Iterable

from hitless.exhibits import Context, Point, Row, Runs

TABLES = ("flows", "messages", "mechanisms")


class Part(ABC):
    """One question with its runs. The order of calls is that of an exhibit."""

    @abstractmethod
    def points(self, context: Context) -> Iterable[Point]:
        """Its runs, with keys that no other part has."""

    @abstractmethod
    def rows(self, runs: Runs) -> Iterable[Row]:
        """What they say."""
