"""HPCC's configuration, such as `config.txt` and `SimAI.conf`: marking, buffers, DCQCN."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from hitless.errors import BadInput
from hitless.importing.lines import Line, lines_of, shown
from hitless.importing.model import Network, Settings, SwitchSettings, rate_text
from hitless.importing.report import Report, listed

_MAPS = ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")
_RATES = {"RATE_AI": "additive_increase", "RATE_HAI": "hyper_increase", "MIN_RATE": "minimum_rate"}
_TIMES = {
    "ALPHA_RESUME_INTERVAL": "alpha_timer",
    "RATE_DECREASE_INTERVAL": "decrease_interval",
    "RP_TIMER": "rate_timer",
}
"""In microseconds."""
_OTHERS = {
    "CC_MODE",
    "ENABLE_QCN",
    "BUFFER_SIZE",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "PACKET_PAYLOAD_SIZE",
    "L2_ACK_INTERVAL",
}
_OTHERS |= {"L2_BACK_TO_ZERO", "EWMA_GAIN", "FAST_RECOVERY_TIMES", "CLAMP_TARGET_RATE", "ERROR_RATE_PER_LINK"}
_MAPPED = {*_MAPS, *_RATES, *_TIMES, *_OTHERS}
KEYS = {*_MAPPED, "FLOW_FILE", "TOPOLOGY_FILE", "SIMULATOR_STOP_TIME", "DATA_RATE"}
"""Keys that identify the format."""
_DCQCN = 1
_BUFFER_MIB = 16
"""Their program's default."""
DYNAMIC_ALPHA = 0.125
"""Share of the free buffer that a queue can take: their switches divide it by 8."""
_MTU_MAX_BYTES = 9_216
PFC: Mapping[str, object] = {"response": "0 s", "xon_offset": "3 KiB"}
"""Their cards and switches obey pause frames at once, and a switch resumes 3 KiB below the threshold."""


@dataclass(frozen=True)
class Config:
    file: str
    lines: dict[str, Line]
    """Lines by key; the key is the first word."""

    def whole(self, key: str, default: int, maximum: int = 10**9) -> int:
        return line.whole(line.words[1], key, 0, maximum) if (line := self.lines.get(key)) else default

    def by_rate(self, key: str) -> dict[int, Decimal]:
        """Return a map: a count, then rates in bits per second with values. Raises `BadInput`."""
        if (line := self.lines.get(key)) is None:
            return {}
        rule = f"{key} COUNT RATE VALUE ..., rates in bits per second"
        words = line.words[2:]
        if len(words) != 2 * line.whole(line.words[1], "the count", 0, 1000):
            raise line.refused(f"{len(words)} values do not make {shown(line.words[1])} pairs", rule)
        rates = [line.whole(word, "a rate", 1) for word in words[::2]]
        return dict(zip(rates, (line.number_of(word, "a value", 10**9) for word in words[1::2]), strict=True))


def read_config(text: str, file: str) -> Config:
    found: dict[str, Line] = {}
    for line in lines_of(text, file):
        key = line.words[0]
        if not key.isupper() or len(line.words) < 2:
            raise line.refused(f"{shown(' '.join(line.words))} is not understood", "KEY VALUE, the key in upper case")
        if key in found:
            raise line.refused(f"{key} is given twice", f"once; the first is in line {found[key].number}")
        found[key] = line
    config = Config(file, found)
    _check(config)
    return config


def _check(config: Config) -> None:
    kmin, kmax, pmax = map(config.by_rate, _MAPS)
    if not kmin.keys() == kmax.keys() == pmax.keys():
        raise BadInput(
            "the maps have different rates", where=config.file, rule=f"{', '.join(_MAPS)} for the same rates"
        )
    for rate in kmin:
        if not 0 < kmin[rate] <= kmax[rate] or pmax[rate] > 1:
            what = f"{rate_text(rate)}: Kmin {kmin[rate]}, Kmax {kmax[rate]}, Pmax {pmax[rate]}"
            raise config.lines["KMIN_MAP"].refused(what, "0 < Kmin <= Kmax, both in KB, and Pmax at most 1")


def with_losses(network: Network, config: Config, report: Report) -> Network:
    """Return the network with ERROR_RATE_PER_LINK on links without an error_rate. Raises `BadInput`."""
    line = config.lines.get("ERROR_RATE_PER_LINK")
    rate = line.number_of(line.words[1], "the rate", 1) if line else Decimal(0)
    if not rate:
        return network
    if network.shape is not None:
        report.not_mapped.append(f"{config.file}: ERROR_RATE_PER_LINK {rate}: only for links of a graph")
        return network
    report.mapped.append(f"{config.file}: ERROR_RATE_PER_LINK {rate} as loss of links without an error_rate")
    links = [replace(link, loss=link.loss or rate) for link in network.links]
    return replace(network, links=links)


