"""A scenario file from an imported network, its flows and its switches."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal

from hitless.importing.flow_control import settled, size_bytes
from hitless.importing.hpcc_config import DYNAMIC_ALPHA, PFC, marking_at
from hitless.importing.model import Flow, Network, Settings, SwitchSettings, duration_text, rate_text
from hitless.importing.report import Report

TransportKind = Literal["uet", "roce", "tcp"]
Fields = Mapping[str, object]

# Ultra Ethernet's htsim: frames, trimmed frames, marking from 20 to 80 % of a bandwidth-delay product.
_UET_FRAME_BYTES, _UET_SHORT_BYTES = 4_150, 64
# HPCC's run.py: buffer per 50 Gb/s, payload of a packet.
_HPCC_BUFFER_BYTES = 16_000_000
_ROCE_MTU_BYTES, _ROCE_WINDOW = 1_000, 512
_TCP_FRAME_BYTES, _ACK_BYTES = 1_518, 70
_DURATION_MAX_S = 10_000_000
"""The simulator counts picoseconds in 64 bits: 213 days."""


@dataclass(frozen=True)
class Parts:
    name: str
    sources: list[str]
    """Descriptions of the imported files."""
    network: Network
    flows: list[Flow]
    """Empty: no file has flows."""
    switch: SwitchSettings | None
    transport: TransportKind
    flows_file: str
    roce: Fields
    """Fields of RoCE from a file; empty: assumed ones."""


def written(parts: Parts, report: Report) -> tuple[str, str | None]:
    """Return the scenario, and its list of flows if it has one; adds the assumptions to the report."""
    switch, mechanism = _switch(parts, report)
    does = {"trimming": bool(mechanism), "marking": any("ecn" in line for line in switch)}
    does["flow control"] = any(line.startswith("pfc") for line in switch)
    transport = _transport(parts, report, does)
    flows, flows_text = _flows(parts, report)
    body = [
        f"name = {_value(parts.name)}",
        'until = "all-flows-done"',
        f"duration = {_value(_duration(parts))}          # at the latest",
        "",
        *_topology(parts.network),
        "",
        *switch,
        "",
        *transport,
        "",
        *flows,
        *mechanism,
        *_losses(parts.network),
    ]
    head = ["Imported by `hitless scenario import` from:", *(f"  {source}" for source in parts.sources)]
    for heading, sentences in report.sections()[1:]:
        head += [f"{heading.capitalize()}:", *(f"  {sentence}" for sentence in sentences or ["-"])]
    comments = [f"# {_printable(line)}" for line in head]
    return "\n".join([*comments, "", *body]) + "\n", flows_text


def _printable(text: str) -> str:
    """Return a text without characters that a comment in TOML cannot have."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{_printable(escaped)}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)


def _table(header: str, fields: Fields) -> list[str]:
    return [header, *(f"{name} = {_value(value)}" for name, value in fields.items())]


def _link_fields(rate_bps: int, delay_ps: int) -> dict[str, object]:
    # These simulators count neither preamble nor gap.
    return {"rate": rate_text(rate_bps), "delay": duration_text(delay_ps), "overhead_bytes": 0}


def _topology(network: Network) -> list[str]:
    if network.shape is not None:
        links = {"host_link": network.shape.host_link, "core_link": network.shape.core_link}
        fields = {name: _link_fields(*link) for name, link in links.items()}
        return _table("[topology]", {**network.shape.fields, **fields})
    lines = [
        f"  {_value({'ends': list(link.ends), **_link_fields(link.rate_bps, link.delay_ps)})},"
        for link in network.links
    ]
    nodes = {"kind": "graph", "hosts": network.hosts, "switches": network.switches}
    return [*_table("[topology]", nodes), "links = [", *lines, "]"]


def _losses(network: Network) -> list[str]:
    lines: list[str] = []
    seen: dict[tuple[str, str], int] = {}
    for link in network.links if network.shape is None else ():
        nodes = (min(link.ends), max(link.ends))
        seen[nodes] = seen.get(nodes, 0) + 1
        if link.loss > 0:
            parallel = f"#{seen[nodes] - 1}" if seen[nodes] > 1 else ""
            loss = {"kind": "bernoulli", "rate": float(link.loss)}
            lines += ["", *_table("[[link]]", {"name": f"{link.ends[0]}<->{link.ends[1]}{parallel}", "loss": loss})]
    return lines


