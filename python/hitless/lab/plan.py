"""Every name and address of a lab, before anything exists.

Host number n, counted from 1 in the scenario's order, has the address 10.0.(n div 256).(n mod 256)/16 and a hardware
address made from it: 02:00 and the four bytes. IPv6 is off by default, so that a lab only carries the traffic of its
programs; with IPv6, host number n also has fd00::n/64 (RFC 4193).
"""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

from pydantic import Field

from hitless.errors import BadInput
from hitless.service.configuration import Checked

NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$"
INTERFACE_NAME_BYTES = 15
"""IFNAMSIZ without the terminating zero."""
HOSTS_MAX = 400
PREFIX = "hitless"
NETWORK = IPv4Address("10.0.0.0")
NETWORK_BITS = 16
NETWORK_V6 = IPv6Address("fd00::")
NETWORK_V6_BITS = 64
HOST_INTERFACE = "eth0"
HOST_MTU_BYTES = 1_500

_HOST_NAME = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}$")


class HostPlan(Checked):
    """A host: a namespace with one interface, and the other end of its veth."""

    name: str
    namespace: str
    address: str
    hardware_address: str
    address_v6: str | None = None
    """None for a host without IPv6."""
    port: str
    """Interface at the fabric's end."""


class LabLinkPlan(Checked):
    """A link of the fabric, by its names in both directions."""

    name: str
    reverse: str
    ends: tuple[str, str]
    rates_bps: tuple[int, int]
    """Rate from the first end to the second, and back."""


class LabPlan(Checked):
    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    namespace: str
    """Namespace that contains only the fabric's ends of the veths."""
    hosts: list[HostPlan]
    switches: list[str]
    links: list[LabLinkPlan]

    @property
    def namespaces(self) -> list[str]:
        """All namespaces of the lab, the fabric's first."""
        return [self.namespace, *(host.namespace for host in self.hosts)]

    @property
    def interfaces(self) -> dict[str, str]:
        """The interface to each host."""
        return {host.name: host.port for host in self.hosts}


def lab_name(wanted: str | None, scenario_name: str) -> str:
    """Return the requested name, or derive one from the scenario's. Raises `BadInput`."""
    if wanted is None:
        return re.sub(r"[^a-z0-9]+", "-", scenario_name.lower())[:32].strip("-") or "lab"
    if not re.fullmatch(NAME_PATTERN, wanted):
        rule = "a lab's name has 1 to 32 lower-case letters, digits and hyphens, without a hyphen at either end"
        raise BadInput(f"--name {wanted!r} is not a valid name for a lab", rule=rule)
    return wanted


def make_plan(
    name: str, hosts: Sequence[str], switches: Sequence[str], links: Sequence[LabLinkPlan], *, ipv6: bool = False
) -> LabPlan:
    """Plan the lab ``name`` for this fabric. Raises `BadInput` if hosts cannot be namespaces."""
    _require_namespaces_for(hosts)
    return LabPlan(
        name=name,
        namespace=f"{PREFIX}.{name}",
        hosts=[_host(name, host, number, ipv6=ipv6) for number, host in enumerate(hosts, start=1)],
        switches=list(switches),
        links=list(links),
    )


def _require_namespaces_for(hosts: Sequence[str]) -> None:
    if len(hosts) > HOSTS_MAX:
        hint = "a smaller fabric of the same shape; hitless run has no such limit"
        raise BadInput(f"{len(hosts)} hosts, but a lab has a maximum of {HOSTS_MAX}", where="topology", hint=hint)
    for host in hosts:
        if not _HOST_NAME.fullmatch(host):
            rule = "a host of a lab becomes a namespace: only letters, digits, - and _, maximum 63"
            raise BadInput(f"{host!r} is not a valid name for a host of a lab", where="topology", rule=rule)


def _host(lab: str, name: str, number: int, *, ipv6: bool) -> HostPlan:
    address = NETWORK + number
    return HostPlan(
        name=name,
        namespace=f"{PREFIX}.{lab}.{name}",
        address=str(address),
        hardware_address=":".join(f"{byte:02x}" for byte in b"\x02\x00" + address.packed),
        address_v6=str(NETWORK_V6 + number) if ipv6 else None,
        port=name if len(name) <= INTERFACE_NAME_BYTES and name != "lo" else f"port{number}",
    )
