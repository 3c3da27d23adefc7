"""Lines of text formats, numbers in them, and refusals that name the line."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from hitless.errors import BadInput

_WHOLE = re.compile(r"[0-9]{1,18}")
_DECIMAL = re.compile(r"[0-9]{1,18}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,2})?")
_QUANTITY = re.compile(r"([0-9.eE+-]+?)([A-Za-z/]+)")
_PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 1000, "ps": 1}
# ns-3's DataRate: b is a bit, B a byte; k, M and G are decimal. Upper-case K occurs in files as well.
_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BPS = {
    f"{prefix}{unit}": factor * bits
    for prefix, factor in _PREFIXES.items()
    for unit, bits in {"bps": 1, "b/s": 1, "Bps": 8, "B/s": 8}.items()
}
_SHOWN_CHARACTERS = 60


def shown(text: object) -> str:
    """Return a value of a file for a message: quoted, and cut if it is long."""
    quoted = repr(text)
    return quoted if len(quoted) <= _SHOWN_CHARACTERS else f"{quoted[:_SHOWN_CHARACTERS]}..."


@dataclass(frozen=True)
class Line:
    """A line of a file, without its comment."""

    file: str
    number: int
    words: list[str]

    def refused(self, what: str, rule: str, hint: str = "") -> BadInput:
        return BadInput(what, where=f"{self.file}, line {self.number}", rule=rule, hint=hint)

    def whole(self, word: str, name: str, minimum: int = 0, maximum: int = 10**15) -> int:
        value = int(word) if _WHOLE.fullmatch(word) else -1
        if not minimum <= value <= maximum:
            raise self.refused(f"{name} is {shown(word)}", f"a whole number from {minimum:,} to {maximum:,}")
        return value

    def number_of(self, word: str, name: str, maximum: int = 10**15) -> Decimal:
        """Parse a number of at least 0. Raises `BadInput`."""
        value = Decimal(word) if _DECIMAL.fullmatch(word) else Decimal(-1)
        if not 0 <= value <= maximum:
            raise self.refused(f"{name} is {shown(word)}", f"a number from 0 to {maximum:,}, without a unit")
        return value

    def duration_ps(self, word: str, name: str) -> int:
        """Parse a time with a unit, as ns-3 writes it: "1us", "0.0005ms". Raises `BadInput`."""
        return self._quantity(word, name, _PS, 'a time with a unit, as "1us" or "0.001ms"')

    def rate_bps(self, word: str, name: str) -> int:
        """Parse a rate with a unit, as ns-3 writes it: "100Gbps", "25Gb/s". Raises `BadInput`."""
        bps = self._quantity(word, name, _BPS, 'a rate with a unit, as "100Gbps"')
        if bps == 0:
            raise self.refused(f"{name} is {shown(word)}", "a link carries at least 1 bit per second")
        return bps

    def _quantity(self, word: str, name: str, units: dict[str, int], rule: str) -> int:
        parts = _QUANTITY.fullmatch(word)
        if parts is None or parts[2] not in units or not _DECIMAL.fullmatch(parts[1]):
            raise self.refused(f"{name} is {shown(word)}", rule)
        value = Decimal(parts[1]) * units[parts[2]]
        if value > 10**18:
            raise self.refused(f"{name} is {shown(word)}", "too large")
        return int(value.to_integral_value())


def lines_of(text: str, file: str) -> Iterator[Line]:
    """Return the lines with content; blank ones and comments, from ``#`` on, are left out."""
    for number, whole in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        words = whole.partition("#")[0].split()
        if words:
            yield Line(file, number, words)


def first_line(lines: Iterator[Line], file: str, rule: str) -> Line:
    """Return the next line, which must exist. Raises `BadInput`."""
    found = next(lines, None)
    if found is None:
        raise BadInput("the file ends too early", where=file, rule=rule)
    return found