def _rates(network: Network) -> list[int]:
    return sorted({link.rate_bps for link in network.links})


def _switch(parts: Parts, report: Report) -> tuple[list[str], list[str]]:
    """Return `[switch]` and the mechanism of switches."""
    if parts.switch is None and parts.transport == "uet":
        return _trimming_switch(parts.network, report)
    if parts.switch is None:
        switch = _shared_switch(parts, report)
    else:
        switch = _with_buffer(parts.switch, parts.network, report)
    return _switch_lines(settled(switch, parts.network, _packet_bytes(parts), report), parts.network), []


def _packet_bytes(parts: Parts) -> int:
    """Return the length of the longest packets, without headers of RoCE."""
    given = str(parts.roce.get("mtu", f"{_ROCE_MTU_BYTES} B")).removesuffix(" B")
    return {"uet": _UET_FRAME_BYTES, "tcp": _TCP_FRAME_BYTES}.get(parts.transport, int(given))


def _latency(network: Network) -> dict[str, object]:
    latency_ps = network.switch_latency_ps
    return {"ingress_latency": duration_text(latency_ps)} if latency_ps else {}


def _trimming_switch(network: Network, report: Report) -> tuple[list[str], list[str]]:
    packets = network.window_packets(_UET_FRAME_BYTES, _UET_SHORT_BYTES)
    frame = _UET_FRAME_BYTES
    # A buffer of a single packet could neither mark nor hold the next one.
    packets = max(packets, 5)
    ecn = {"threshold": f"{ceil(0.2 * packets) * frame} B", "maximum": f"{ceil(0.8 * packets) * frame} B"}
    buffer = {"kind": "static", "per_port": f"{packets * frame} B"}
    fields = {"preset": "ideal", **_latency(network), "buffer": buffer}
    fields["ecn"] = {**ecn, "probability": 1.0, "at": "dequeue"}
    report.assumed.append(
        f"switches as in htsim_uec: a buffer of {packets} packets, the bandwidth-delay product, at each port; marks at "
        "dequeue from 20 to 80 % of it; trimming"
    )
    trimming = {"kind": "trimming", "trimmed_frame": f"{_UET_SHORT_BYTES} B", "queue": f"{2 * packets * frame} B"}
    return _table("[switch]", fields), ["", *_table("[[mechanism]]", trimming)]


def _shared_switch(parts: Parts, report: Report) -> SwitchSettings:
    rates = _rates(parts.network)
    total = max(1_000_000, round(_HPCC_BUFFER_BYTES * rates[-1] / 50e9))
    report.assumed.append(
        f"switches as in HPCC's run.py: {total:,} B of shared buffer, a queue of at most 1/8 of its free part, "
        "marks with up to 20 % from 100 to 400 KB per 25 Gb/s"
    )
    buffer: Settings = {"kind": "shared", "total": f"{total} B", "alpha": DYNAMIC_ALPHA}
    by_rate = {rate: marking_at(rate) for rate in rates}
    pfc = PFC if parts.transport == "roce" else None
    return SwitchSettings(buffer, by_rate.pop(rates[-1]), by_rate, "ideal", pfc)


def _with_buffer(switch: SwitchSettings, network: Network, report: Report) -> SwitchSettings:
    report.assumed.append(f"latencies of switches: those of the preset {switch.preset}")
    if switch.buffer is not None:
        return switch
    marks = [ecn for ecn in (switch.ecn, *switch.ecn_by_rate.values()) if ecn is not None]
    threshold_bytes = max((size_bytes(ecn.get("maximum", ecn["threshold"])) for ecn in marks), default=0)
    product_bytes = network.window_packets(_TCP_FRAME_BYTES, _ACK_BYTES) * _TCP_FRAME_BYTES
    port_bytes = max(4 * product_bytes, 2 * threshold_bytes)
    report.assumed.append(
        f"buffers of {port_bytes:,} B at each port: four bandwidth-delay products, at least twice the length at which "
        "all packets are marked"
    )
    return replace(switch, buffer={"kind": "static", "per_port": f"{port_bytes} B"})


