"""Quantities as written in scenarios: "100 Gbps", "1.5 us", "1448 B", "3GB"."""

import math
import re

_SECONDS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BYTES = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_BPS = {"bps": 1, "kbps": 10**3, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
_WRITTEN = re.compile(r"\s*([+-]?[\d._]+(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ]+)\s*")


def seconds_of(text: str) -> float:
    """Parse a time into seconds. Raises `ValueError`."""
    return _value(text, _SECONDS)


def bytes_of(text: str) -> float:
    """Parse a size into bytes. Raises `ValueError`."""
    return _value(text, _BYTES)


def bps_of(text: str) -> float:
    """Parse a rate into bits per second. Raises `ValueError`."""
    return _value(text, _BPS)


def _value(text: str, units: dict[str, float] | dict[str, int]) -> float:
    parts = _WRITTEN.fullmatch(text)
    if parts is None or parts[2] not in units:
        raise ValueError(f"{text!r} lacks one of the units {', '.join(units)}")
    value = float(parts[1]) * units[parts[2]]
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is too large")
    return value
