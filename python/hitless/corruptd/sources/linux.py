"""Linux interfaces: ethtool's standard statistics over netlink, or the files below /sys/class/net.

Software interfaces (veth, bridge, tunnel) lack a frame check sequence. Their files exist and always say 0, which would
look like a perfect link, so they are refused.
"""

import errno
from dataclasses import dataclass
from pathlib import Path

from hitless.corruptd.sources import NoReading
from hitless.corruptd.sources.netlink import EthtoolNetlink
from hitless.corruptd.window import Reading
from hitless.errors import reason
from hitless.service.netlink import BadNetlink

SYSFS = Path("/sys/class/net")
NETLINK, FILES = "netlink", "files"
_SILENT = {errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOENT}


class LinuxSource:
    """The counters of an interface: over netlink if its driver supports it, otherwise from files.

    The choice is permanent, because their counts start at different times.
    """

    def __init__(self, interface: str, *, count_fec: bool = False, sysfs: Path = SYSFS) -> None:
        self.interface = interface
        self._count_fec = count_fec
        self._files = SysfsSource(interface, sysfs)
        self._basis = ""

    def read(self) -> Reading:
        reading = (self._over_netlink() if self._basis != FILES else None) or self._from_files()
        self._basis = reading.basis
        return reading

    def _from_files(self) -> Reading:
        if self._basis == NETLINK:
            raise NoReading(f"{self.interface}: its driver no longer reports the same counters; SIGHUP starts over")
        if self._count_fec:
            raise NoReading(f"{self.interface}: its counters are only in files, where count_fec has no effect")
        return self._files.read()

    def _over_netlink(self) -> Reading | None:
        """Read over netlink; None if the kernel or the driver lacks these counters."""
        try:
            with EthtoolNetlink() as kernel:
                mac = kernel.mac_statistics(self.interface)
                blocks = kernel.fec_uncorrectable(self.interface)
        except BadNetlink as refused:
            if refused.number in _SILENT:
                return None
            raise NoReading(f"{self.interface}: {reason(refused)}") from refused
        except OSError as failed:
            if failed.errno in {errno.EPROTONOSUPPORT, errno.EAFNOSUPPORT, errno.EPERM}:
                return None
            raise NoReading(f"{self.interface}: {failed.strerror or failed}") from failed
        if mac.frames_received_ok is None or mac.frame_check_sequence_errors is None:
            return None
        if self._count_fec and blocks is None:
            raise NoReading(f"{self.interface}: count_fec is set, but its driver does not report uncorrectable blocks")
        bad = mac.frame_check_sequence_errors + ((blocks or 0) if self._count_fec else 0)
        return Reading(mac.frames_received_ok, bad, blocks, NETLINK)


@dataclass(frozen=True, slots=True)
class SysfsSource:
    """rx_packets and rx_crc_errors of an interface."""

    interface: str
    sysfs: Path = SYSFS

    def read(self) -> Reading:
        folder = self.sysfs / self.interface
        if not folder.exists():
            raise NoReading(f"there is no interface {self.interface}")
        if not (folder / "device").exists():
            raise NoReading(
                f"{self.interface} is a software interface: it has no frame check sequence and cannot count bad frames"
            )
        return Reading(self._number(folder, "rx_packets"), self._number(folder, "rx_crc_errors"), basis=FILES)

    def _number(self, folder: Path, name: str) -> int:
        try:
            return parse_number((folder / "statistics" / name).read_bytes())
        except OSError as failed:
            raise NoReading(f"{self.interface}: {name}: {failed.strerror}") from failed
        except ValueError as bad:
            raise NoReading(f"{self.interface}: {name}: {bad}") from bad


def parse_number(content: bytes) -> int:
    """Parse a counter. Raises ValueError for anything but decimal digits."""
    text = content.strip()
    if not text.isdigit() or len(text) > 20:
        raise ValueError(f"not a counter: {content[:40]!r}")
    return int(text)
