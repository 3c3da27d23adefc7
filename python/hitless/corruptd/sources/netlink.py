"""The part of generic netlink and of ethtool's family that reads a port's standard counters.

Numbers and layouts: linux/genetlink.h, linux/ethtool_netlink.h of the kernel's user interface, and
Documentation/networking/ethtool-netlink.rst (STATS_GET since Linux 5.13, FEC_GET with statistics likewise). Everything
is in the byte order of the machine. Input is validated: any bytes give a result or `BadNetlink`.
"""

import errno
import socket
import struct
from dataclasses import dataclass
from typing import Self

from hitless.service.netlink import (
    ACK,
    ERROR,
    REQUEST,
    BadNetlink,
    attribute,
    attributes,
    message,
    messages,
    refuse_error,
    text,
)

NETLINK_GENERIC = 16
TIMEOUT_S = 1.0

CONTROL_FAMILY, GET_FAMILY = 0x10, 3
FAMILY_ID, FAMILY_NAME = 1, 2

STATS_GET, STATS_REPLY = 32, 33
FEC_GET, FEC_REPLY = 29, 30
HEADER_NAME, HEADER_FLAGS, FLAG_STATS = 2, 3, 4
STATS_HEADER, STATS_GROUPS, STATS_GROUP = 2, 3, 4
BITSET_NO_MASK, BITSET_BITS, BITS_BIT, BIT_NAME = 1, 3, 1, 2
GROUP_ID, GROUP_STAT, GROUP_MAC = 2, 4, 1
MAC_FRAMES_RECEIVED_OK, MAC_FRAME_CHECK_SEQUENCE_ERRORS = 3, 6
FEC_HEADER, FEC_STATS, FEC_UNCORRECTABLE = 1, 5, 3

_GENERIC = struct.Struct("=BBH")


@dataclass(frozen=True, slots=True)
class MacStatistics:
    """The standard MAC counters of a port (IEEE 802.3, clause 30.3.1.1); None for counters that the driver lacks."""

    frames_received_ok: int | None = None
    frame_check_sequence_errors: int | None = None


def parse_family(body: bytes) -> int:
    found = dict(attributes(_after_generic(body)))
    if len(found.get(FAMILY_ID, b"")) != 2:
        raise BadNetlink("the kernel's answer has no number of a family")
    return int(struct.unpack("=H", found[FAMILY_ID])[0])


def parse_mac_statistics(body: bytes) -> MacStatistics:
    """Parse the counters in an answer to STATS_GET."""
    counted: dict[int, int] = {}
    for kind, group in attributes(_after_generic(body)):
        if kind != STATS_GROUP:
            continue
        parts = list(attributes(group))
        if (GROUP_ID, struct.pack("=I", GROUP_MAC)) not in parts:
            continue
        for part, payload in parts:
            if part == GROUP_STAT:
                counted.update({number: _u64(value) for number, value in attributes(payload)})
    return MacStatistics(counted.get(MAC_FRAMES_RECEIVED_OK), counted.get(MAC_FRAME_CHECK_SEQUENCE_ERRORS))


def parse_fec_uncorrectable(body: bytes) -> int | None:
    """Parse the uncorrectable blocks in an answer to FEC_GET: the total comes first, then the lanes."""
    for kind, payload in attributes(_after_generic(body)):
        if kind == FEC_STATS:
            for number, values in attributes(payload):
                if number == FEC_UNCORRECTABLE and len(values) >= 8:
                    return _u64(values[:8])
    return None


def _after_generic(body: bytes) -> bytes:
    if len(body) < _GENERIC.size:
        raise BadNetlink("an answer without its generic header")
    return body[_GENERIC.size :]


def _u64(payload: bytes) -> int:
    if len(payload) != 8:
        raise BadNetlink(f"a counter of {len(payload)} bytes")
    return int(struct.unpack("=Q", payload)[0])


def device(header: int, name: str, flags: int = 0) -> bytes:
    """Encode the header of ethtool's requests, which names the interface."""
    what = text(HEADER_NAME, name)
    if flags:
        what += attribute(HEADER_FLAGS, struct.pack("=I", flags))
    return attribute(header, what, nested=True)


def mac_statistics_request(name: str) -> bytes:
    """Encode the attributes of STATS_GET for the group of MAC counters."""
    bit = attribute(BITS_BIT, text(BIT_NAME, "eth-mac"), nested=True)
    groups = attribute(BITSET_NO_MASK, b"") + attribute(BITSET_BITS, bit, nested=True)
    return device(STATS_HEADER, name) + attribute(STATS_GROUPS, groups, nested=True)


class EthtoolNetlink:
    """A socket to ethtool's family of the kernel, as a context manager that opens and closes it. Raises OSError."""

    def __init__(self) -> None:
        self._sequence = 0
        self._family = 0

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_GENERIC)
        try:
            self._socket.settimeout(TIMEOUT_S)
            self._socket.bind((0, 0))
            name = text(FAMILY_NAME, "ethtool")
            self._family = parse_family(self._ask(CONTROL_FAMILY, GET_FAMILY, 1, name))
        except BaseException:
            self._socket.close()
            raise
        return self

    def __exit__(self, *_raised: object) -> None:
        self._socket.close()

    def mac_statistics(self, interface: str) -> MacStatistics:
        """Read FramesReceivedOK and FrameCheckSequenceErrors. Raises OSError or `BadNetlink`."""
        return parse_mac_statistics(self._ask(self._family, STATS_GET, 1, mac_statistics_request(interface)))

    def fec_uncorrectable(self, interface: str) -> int | None:
        """Read the uncorrectable blocks, or None if the counter is missing. Raises OSError or `BadNetlink`."""
        request = device(FEC_HEADER, interface, FLAG_STATS)
        try:
            return parse_fec_uncorrectable(self._ask(self._family, FEC_GET, 1, request))
        except BadNetlink as refused:
            if refused.number in {errno.EOPNOTSUPP, errno.ENOSYS}:
                return None
            raise

    def _ask(self, family: int, command: int, version: int, body: bytes) -> bytes:
        """Return the body of the only answer to a request, after its acknowledgement."""
        self._sequence += 1
        payload = _GENERIC.pack(command, version, 0) + body
        self._socket.send(message(family, REQUEST | ACK, payload, self._sequence))
        answer: bytes | None = None
        while True:
            for kind, sequence, content in messages(self._socket.recv(65_536)):
                if sequence != self._sequence:
                    continue
                if kind == ERROR:
                    refuse_error(content)
                    if answer is None:
                        raise BadNetlink("the kernel acknowledged and did not answer")
                    return answer
                if kind == family:
                    answer = content
