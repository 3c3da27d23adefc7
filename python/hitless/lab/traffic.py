"""Traffic between the hosts of a lab, using only Python's sockets and the counters of this machine's kernel.

    python traffic.py PROGRAM '{"port": 9, ...}'

runs one of the `PROGRAMS` in a host. Receivers say "ready" and end at the end of their standard input; all programs
write one line of JSON at their end. The file imports nothing from hitless, so that it runs with any Python, in any
namespace.
"""

import json
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

_RECEIVE_BUFFER_FORCED = 33
"""SO_RCVBUFFORCE: exceeds rmem_max, so that a pause of this program does not lose packets."""
_PACING_RATE_MAX = 47
"""SO_MAX_PACING_RATE, in bytes per second: TCP paces itself."""
_BUFFER_BYTES = 1 << 23
_HEADER = struct.Struct("!HI")
"""Header of a datagram: the sender, and the number."""
_QUIET_S = 0.3
"""Silence after which the network counts as empty."""


class TcpInfo(NamedTuple):
    """Linux counters of a connection that are used here (TCP_INFO; include/uapi/linux/tcp.h)."""

    retransmitted: int
    """Retransmitted segments: tcpi_total_retrans."""
    duplicates_reported: int
    """Duplicate segments reported by the receiver: tcpi_dsack_dups."""
    reordering_seen: int
    """Number of times that the sender saw reordering: tcpi_reord_seen."""
    out_of_order: int
    """Segments received out of order: tcpi_rcv_ooopack."""


def tcp_info(connection: socket.socket) -> TcpInfo:
    """Return the kernel's counters of a connection; zeros for counters that an old kernel lacks."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256).ljust(256, b"\0")
    at = (100, 216, 220, 224)
    return TcpInfo(*(struct.unpack_from("=I", info, offset)[0] for offset in at))


def _set_code_point(connection: socket.socket, dscp: int) -> None:
    """Set the upper six bits of the traffic class; the kernel keeps the lower two of TCP for ECN."""
    if connection.family == socket.AF_INET6:
        connection.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, dscp << 2)
    else:
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)


def _family(is_ipv6: bool) -> socket.AddressFamily:
    return socket.AF_INET6 if is_ipv6 else socket.AF_INET


def _say_ready() -> None:
    print("ready", flush=True)


def udp_sink(*, port: int, is_ipv6: bool = False) -> dict[str, Any]:
    """Receive datagrams until standard input ends and the network is quiet; `arrivals`: (sender, number), in order."""
    arrivals: list[tuple[int, int]] = []
    with socket.socket(_family(is_ipv6), socket.SOCK_DGRAM) as here:
        here.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCED, _BUFFER_BYTES)
        here.bind(("", port))
        _say_ready()
        is_ending = False
        while True:
            watched = [here] if is_ending else [here, sys.stdin]
            ready, _, _ = select.select(watched, [], [], _QUIET_S if is_ending else None)
            if sys.stdin in ready:
                sys.stdin.read()
                is_ending = True
            elif here in ready:
                arrivals.append(_HEADER.unpack_from(here.recv(65_536)))
            elif is_ending:
                return {"arrivals": arrivals}


def udp_send(
    *, to: str, port: int, sender: int, dscp: int, bursts: int, burst: int, payload: int, at_ns: int, every_s: float
) -> dict[str, Any]:
    """Send ``bursts`` of ``burst`` datagrams at full speed, the first at ``at_ns`` of the monotonic clock."""
    with socket.socket(_family(":" in to), socket.SOCK_DGRAM) as here:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        _set_code_point(here, dscp)
        number = 0
        for turn in range(bursts):
            while (left_ns := at_ns + round(turn * every_s * 1e9) - time.monotonic_ns()) > 0:
                time.sleep(left_ns / 1e9)
            for _ in range(burst):
                here.sendto(_HEADER.pack(sender, number).ljust(payload, b"x"), (to, port))
                number += 1
    return {"sent": number}


def udp_flood(*, to: str, port: int, payload: int, rate_bps: float, seconds: float) -> dict[str, Any]:
    """Send at a fixed rate, regardless of loss, in batches every millisecond."""
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        data = b"x" * payload
        began = time.monotonic()
        while (elapsed := time.monotonic() - began) < seconds:
            while sent * payload * 8 < rate_bps * elapsed:
                here.sendto(data, (to, port))
                sent += 1
            time.sleep(1e-3)
    return {"sent": sent}


class _Reader(threading.Thread):
    """Reads one connection to its end."""

    def __init__(self, connection: socket.socket, peer: str) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self.result: dict[str, Any] = {"peer": peer, "bytes": 0, "longest_gap_ns": 0, "out_of_order": 0}

    def run(self) -> None:
        last_ns: int | None = None
        with self._connection:
            while data := self._connection.recv(1 << 16):
                now_ns = time.monotonic_ns()
                gap_ns = now_ns - (now_ns if last_ns is None else last_ns)
                self.result["longest_gap_ns"] = max(self.result["longest_gap_ns"], gap_ns)
                self.result["bytes"] += len(data)
                last_ns = now_ns
            self.result["out_of_order"] = tcp_info(self._connection).out_of_order


def tcp_sink(*, port: int) -> dict[str, Any]:
    """Accept connections and read them to the end; for each: bytes, longest gap between reads, early segments."""
    readers: list[_Reader] = []
    with socket.create_server(("", port)) as server:
        _say_ready()
        while True:
            ready, _, _ = select.select([server, sys.stdin], [], [])
            if sys.stdin in ready:
                sys.stdin.read()
                break
            connection, (peer, _) = server.accept()
            readers.append(_Reader(connection, peer))
            readers[-1].start()
    for reader in readers:
        reader.join(timeout=_QUIET_S)
    return {"connections": [reader.result for reader in readers]}


def tcp_send(
    *, to: str, port: int, seconds: float, dscp: int = 0, window: int = 65_536, rate_bps: float | None = None
) -> dict[str, Any]:
    """Send for a time, up to ``rate_bps``; return the kernel's counters once everything is acknowledged.

    ``window`` limits the data in the socket: an overflow of the card would be a different loss than the one under test.
    """
    sent = 0
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as here:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, window)
        _set_code_point(here, dscp)
        if rate_bps is not None:
            here.setsockopt(socket.SOL_SOCKET, _PACING_RATE_MAX, round(rate_bps / 8))
        here.connect((to, port))
        data = b"x" * 16_384
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            sent += here.send(data)
        here.shutdown(socket.SHUT_WR)
        # The other end closes once it has everything.
        here.settimeout(30)
        here.recv(1)
        return {"bytes": sent, "took_s": time.monotonic() - began, **tcp_info(here)._asdict()}


PROGRAMS: dict[str, Callable[..., dict[str, Any]]] = {
    "udp-sink": udp_sink,
    "udp-send": udp_send,
    "udp-flood": udp_flood,
    "tcp-sink": tcp_sink,
    "tcp-send": tcp_send,
}


def main() -> int:
    """Run the program named by the first argument, with the settings in the second."""
    name, settings = sys.argv[1:]
    print(json.dumps(PROGRAMS[name](**json.loads(settings))), flush=True)
    sys.stdout.flush()
    # An open connection must not delay the exit.
    os._exit(0)


if __name__ == "__main__":
    main()
