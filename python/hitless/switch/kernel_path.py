"""The path in the kernel between the two interfaces of a link, for the time without protection.

Two tables of nftables: one stays when the process ends, and forwards every frame between inside and outside. The other,
the gate, belongs to a socket of the process, and exempts frames from inside while the process forwards them itself.
When the process ends for any reason, the kernel closes the socket and removes the gate. A process that hangs keeps its
socket, so the gate is also a lease: without renewal it ends after `LEASE_S`.

Frames for the box itself still reach it, and frames of the link's own types are never forwarded.
"""

import errno
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from hitless.errors import HitlessError
from hitless.live import ports
from hitless.switch import nftables

LINK_TYPES = (0x88B5, 0x88B6)
"""EtherTypes of protected frames, and of the ends' greetings (IEEE 802, clause 9.2.4: local experiments)."""
_GATE_MARK = 0x6869746C
"""Mark of a frame between the two chains; removed before any other program sees it."""
_GATE_PRIORITY, _PATH_PRIORITY = -310, -300
"""The path is at the usual priority of raw tables. Chosen."""
LEASE_S = 0.3
"""Duration of a lease of frames from inside. Chosen: the other end's patience with a silence."""
_TICKS_S = 0.02
"""Maximum error of the end of a lease: two ticks of a kernel with 100 per second, the lowest rate."""
_LEASE = "alive"
_TO_BOX, _TO_OTHERS = b"\x00", b"\x03"
"""PACKET_HOST and PACKET_OTHERHOST."""
_NO_NFTABLES = (errno.EPROTONOSUPPORT, errno.EOPNOTSUPP, errno.EINVAL)
"""Answers of a kernel without nf_tables, which cannot have a path."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A period of the monotonic clock: the process forwards frames from inside that arrive in it."""

    from_s: float
    until_s: float
    """Earliest end; the process leaves later frames to the kernel."""


class KernelPath:
    """Forwarding between two interfaces by the kernel. Raises `HitlessError` if the kernel refuses it."""

    def __init__(self, inside: str, outside: str) -> None:
        self._inside, self._outside = inside, outside
        self._gate: nftables.Socket | None = None
        self._lease = Lease(0.0, 0.0)
        self.install()

    @property
    def _path_name(self) -> str:
        return path_name(self._outside)

    def install(self) -> None:
        """Install the path, or replace it after the return of an interface."""
        name = self._path_name
        chains = [("in", self._inside, self._outside), ("out", self._outside, self._inside)]
        rules = [message for chain, here, there in chains for message in _chain(name, chain, here, there)]
        # A table that already exists is made anew.
        fresh = [nftables.new_table(name), nftables.delete_table(name), nftables.new_table(name)]
        try:
            with closing(nftables.Socket()) as kernel:
                kernel.commit([*fresh, *rules])
        except OSError as refused:
            hint = "Linux 5.12 or newer with nf_tables and nft_fwd_netdev; --no-fail-open runs without it"
            raise HitlessError(f"the kernel's path for a failure: {refused.strerror}", hint=hint) from refused

    @property
    def is_closed(self) -> bool:
        """Does the process forward the frames from inside?"""
        return self._gate is not None

    @property
    def _gate_name(self) -> str:
        return f"{self._path_name}-gate"

    def close(self) -> Lease:
        """Leave frames from inside to the process, until the lease ends or it calls `open`. Raises `HitlessError`."""
        if self._gate is not None:
            return self.renewed()
        name, begin_s = self._gate_name, time.monotonic()
        gate = [
            nftables.new_table(name, is_owned=True),
            nftables.new_lease(name, _LEASE),
            nftables.lend(name, _LEASE, LEASE_S),
            nftables.new_chain(name, "in", self._inside, _GATE_PRIORITY),
            nftables.new_rule(name, "in", [*nftables.while_lent(_LEASE), *nftables.set_mark(_GATE_MARK)]),
        ]
        kernel: nftables.Socket | None = None
        try:
            kernel = nftables.Socket()
            kernel.commit(gate)
        except OSError as refused:
            if kernel is not None:
                kernel.close()
            others = "another hitless link uses it" if refused.errno == errno.EPERM else refused.strerror
            raise HitlessError(f"the kernel's path between {self._inside} and {self._outside}: {others}") from refused
        self._gate = kernel
        # The kernel's lease began between begin_s and now; the process relies only on the time that is certain.
        self._lease = Lease(time.monotonic(), begin_s + LEASE_S - _TICKS_S)
        return self._lease

    def renewed(self) -> Lease:
        """Extend the lease of a closed path, or begin a new one if it has ended. Raises `HitlessError`."""
        assert self._gate is not None, "the path is closed"
        begin_s, name = time.monotonic(), self._gate_name
        lend = nftables.lend(name, _LEASE, LEASE_S)
        from_s = self._lease.from_s
        try:
            try:
                self._gate.commit([nftables.take_back(name, _LEASE), lend])
            except OSError as refused:
                if refused.errno != errno.ENOENT:
                    raise
                self._gate.commit([lend])
                from_s = time.monotonic()
        except OSError as refused:
            raise HitlessError(f"the kernel's path at {self._outside} is not held: {refused.strerror}") from refused
        # Between the end of the old lease and now the kernel may have forwarded frames itself.
        if begin_s > self._lease.until_s:
            from_s = time.monotonic()
        self._lease = Lease(from_s, begin_s + LEASE_S - _TICKS_S)
        return self._lease

    def open(self) -> None:
        if self._gate is not None:
            self._gate.close()
            self._gate = None

    def renew(self) -> Lease | None:
        """Install everything again, after the return of an interface; returns the lease. Raises `HitlessError`."""
        was_closed = self.is_closed
        self.open()
        self.install()
        return self.close() if was_closed else None


def path_name(outside: str) -> str:
    """Return the name of the table that stays after the end of a process, such as "hitless-eth2"."""
    return f"hitless-{outside}"


def remove(outside: str) -> bool:
    """Remove the path of a link that has ended; returns whether there was one. Raises `HitlessError`."""
    ports.opened(outside)
    try:
        with closing(nftables.Socket()) as kernel:
            kernel.commit([nftables.delete_table(path_name(outside))])
    except OSError as refused:
        if refused.errno in {errno.ENOENT, *_NO_NFTABLES}:
            return False
        raise HitlessError(f"the kernel's path at {outside} cannot be removed: {refused.strerror}") from refused
    return True


def _chain(table: str, name: str, here: str, there: str) -> Iterator[bytes]:
    """Return the messages that make a chain."""
    accept, to = nftables.accept(), ports.opened(there).index
    yield nftables.new_chain(table, name, here, _PATH_PRIORITY)
    gated = nftables.matches(nftables.META_MARK, struct.pack("=I", _GATE_MARK))
    yield nftables.new_rule(table, name, [*gated, *nftables.set_mark(0), accept])
    for link_type in LINK_TYPES:
        of_link = nftables.matches(nftables.META_PROTOCOL, struct.pack(">H", link_type))
        yield nftables.new_rule(table, name, [*of_link, accept])
    of_box, of_others = (nftables.matches(nftables.META_PACKET_TYPE, kind) for kind in (_TO_BOX, _TO_OTHERS))
    yield nftables.new_rule(table, name, [*of_box, accept])
    yield nftables.new_rule(table, name, [*of_others, *nftables.forward(to)])
    # For everyone: others, and this box.
    yield nftables.new_rule(table, name, nftables.duplicate(to))
