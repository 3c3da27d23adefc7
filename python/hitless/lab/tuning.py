"""Kernel settings of a lab's hosts, from the scenario's transports.

Only settings that Linux has per namespace, and only if they differ from the defaults of Linux.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LINUX_NAMES = {"newreno": "reno"}
_FIELDS = ("congestion", "ecn", "sack", "slow_start_after_idle", "rto_min", "initial_window")
"""Fields of a transport that a kernel supports."""
_LINUX_RTO_MIN = "200 ms"
_LINUX_WINDOW = 10
_LISTED = 8


@dataclass(frozen=True, slots=True)
class Tuning:
    congestion: str
    """Name of the congestion control in Linux."""
    ecn: bool = False
    sack: bool = True
    slow_start_after_idle: bool = False
    rto_min: str | None = None
    """Value for ``ip route``."""
    initial_window: int | None = None

    @property
    def sysctls(self) -> dict[str, str]:
        """The settings below /proc/sys/net/ipv4."""
        return {
            "tcp_ecn": "1" if self.ecn else "2",
            "tcp_sack": str(int(self.sack)),
            "tcp_slow_start_after_idle": str(int(self.slow_start_after_idle)),
            # One connection's knowledge of the path must not affect the next.
            "tcp_no_metrics_save": "1",
        }

    @property
    def route_attributes(self) -> list[str]:
        """The attributes for ``ip route``.

        They include the congestion control: the sysctl lets a namespace use hardly any but the default.
        """
        words = ["congctl", self.congestion]
        words += ["rto_min", self.rto_min] if self.rto_min else []
        return words + (["initcwnd", str(self.initial_window)] if self.initial_window else [])

    def __str__(self) -> str:
        words = [self.congestion]
        words += ["ECN"] if self.ecn else []
        words += [] if self.sack else ["no SACK"]
        words += ["slow start after idle"] if self.slow_start_after_idle else []
        words += [f"rto_min {self.rto_min}"] if self.rto_min else []
        words += [f"initial window {self.initial_window}"] if self.initial_window else []
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Offered:
    names: Collection[str]
    default: str


def tunings(
    scenario: Mapping[str, Any], hosts: Collection[str], offered: Offered, congestion: str | None = None
) -> tuple[dict[str, Tuning], list[str]]:
    """Return each host's settings, and the deviations from the scenario.

    ``scenario`` is an effective configuration; ``congestion`` overrides the scenario for every host.
    """
    notes: list[str] = []
    wanted = {host: _wanted(host, found, notes) for host, found in _transports(scenario, hosts).items()}
    missing: dict[str, list[str]] = {}
    settings = {}
    for host, transport in wanted.items():
        kind = transport["congestion"]["kind"] if transport else ""
        name = congestion or _LINUX_NAMES.get(kind, kind) or None
        if name is not None and name not in offered.names:
            missing.setdefault(name, []).append(host)
            name = None
        settings[host] = _tuning(transport, name or offered.default)
    return settings, notes + [_told_missing(name, hosts, offered) for name, hosts in missing.items()]


def _transports(scenario: Mapping[str, Any], hosts: Collection[str]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the TCP transports of each host, in the order of the groups of flows."""
    transports = {entry["name"]: entry for entry in scenario.get("transport", []) if entry["kind"] == "tcp"}
    found: dict[str, list[Mapping[str, Any]]] = {host: [] for host in hosts}
    for group in scenario.get("flows", []):
        transport = transports.get(group["transport"])
        if transport is None:
            continue
        for host in _takes_part(group, hosts):
            if transport not in found[host]:
                found[host].append(transport)
    return found


def _takes_part(group: Mapping[str, Any], hosts: Collection[str]) -> list[str]:
    """Return the hosts at both ends of a group's flows: each end is a kernel."""
    named: list[str] = []
    for field in ("sources", "destinations", "hosts", "servers", "clients"):
        named += group.get(field, [])
    if not named or "all" in named:
        return list(hosts)
    return [host for host in hosts if any(_matches(host, name) for name in named)]


def _matches(host: str, name: str) -> bool:
    """Does ``name``, which can be a range such as "h0..h15", include ``host``?"""
    first, dots, last = name.partition("..")
    if not dots:
        return host == name
    stem = first.rstrip("0123456789")
    number = host.removeprefix(stem)
    if not host.startswith(stem) or not number.isdecimal():
        return False
    return int(first.removeprefix(stem)) <= int(number) <= int(last.removeprefix(stem))


def _wanted(host: str, transports: list[Mapping[str, Any]], notes: list[str]) -> Mapping[str, Any]:
    """Return the transport for the host's kernel: its first."""
    for other in transports[1:]:
        first = transports[0]
        differing = [name for name in _FIELDS if first[name] != other[name]]
        if differing:
            both = f"{first['name']} and {other['name']}"
            rule = f"a kernel is set to one: {', '.join(differing)} as in {first['name']}"
            notes.append(f"{host} has the transports {both}, and {rule}")
    return transports[0] if transports else {}


def _tuning(transport: Mapping[str, Any], congestion: str) -> Tuning:
    if not transport:
        return Tuning(congestion)
    return Tuning(
        congestion=congestion,
        ecn=transport["ecn"],
        sack=transport["sack"],
        slow_start_after_idle=transport["slow_start_after_idle"],
        rto_min=None if transport["rto_min"] == _LINUX_RTO_MIN else transport["rto_min"].replace(" ", ""),
        initial_window=None if transport["initial_window"] == _LINUX_WINDOW else transport["initial_window"],
    )


def _told_missing(name: str, hosts: Sequence[str], offered: Offered) -> str:
    return (
        f"this kernel has no congestion control {name} (it has {', '.join(sorted(offered.names))}), "
        f"so {listed(hosts)} keep {offered.default}"
    )


def listed(names: Iterable[str]) -> str:
    """List names for a sentence."""
    every = list(names)
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more
