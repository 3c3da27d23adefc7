"""SONiC: the port counters that syncd keeps in COUNTERS_DB (Redis database 2).

``COUNTERS_PORT_NAME_MAP`` maps "Ethernet0" to an object, and ``COUNTERS:<object>`` holds its SAI statistics as decimal
text. Good frames are unicast plus other frames; bad ones are frames with a wrong check sequence if the chip counts them
separately, otherwise all receive errors.
"""

from collections.abc import Mapping
from typing import cast

import redis

from hitless.corruptd.redis_bus import RedisSettings, client
from hitless.corruptd.sources import NoReading
from hitless.corruptd.sources.linux import parse_number
from hitless.corruptd.window import Reading

NAME_MAP = "COUNTERS_PORT_NAME_MAP"
UNICAST = "SAI_PORT_STAT_IF_IN_UCAST_PKTS"
NOT_UNICAST = "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS"
CHECK_SEQUENCE_ERRORS = "SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS"
ERRORS = "SAI_PORT_STAT_IF_IN_ERRORS"
FEC_UNCORRECTABLE = "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES"
_NAMES = (UNICAST, NOT_UNICAST, CHECK_SEQUENCE_ERRORS, ERRORS, FEC_UNCORRECTABLE)


class SonicSource:
    def __init__(self, port: str, settings: RedisSettings, *, count_fec: bool = False) -> None:
        self.port = port
        self._settings = settings
        self._count_fec = count_fec
        self._basis = ""

    def read(self) -> Reading:
        """Read the counters now. The object is looked up each time: it changes when syncd restarts."""
        try:
            with client(self._settings) as database:
                found = database.hget(NAME_MAP, self.port)
                if not isinstance(found, bytes):
                    raise NoReading(f"COUNTERS_DB has no port {self.port}")
                fields = cast("Mapping[bytes, bytes]", database.hgetall(b"COUNTERS:" + found))
        except (redis.RedisError, OSError) as failed:
            raise NoReading(f"COUNTERS_DB: {failed}") from failed
        reading = parse_counters(self.port, fields, count_fec=self._count_fec, before=self._basis)
        self._basis = reading.basis
        return reading


def parse_counters(port: str, fields: Mapping[bytes, bytes], *, count_fec: bool, before: str = "") -> Reading:
    """Parse a hash of SAI statistics. Raises `NoReading` if the counters are missing.

    ``before`` is the basis of the previous reading; losing one of its counters would change the meaning of the numbers.
    """
    found = {name: _number(port, fields, name) for name in _NAMES}
    lost = [name for name in before.split() if found[name] is None]
    if lost:
        raise NoReading(f"{port}: COUNTERS_DB had {lost[0]} and no longer has it; SIGHUP starts over")
    good = [name for name in (UNICAST, NOT_UNICAST) if found[name] is not None]
    bad = [name for name in (CHECK_SEQUENCE_ERRORS, ERRORS) if found[name] is not None][:1]
    if UNICAST not in good or not bad:
        raise NoReading(f"{port}: COUNTERS_DB has no {UNICAST}, or neither {CHECK_SEQUENCE_ERRORS} nor {ERRORS}")
    if count_fec and found[FEC_UNCORRECTABLE] is None:
        raise NoReading(f"{port}: count_fec is set, but COUNTERS_DB has no {FEC_UNCORRECTABLE}")
    bad += [FEC_UNCORRECTABLE] if count_fec else []
    frames_ok, frames_bad = (sum(found[name] or 0 for name in names) for names in (good, bad))
    return Reading(frames_ok, frames_bad, found[FEC_UNCORRECTABLE], " ".join((*good, *bad)))


def _number(port: str, fields: Mapping[bytes, bytes], name: str) -> int | None:
    """Return a counter; None if the chip lacks it: SONiC omits it or writes N/A."""
    value = fields.get(name.encode())
    if value is None or value == b"N/A":
        return None
    try:
        return parse_number(value)
    except ValueError as bad:
        raise NoReading(f"{port}: {name}: {bad}") from bad
