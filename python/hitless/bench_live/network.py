"""Three network namespaces: ``near`` and ``far``, and ``device`` between them, or just a veth."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hitless import _native
from hitless.errors import HitlessError
from hitless.lab import kernel

GENERATED_MAC = {"near": "02:68:6c:00:00:01", "far": "02:68:6c:00:00:02"}
"""Addresses of generated frames (crates/python/src/bench_live.rs)."""
HOST_MAC = {"near": "02:68:6c:00:01:01", "far": "02:68:6c:00:01:02"}
HOST_IP = {"near": "10.213.0.1", "far": "10.213.0.2"}
PORTS = ("near-port", "far-port")
"""Interfaces of the device."""
INTERFACE = "eth0"
"""Interface of either end."""
_TSO = ("tx-checksum-ip-generic", "tx-tcp-segmentation", "tx-generic-segmentation")
_NO_IPV6 = {f"net/ipv6/conf/{which}/disable_ipv6": "1" for which in ("all", "default")}


@dataclass(frozen=True, slots=True)
class Network:
    near: str
    far: str
    device: str

    @property
    def ends(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Namespace and interface of either end."""
        return (self.near, INTERFACE), (self.far, INTERFACE)


@contextmanager
def network(*, with_device: bool) -> Iterator[Network]:
    """Make a network with all offloads off, and remove it at the end."""
    made = Network(*(f"hl-bench-{os.getpid()}-{role}" for role in ("near", "far", "device")))
    names = (made.near, made.far, made.device)
    try:
        kernel.ip_batch([f"netns add {name}" for name in names])
        _build(made, with_device=with_device)
        yield made
    finally:
        _remove(made)


def _remove(made: Network) -> None:
    present = kernel.namespaces()
    # Remove it at once; after deleting a namespace, the kernel would take its time.
    if made.near in present and any(
        link["ifname"] == INTERFACE for link in kernel.ip_json("link", namespace=made.near)
    ):
        kernel.ip_batch([f"link delete {INTERFACE}"], namespace=made.near)
    kernel.ip_batch([f"netns delete {name}" for name in (made.near, made.far, made.device) if name in present])


def _build(made: Network, *, with_device: bool) -> None:
    for name in (made.near, made.far, made.device):
        with kernel.inside(name):
            kernel.write_sysctls(_NO_IPV6)
    if with_device:
        for end, port in zip((made.near, made.far), PORTS, strict=True):
            peer = f"peer name {INTERFACE} netns {end}"
            kernel.ip_batch([f"link add {port} type veth {peer}", f"link set {port} arp off up"], namespace=made.device)
            _require_off(made.device, port)
    else:
        peer = f"peer name {INTERFACE} netns {made.far}"
        kernel.ip_batch([f"link add {INTERFACE} type veth {peer}"], namespace=made.near)
    _build_end(made.near, "near", "far")
    _build_end(made.far, "far", "near")


def _build_end(namespace: str, role: str, other: str) -> None:
    _require_off(namespace, INTERFACE)
    lines = [
        f"link set {INTERFACE} address {HOST_MAC[role]} mtu 1500 up",
        f"address add {HOST_IP[role]}/24 dev {INTERFACE}",
        f"neighbour replace {HOST_IP[other]} lladdr {HOST_MAC[other]} dev {INTERFACE} nud permanent",
    ]
    kernel.ip_batch(lines, namespace=namespace)


def switch_on_tso(made: Network) -> None:
    """Let the ends, and the ports between them, leave the splitting of TCP buffers to their cards."""
    inside = [(made.near, INTERFACE), (made.far, INTERFACE)]
    present = {link["ifname"] for link in kernel.ip_json("link", namespace=made.device)}
    inside += [(made.device, port) for port in PORTS if port in present]
    for namespace, interface in inside:
        with kernel.inside(namespace):
            _native.NetworkInterface(interface).switch_on_offloads([*_TSO])


def _require_off(namespace: str, interface: str) -> None:
    still_on = _native.switch_off_offloads_in(namespace, interface)
    if still_on:
        raise HitlessError(f"offloads of a veth cannot be switched off: {', '.join(still_on)}")
