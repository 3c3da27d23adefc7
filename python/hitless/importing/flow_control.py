"""`[switch.pfc]` of an imported scenario, and the memory that it needs."""

from dataclasses import replace
from math import ceil

from hitless.importing.hpcc_config import PFC
from hitless.importing.model import Network, Settings, SwitchSettings
from hitless.importing.report import Report

_HEADER_BYTES_MAX = 100
_RESPONSE_BYTES_MAX = 905 * 64
"""IEEE 802.3, clause 31B.3.7, for the fastest rates."""
_LATENCIES_PS = {"ideal": 0, "tofino-like": 580_000}
"""The PHY, and half of the pipelines of both ends."""
_UNITS = {"B": 1, "MiB": 1 << 20}


def settled(switch: SwitchSettings, network: Network, packet_bytes: int, report: Report) -> SwitchSettings:
    """Return switches with room for the headroom, or without flow control if the simulator refuses it."""
    assert switch.buffer is not None
    if switch.pfc is None:
        return switch
    if network.host_ports > 1:
        report.not_mapped.append(
            f"PFC: hosts with {network.host_ports} links do not obey pause frames, so full queues drop packets"
        )
        return replace(switch, pfc=None)
    frame_bytes = packet_bytes + _HEADER_BYTES_MAX
    headroom_bytes = _headroom_bytes(switch, network, frame_bytes)
    if switch.has_headroom_apart:
        return replace(switch, buffer=_with_headroom(switch.buffer, headroom_bytes, network, report))
    total_bytes, needed_bytes = size_bytes(switch.buffer["total"]), network.switch_ports * headroom_bytes + frame_bytes
    if needed_bytes > total_bytes:
        report.not_mapped.append(
            f"PFC: {network.switch_ports} ports with a headroom of {headroom_bytes:,} B need {needed_bytes:,} B, and "
            f"the buffer has {total_bytes:,} B; full queues drop packets"
        )
        return replace(switch, pfc=None)
    if switch.pfc == PFC:
        report.mapped.append("PFC of HPCC's switches: pauses at the buffer's alpha, obeyed at once, end 3 KiB below")
        is_faster = any(link.rate_bps > network.host_bps for link in network.links)
        report.not_mapped.append(
            "PFC of HPCC's switches: 4 KiB reserved for each queue, a headroom of three times rate and delay (here "
            f"derived){', higher thresholds at ports faster than hosts' if is_faster else ''}"
        )
    return switch


def _with_headroom(buffer: Settings, headroom_bytes: int, network: Network, report: Report) -> Settings:
    """Return a buffer that holds the headroom of its ports in addition."""
    field, ports = ("total", network.switch_ports) if buffer["kind"] == "shared" else ("per_port", 1)
    found_bytes = size_bytes(buffer[field])
    report.assumed.append(
        f"{field} of the buffer: {found_bytes:,} B, and a headroom of {headroom_bytes:,} B for each of {ports} ports"
    )
    return {**buffer, field: f"{found_bytes + ports * headroom_bytes} B"}


def _headroom_bytes(switch: SwitchSettings, network: Network, frame_bytes: int) -> int:
    """Return the headroom of a port: as given, or an upper bound of the derived one."""
    pfc = switch.pfc or {}
    if "headroom" in pfc:
        return size_bytes(pfc["headroom"])
    latency_ps = _LATENCIES_PS[switch.preset]
    flight_bytes = max(2 * link.rate_bps * (link.delay_ps + latency_ps) / 8e12 for link in network.links)
    response_bytes = 0 if "response" in pfc else _RESPONSE_BYTES_MAX
    # Three frames, and a fourth for pause frames; then rounded up to 1 KiB.
    return ceil((4 * frame_bytes + flight_bytes + response_bytes) / 1_024) * 1_024


def size_bytes(size: object) -> int:
    """Return a size of a scenario in bytes."""
    number, unit = str(size).split()
    return int(number) * _UNITS[unit]