def switch_of(config: Config, network: Network, report: Report) -> SwitchSettings:
    """Convert marking and buffer, for the rates of the network. Raises `BadInput`."""
    rates = sorted({link.rate_bps for link in network.links})
    by_rate = {rate: _marking(config, rate, report) for rate in rates}
    if "KMIN_MAP" in config.lines:
        report.mapped.append(f"{config.file}: {', '.join(_MAPS)} as marking by rate")
    else:
        report.assumed.append(f"{config.file}: marking as in HPCC's run.py, since {_MAPS[0]} is missing")
    megabytes = config.whole("BUFFER_SIZE", _BUFFER_MIB, 10**6) or _BUFFER_MIB
    report.mapped.append(f"{config.file}: BUFFER_SIZE {megabytes} as MiB of a shared buffer, alpha = {DYNAMIC_ALPHA:g}")
    if not config.whole("USE_DYNAMIC_PFC_THRESHOLD", 1):
        told = "thresholds stay dynamic, because HPCC's switches ignore this key"
        report.not_mapped.append(f"{config.file}: USE_DYNAMIC_PFC_THRESHOLD 0: {told}")
    usual = by_rate.pop(rates[-1])
    buffer: Settings = {"kind": "shared", "total": f"{megabytes} MiB", "alpha": DYNAMIC_ALPHA}
    return SwitchSettings(buffer, usual, by_rate, "ideal", PFC)


def _marking(config: Config, rate_bps: int, report: Report) -> Settings:
    kmin, kmax, pmax = map(config.by_rate, _MAPS)
    if not kmin:
        return marking_at(rate_bps)
    near = min(kmin, key=lambda known: (abs(known - rate_bps), known))
    if near != rate_bps:
        report.assumed.append(
            f"{config.file}: marks at {rate_text(rate_bps)} as at {rate_text(near)}, the nearest rate"
        )
    low, high = round(kmin[near] * 1000), round(kmax[near] * 1000)
    if low == high:
        return {"threshold": f"{low} B"}
    return {"threshold": f"{low} B", "maximum": f"{high} B", "probability": float(pmax[near])}


def marking_at(rate_bps: int) -> Settings:
    """Return the marking of HPCC's run.py: 20 % from 100 to 400 KB per 25 Gb/s."""
    low, high = (max(1_000, round(each * rate_bps / 25e9)) for each in (100_000, 400_000))
    return {"threshold": f"{low} B", "maximum": f"{high} B", "probability": 0.2}


def transport_of(config: Config, network: Network, report: Report) -> dict[str, object]:
    """Convert the transport into fields of RoCE. Raises `BadInput`."""
    mtu = config.whole("PACKET_PAYLOAD_SIZE", 1000)
    if not 1 <= mtu <= _MTU_MAX_BYTES:
        rule = f"a payload from 1 to {_MTU_MAX_BYTES} B"
        raise config.lines["PACKET_PAYLOAD_SIZE"].refused(f"PACKET_PAYLOAD_SIZE is {mtu}", rule)
    every = -(-max(1, config.whole("L2_ACK_INTERVAL", 1)) // mtu)
    fields: dict[str, object] = {"mtu": f"{mtu} B", "acknowledge_every": every}
    mapped = ["PACKET_PAYLOAD_SIZE", "L2_ACK_INTERVAL"]
    mode, is_on = config.whole("CC_MODE", _DCQCN), config.whole("ENABLE_QCN", 1)
    if is_on and mode == _DCQCN:
        fields["dcqcn"] = _dcqcn(config, network)
        mapped += ["CC_MODE", "DCQCN's parameters"]
    elif is_on:
        report.not_mapped.append(
            f"{config.file}: CC_MODE {mode}: only 1 (DCQCN) has a counterpart; flows send at line rate"
        )
    if config.whole("L2_BACK_TO_ZERO", 0):
        report.not_mapped.append(f"{config.file}: L2_BACK_TO_ZERO: no sender goes back to the start of a message")
    report.mapped.append(f"{config.file}: {', '.join(mapped)} as RoCE")
    return fields


def _dcqcn(config: Config, network: Network) -> dict[str, object]:
    found: dict[str, object] = {"preset": "vendor"}
    for key, name in _TIMES.items():
        if line := config.lines.get(key):
            found[name] = f"{line.number_of(line.words[1], key, 10**9).normalize():f} us"
    for key, name in _RATES.items():
        if line := config.lines.get(key):
            found[name] = rate_text(line.rate_bps(line.words[1], key))
    if line := config.lines.get("EWMA_GAIN"):
        found["g"] = float(line.number_of(line.words[1], "EWMA_GAIN", 1))
    if "FAST_RECOVERY_TIMES" in config.lines:
        found["fast_recovery_steps"] = config.whole("FAST_RECOVERY_TIMES", 1)
    if "CLAMP_TARGET_RATE" in config.lines:
        found["clamp_target"] = config.whole("CLAMP_TARGET_RATE", 0) > 0
    # The preset scales steps of 25 Gb/s; the file has them for its own hosts.
    return {**found, "increase_line_rate": rate_text(network.host_bps)}


def report_unread(config: Config, report: Report) -> None:
    """Report keys without a counterpart, apart from files and settings of output."""
    unread = {key: line.words[1:] for key, line in config.lines.items() if key not in _MAPPED}
    output = [
        key
        for key in unread
        if key.endswith("_FILE") or "MON_" in key or key in {"ENABLE_TRACE", "NIC_TOTAL_PAUSE_TIME"}
    ]
    if output:
        report.not_mapped.append(f"{config.file}: files and output: {listed(sorted(output))}")
    if others := [f"{key} {' '.join(values)}" for key, values in unread.items() if key not in output]:
        report.not_mapped.append(f"{config.file}: {listed(others)}")