def _switch_lines(switch: SwitchSettings, network: Network) -> list[str]:
    optional = {"ecn": switch.ecn, "pfc": switch.pfc}
    fields = {"preset": switch.preset, **_latency(network), "buffer": switch.buffer}
    lines = _table("[switch]", {**fields, **{name: value for name, value in optional.items() if value is not None}})
    for rate in sorted(switch.ecn_by_rate.keys() & set(_rates(network))):
        lines += ["", *_table("[[switch.ports]]", {"rate": rate_text(rate), "ecn": switch.ecn_by_rate[rate]})]
    return lines


def _transport(parts: Parts, report: Report, does: Mapping[str, bool]) -> list[str]:
    """Return the transport; ``does`` has the functions of the switches."""
    is_marking = does["marking"]
    fields: dict[str, object] = {"name": parts.transport, "kind": parts.transport}
    if parts.transport == "uet":
        told = "spraying connections with NSCC over 64 paths"
        if not does["trimming"]:
            fields["sack_recovery"] = True
            told += "; losses are found by selective acknowledgements, since the switches do not trim"
    elif parts.transport == "roce":
        packets = 2 * parts.network.window_packets(_ROCE_MTU_BYTES, _ACK_BYTES)
        fields |= {"mtu": f"{_ROCE_MTU_BYTES} B", "window": max(packets, _ROCE_WINDOW)}
        fields["recovery"] = "go-back-n" if does["flow control"] else "selective-repeat"
        told = "RoCE with go-back-N" if does["flow control"] else "RoCE with selective repeat"
        if parts.roce:
            fields |= parts.roce
        else:
            fields |= {"dcqcn": "vendor"} if is_marking else {}
            told += ", packets of 1,000 B as in HPCC"
            told += ", DCQCN with the parameters of cards" if is_marking else ""
    else:
        fields |= {"congestion": "dctcp"} if is_marking else {}
        told = "TCP with DCTCP" if is_marking else "TCP with CUBIC"
    report.assumed.append(f"transport: {told} (--transport chooses another)")
    return _table("[[transport]]", fields)


def _flows(parts: Parts, report: Report) -> tuple[list[str], str | None]:
    fields: dict[str, object] = {"name": "flows", "kind": "list", "transport": parts.transport}
    if not parts.flows:
        size = 10 * parts.network.window_packets(_UET_FRAME_BYTES, _UET_SHORT_BYTES) * _UET_FRAME_BYTES
        report.assumed.append(f"no file has flows: a random permutation of {size:,} B, ten bandwidth-delay products")
        return _table("[[flows]]", {**fields, "kind": "permutation", "size": f"{size} B"}), None
    if any(flow.after for flow in parts.flows):
        fields["kind"] = "dependency-list"
    lines = ["# source destination size start_ns", *(flow.line for flow in parts.flows)]
    return _table("[[flows]]", {**fields, "file": parts.flows_file}), "\n".join(lines) + "\n"


def _duration(parts: Parts) -> str:
    """Return a time limit beyond any sensible run: ten times the time of all flows in turn, and a second."""
    total_bytes = sum(flow.size_bytes for flow in parts.flows) or len(parts.network.hosts) * 10**6
    slowest_bps = min(link.rate_bps for link in parts.network.links)
    turns = len(parts.flows) if any(flow.after for flow in parts.flows) else 1
    waits_ps = turns * parts.network.round_trip_ps(_UET_FRAME_BYTES, _ACK_BYTES)
    starts_ns = [flow.start_ns for flow in parts.flows]
    last_ns = sum(starts_ns) if turns > 1 else max(starts_ns, default=0)
    seconds = last_ns / 1e9 + 10 * (8 * total_bytes / slowest_bps + waits_ps / 1e12) + 1
    return f"{min(ceil(seconds), _DURATION_MAX_S)} s"
