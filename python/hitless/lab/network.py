"""The namespaces and veths of a lab, made and removed as a whole.

The fabric's ends are in a separate namespace, invisible to programs that watch interfaces (a firewall, a network
manager, Docker).
"""

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from hitless.errors import HitlessError
from hitless.lab import kernel
from hitless.lab.plan import HOST_INTERFACE, HOST_MTU_BYTES, NETWORK, NETWORK_BITS, NETWORK_V6_BITS, HostPlan, LabPlan
from hitless.lab.tuning import Tuning
from hitless.live import NetworkInterface

_END_S = 2.0
"""Time for a process in a host to end before it is killed."""
_GONE_S = 10.0
_AT_ONCE = 32
"""Number of namespaces made in one step; a lab can be stopped between steps."""
_NO_IPV6 = {f"net/ipv6/conf/{which}/disable_ipv6": "1" for which in ("all", "default")}
_QUIET_IPV6 = {
    f"net/ipv6/conf/{which}/{name}": value
    for which in ("all", "default", HOST_INTERFACE)
    for name, value in (
        ("disable_ipv6", "0"),
        ("accept_ra", "0"),
        ("router_solicitations", "0"),
        ("dad_transmits", "0"),
        ("keep_addr_on_down", "1"),
    )
}
"""Settings that stop IPv6 hosts from soliciting routers and probing for duplicate addresses (RFC 4861, 4862).

Nobody would answer. They keep their address while the link is down, as with IPv4.
"""


def require_free(plan: LabPlan) -> None:
    """Require that none of the lab's objects exist yet. Raises `HitlessError`.

    Call it before writing a record: everything in a record belongs to the lab, and will be removed.
    """
    taken = sorted(set(plan.namespaces) & kernel.namespaces())
    if taken:
        hint = f"if nothing uses it: ip netns delete {taken[0]}"
        raise HitlessError(f"there is already a network namespace {taken[0]}, not made by this lab", hint=hint)


def build(plan: LabPlan, tunings: Mapping[str, Tuning], require_going_on: Callable[[], None]) -> list[str]:
    """Make everything; return optional settings that the kernel refused. Raises `HitlessError`.

    ``require_going_on`` is called between steps, and raises if the lab must stop before it is up.
    """
    for first in range(0, len(plan.namespaces), _AT_ONCE):
        require_going_on()
        kernel.ip_batch([f"netns add {name}" for name in plan.namespaces[first : first + _AT_ONCE]])
    require_going_on()
    _build_fabric(plan)
    notes: list[str] = []
    for host in plan.hosts:
        require_going_on()
        notes += _build_host(host, plan, tunings[host.name])
    return notes


def remove(plan: LabPlan) -> None:
    """Remove everything of a lab, starting with its programs. Raises `HitlessError` if something stays."""
    there = kernel.namespaces()
    present = [name for name in plan.namespaces if name in there]
    end_processes(kernel.processes_in(present))
    _end_late_ones(present)
    _remove_veths(plan, present)
    kernel.ip_batch([f"netns delete {name}" for name in present])


def _end_late_ones(namespaces: Sequence[str]) -> None:
    """End programs started during the shutdown: deleting the namespace's name would hide them."""
    until = time.monotonic() + _GONE_S
    while (left := kernel.processes_in(namespaces)) and time.monotonic() < until:
        _send(left, signal.SIGKILL)
        time.sleep(0.01)


def end_processes(pids: Iterable[int]) -> None:
    """Ask processes to end, and kill those that do not. Raises `HitlessError` if one survives."""
    living = list(pids)
    for number, patience_s in ((signal.SIGTERM, _END_S), (signal.SIGKILL, _GONE_S)):
        _send(living, number)
        until = time.monotonic() + patience_s
        while living and time.monotonic() < until:
            time.sleep(0.01)
            living = [pid for pid in living if kernel.process_start_ticks(pid) is not None]
    if living:
        raise HitlessError(f"processes {', '.join(map(str, living))} of the lab do not end")


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def _build_fabric(plan: LabPlan) -> None:
    with kernel.inside(plan.namespace):
        kernel.write_sysctls(_NO_IPV6)
    lines = ["link set lo up"]
    for host in plan.hosts:
        peer = f"peer name {HOST_INTERFACE} address {host.hardware_address} mtu {HOST_MTU_BYTES} netns {host.namespace}"
        lines.append(f"link add {host.port} mtu {HOST_MTU_BYTES} type veth {peer}")
        # The port belongs to the fabric: the kernel must not answer on it.
        lines.append(f"link set {host.port} arp off up")
    kernel.ip_batch(lines, namespace=plan.namespace)
    with kernel.inside(plan.namespace):
        for host in plan.hosts:
            NetworkInterface(host.port).switch_off_offloads()
    kernel.receive_on_one_processor(plan.namespace, [host.port for host in plan.hosts])


def _build_host(host: HostPlan, plan: LabPlan, tuning: Tuning) -> list[str]:
    with kernel.inside(host.namespace):
        ipv6 = _NO_IPV6 if host.address_v6 is None else _QUIET_IPV6
        kernel.write_sysctls(ipv6 | {f"net/ipv4/{name}": value for name, value in tuning.sysctls.items()})
        _, still_on = NetworkInterface(HOST_INTERFACE).switch_off_offloads()
    kernel.receive_on_one_processor(host.namespace, [HOST_INTERFACE])
    kernel.ip_batch(_host_lines(host, plan, tuning), namespace=host.namespace)
    return [f"{host.name}: the kernel does not switch off: {', '.join(still_on)}"] if still_on else []


def _host_lines(host: HostPlan, plan: LabPlan, tuning: Tuning) -> list[str]:
    route = f"{NETWORK}/{NETWORK_BITS} dev {HOST_INTERFACE} proto kernel scope link src {host.address}"
    lines = [
        "link set lo up",
        f"address add {host.address}/{NETWORK_BITS} broadcast + dev {HOST_INTERFACE}",
        f"link set {HOST_INTERFACE} up",
        f"route change {route} {' '.join(tuning.route_attributes)}",
    ]
    neighbour = "neighbour replace {} lladdr {} dev {} nud permanent"
    others = [other for other in plan.hosts if other.name != host.name]
    lines += [neighbour.format(other.address, other.hardware_address, HOST_INTERFACE) for other in others]
    if host.address_v6 is not None:
        lines.append(f"address add {host.address_v6}/{NETWORK_V6_BITS} dev {HOST_INTERFACE} nodad")
        lines += [neighbour.format(other.address_v6, other.hardware_address, HOST_INTERFACE) for other in others]
    return lines


def _remove_veths(plan: LabPlan, present: Iterable[str]) -> None:
    """Remove them at once; after deleting a namespace, the kernel would take its time."""
    if plan.namespace not in present:
        return
    there = {link["ifname"] for link in kernel.ip_json("link", "show", namespace=plan.namespace)}
    ports = [host.port for host in plan.hosts if host.port in there]
    kernel.ip_batch([f"link delete {port}" for port in ports], namespace=plan.namespace)
