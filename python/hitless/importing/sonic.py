"""SONiC's `config_db.json`: buffers, marking and flow control of a switch.

Names and meaning of the keys follow SONiC's schema of CONFIG_DB.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from hitless.errors import BadInput
from hitless.importing.lines import shown
from hitless.importing.model import Link, Network, Settings, SwitchSettings
from hitless.importing.report import Report, counted, listed

Entry = dict[str, str]

_FIELDS: dict[str, set[str]] = {
    "PORT": {"speed", "admin_status"},
    "CABLE_LENGTH": set(),
    "BUFFER_POOL": {"size", "mode", "type"},
    "BUFFER_PROFILE": {"pool", "dynamic_th", "static_th", "size", "xon", "xon_offset", "xoff"},
    "BUFFER_PG": {"profile"},
    "BUFFER_QUEUE": {"profile"},
    "QUEUE": {"wred_profile", "scheduler"},
    "WRED_PROFILE": set(),
    "PORT_QOS_MAP": {"pfc_enable"},
    "PFC_WD": {"action", "detection_time", "restoration_time"},
}
"""The tables that are read, with the fields that are mapped or reported one by one; an empty set: all fields."""
_LOSSLESS_FIELDS = {"headroom": "xoff", "xon_offset": "xon_offset", "xoff": "static_th"}
"""Fields of `[switch.pfc]`, with fields of a priority group's profile."""
_METRES_PER_SECOND = 198_000_000
"""Speed of light in fibre, as in SONiC's headroom formula."""
_QUEUES_MAX = 63
_WHOLE = re.compile(r"[0-9]{1,15}")
_SIGNED = re.compile(r"-?[0-9]{1,2}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Config:
    file: str
    tables: dict[str, dict[str, Entry]]

    def entries(self, table: str) -> dict[str, Entry]:
        return self.tables.get(table, {})

    def refused(self, table: str, key: str, what: str, rule: str, hint: str = "") -> BadInput:
        return BadInput(what, where=f"{self.file}, {table}|{key}", rule=rule, hint=hint)

    def whole(self, table: str, key: str, name: str, maximum: int = 10**15) -> int:
        text = self.entries(table)[key].get(name, "")
        if not _WHOLE.fullmatch(text) or int(text) > maximum:
            rule = f"a whole number from 0 to {maximum:,}"
            raise self.refused(table, key, f"{name} is {shown(text)}" if text else f"{name} is missing", rule)
        return int(text)


def read_config(text: str, file: str) -> Config:
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as failed:
        where = f"{file}, line {failed.lineno}, column {failed.colno}"
        raise BadInput(f"not valid JSON: {failed.msg}", where=where) from failed
    except (RecursionError, ValueError) as failed:
        raise BadInput("not valid JSON: nested too deeply, or a number with too many digits", where=file) from failed
    if not isinstance(document, dict):
        raise BadInput("not a configuration", where=file, rule="config_db.json is an object of tables")
    tables = {table: _entries(file, table, document[table]) for table in _FIELDS.keys() & document.keys()}
    return Config(file, {**tables, **{table: {} for table in document.keys() - _FIELDS.keys()}})


def _entries(file: str, table: str, found: object) -> dict[str, Entry]:
    if not isinstance(found, dict) or not all(isinstance(entry, dict) for entry in found.values()):
        raise BadInput(f"{table} is not understood", where=file, rule="a table has an object for each key")
    scalars = (str, int, float)
    return {
        key: {name: str(value) for name, value in entry.items() if isinstance(value, scalars)}
        for key, entry in found.items()
    }


def _ports(config: Config) -> dict[str, int]:
    """Return the rates of the ports that are not down, by name."""
    up = [key for key, port in config.entries("PORT").items() if port.get("admin_status") != "down"]
    rates = {key: config.whole("PORT", key, "speed", 10**7) * 10**6 for key in up}
    if slow := [key for key, rate in rates.items() if rate == 0]:
        raise config.refused("PORT", slow[0], "speed is 0", "a speed in Mb/s above 0")
    return rates


def network_of(config: Config, report: Report) -> Network:
    """Convert the ports into a network: one switch, and a host at each port that is not down. Raises `BadInput`."""
    rates = _ports(config)
    if len(rates) < 2:
        rule = "two ports of PORT are not down, or another file has the topology"
        raise BadInput(f"{len(rates)} ports are up", where=f"{config.file}, PORT", rule=rule)
    cables = {port: length for lengths in config.entries("CABLE_LENGTH").values() for port, length in lengths.items()}
    links = [
        Link((_host_name(config, port), "switch"), rate, _delay_ps(config, port, cables))
        for port, rate in rates.items()
    ]
    report.mapped.append(f"{config.file}, PORT: a host named after each of {len(links)} ports, on one switch")
    down = sorted(config.entries("PORT").keys() - rates.keys())
    if down:
        report.not_mapped.append(
            f"{config.file}, PORT: {counted(len(down), 'port')} with admin_status down: {listed(down)}"
        )
    if cables:
        report.mapped.append(
            f"{config.file}, CABLE_LENGTH: delays of links, 1 m in {10**9 / _METRES_PER_SECOND:.2f} ns"
        )
    if bare := [port for port in rates if port not in cables]:
        report.assumed.append(f"{config.file}: cables of 5 m at {len(bare)} ports without CABLE_LENGTH")
    slowest = sorted(links, key=lambda link: (link.delay_ps, -link.rate_bps))[-2:]
    return Network([link.ends[0] for link in links], ["switch"], links, slowest)


def _host_name(config: Config, port: str) -> str:
    name = port.replace("-", "_")
    if not _NAME.fullmatch(name) or name == "switch":
        raise config.refused("PORT", port, f"{shown(port)} is not the name of a host", "letters, digits, - and _")
    return name


def _delay_ps(config: Config, port: str, cables: Mapping[str, str]) -> int:
    length = cables.get(port, "5m")
    if not re.fullmatch(r"[0-9]{1,6}m", length):
        raise config.refused("CABLE_LENGTH", port, f"the length is {shown(length)}", 'metres, as "40m"')
    return int(length[:-1]) * 10**12 // _METRES_PER_SECOND


def switch_of(config: Config, report: Report) -> SwitchSettings:
    """Convert a queue's buffers and marking into settings of switches. Raises `BadInput`."""
    rates = _ports(config)
    marking = dict(_by_queue(config, "QUEUE", "wred_profile"))
    queue = _chosen_queue(config, marking, report)
    ecn, by_rate = _marking(config, {port: name for (port, q), name in marking.items() if q == queue}, rates, report)
    buffer = _buffer(config, queue, report)
    _report_other_queues(config, marking, queue, report)
    pfc = _flow_control(config, queue, report)
    _report_unread(config, report)
    return SwitchSettings(buffer, ecn, by_rate, pfc=pfc, has_headroom_apart=True)


def _name_of(reference: str) -> str:
    """Return the key of a referenced entry: ``name``, or ``[TABLE|name]`` in older files."""
    return reference.strip("[]").rpartition("|")[2]


def _by_queue(config: Config, table: str, field: str) -> Iterator[tuple[tuple[str, int], str]]:
    """Return ports and queues with the name that ``field`` refers to. Keys are "Ethernet0,Ethernet4|3-4"."""
    for key, entry in config.entries(table).items():
        ports, _, queues = key.rpartition("|")
        first, _, last = queues.partition("-")
        bounds = [first, last or first]
        if not ports or not all(re.fullmatch("[0-9]{1,2}", bound) and int(bound) <= _QUEUES_MAX for bound in bounds):
            rule = f'"PORTS|QUEUE" or "PORTS|FIRST-LAST", queues from 0 to {_QUEUES_MAX}'
            raise config.refused(table, key, f"the key {shown(key)} is not understood", rule)
        if field in entry:
            for port in ports.split(","):
                for queue in range(int(bounds[0]), int(bounds[1]) + 1):
                    yield (port, queue), _name_of(entry[field])


def _chosen_queue(config: Config, marking: Mapping[tuple[str, int], str], report: Report) -> int:
    """Return the queue that scenarios get: the first with a WRED profile, else the first with a buffer profile."""
    for table, queues in (("QUEUE", marking), ("BUFFER_QUEUE", dict(_by_queue(config, "BUFFER_QUEUE", "profile")))):
        if queues:
            queue = min(queue for _, queue in queues)
            kind = "WRED" if table == "QUEUE" else "buffer"
            report.assumed.append(f"{config.file}: all flows use queue {queue}, the first with a {kind} profile")
            return queue
    raise BadInput(
        "no queue has a buffer profile or a WRED profile", where=config.file, rule="BUFFER_QUEUE or QUEUE names one"
    )


def _marking(
    config: Config, profiles: Mapping[str, str], rates: Mapping[str, int], report: Report
) -> tuple[Settings | None, dict[int, Settings]]:
    """Return the marking of most ports, and exceptions by rate."""
    found = {name: _ecn(config, name, report) for name in sorted(set(profiles.values()))}
    if not found:
        report.not_mapped.append(f"{config.file}, QUEUE: no WRED profile, so switches do not mark")
        return None, {}
    usual = Counter(profiles.values()).most_common(1)[0][0]
    by_rate: dict[int, Settings] = {}
    for rate in sorted(set(rates.values())):
        names = Counter(profiles[port] for port in rates if rates[port] == rate and port in profiles)
        if not names:
            continue
        name = names.most_common(1)[0][0]
        ecn = found[name]
        if name != usual and ecn is not None:
            by_rate[rate] = ecn
        for port in rates:
            if rates[port] == rate and profiles.get(port, name) != name:
                report.not_mapped.append(
                    f"{config.file}, QUEUE|{port}: WRED profile {profiles[port]}; the port gets {name}"
                )
    return found[usual], by_rate


def _ecn(config: Config, name: str, report: Report) -> Settings | None:
    table = "WRED_PROFILE"
    if name not in config.entries(table):
        raise config.refused(table, name, "the profile does not exist", "QUEUE names a key of WRED_PROFILE")
    profile, place = config.entries(table)[name], f"{config.file}, {table}|{name}"
    others = sorted(key for key in profile if key.startswith(("yellow", "red", "wred_yellow", "wred_red")))
    if others:
        report.not_mapped.append(f"{place}: {', '.join(others)} (packets have no colour)")
    mode = profile.get("ecn", "ecn_none")
    if mode != "ecn_all" and "green" not in mode:
        report.not_mapped.append(
            f"{place}: ecn is {mode}: random drops of WRED have no counterpart, so nothing is marked"
        )
        return None
    if profile.get("wred_green_enable") == "true":
        report.not_mapped.append(f"{place}: wred_green_enable: packets without ECN are not dropped at random")
    low, high = (config.whole(table, name, f"green_{end}_threshold") for end in ("min", "max"))
    percent = config.whole(table, name, "green_drop_probability", 100)
    if not 0 < low <= high:
        rule = "0 < green_min_threshold <= green_max_threshold"
        raise config.refused(table, name, f"green thresholds are {low} and {high}", rule)
    report.mapped.append(f"{place}: marks from {low:,} B on, up to {percent} % at {high:,} B, all packets beyond")
    if low == high:
        return {"threshold": f"{low} B"}
    return {"threshold": f"{low} B", "maximum": f"{high} B", "probability": percent / 100}


def _buffer(config: Config, queue: int, report: Report) -> Settings | None:
    """Return the buffer by a queue's profiles; ``None`` if the file lacks the size of the pool."""
    egress = [name for (_, number), name in _by_queue(config, "BUFFER_QUEUE", "profile") if number == queue]
    ingress = [name for (_, number), name in _by_queue(config, "BUFFER_PG", "profile") if number == queue]
    for names, side in ((egress, "BUFFER_QUEUE"), (ingress, "BUFFER_PG")):
        rarer = sorted(set(names) - {_usual(names), "NULL"})
        if rarer:
            report.not_mapped.append(
                f"{config.file}, {side}: profiles {listed(rarer)} of some ports; all get {_usual(names)}"
            )
    found = _limit(config, _usual(egress), report) or {}
    if "alpha" in found or not ingress:
        return _whole_buffer(config, found, report)
    within = _limit(config, _usual(ingress), report) or {}
    if "alpha" not in within:
        return _whole_buffer(config, found, report)
    report.assumed.append(
        f"{config.file}: the profile of BUFFER_QUEUE has no dynamic_th, so the profile of BUFFER_PG limits the queue"
    )
    return _whole_buffer(config, {**_below(within, found), **within}, report)


def _below(within: Settings, fixed: Settings) -> Settings:
    """Return the fixed length as the maximum of a queue, if it is below the size of the buffer."""
    length, total = (int(str(limit).removesuffix(" B")) for limit in (fixed.get("per_port", 0), within.get("total", 0)))
    return {"queue_max": f"{length} B"} if 0 < length < total else {}


def _usual(names: list[str]) -> str:
    return Counter(name for name in names if name != "NULL").most_common(1)[0][0] if set(names) - {"NULL"} else ""


def _limit(config: Config, name: str, report: Report) -> Settings | None:
    """Return the limit of a buffer profile: alpha and the pool's size, or a fixed length."""
    if not name:
        return None
    table, place = "BUFFER_PROFILE", f"{config.file}, BUFFER_PROFILE|{name}"
    if name not in config.entries(table):
        raise config.refused(table, name, "the profile does not exist", "BUFFER_QUEUE and BUFFER_PG name its keys")
    profile = config.entries(table)[name]
    if "dynamic_th" not in profile:
        if "static_th" not in profile:
            return None
        report.mapped.append(f"{place}: static_th {profile['static_th']} B")
        return {"kind": "static", "per_port": f"{config.whole(table, name, 'static_th')} B"}
    exponent = profile["dynamic_th"]
    if not _SIGNED.fullmatch(exponent) or not -9 <= int(exponent) <= 10:
        raise config.refused(
            table, name, f"dynamic_th is {shown(exponent)}", "a whole number from -9 to 10: alpha = 2^dynamic_th"
        )
    alpha = 2.0 ** int(exponent)
    pool = _name_of(profile.get("pool", ""))
    if "size" not in config.entries("BUFFER_POOL").get(pool, {}):
        report.not_mapped.append(f"{config.file}, BUFFER_POOL|{pool}: no size (the switch computes it: APPL_DB has it)")
        return {"alpha": alpha}
    report.mapped.append(f"{place}: dynamic_th {exponent}, alpha = {alpha:g}")
    size = config.whole("BUFFER_POOL", pool, "size")
    report.mapped.append(f"{config.file}, BUFFER_POOL|{pool}: {size:,} B shared by all ports")
    return {"kind": "shared", "total": f"{size} B", "alpha": alpha}


def _whole_buffer(config: Config, found: Settings, report: Report) -> Settings | None:
    if found.get("kind") in {"shared", "static"}:
        return found
    report.not_mapped.append(f"{config.file}: the buffer: no profile of the queue gives a size")
    return None


def _report_other_queues(config: Config, marking: Mapping[tuple[str, int], str], queue: int, report: Report) -> None:
    """Report the settings of the queues that no flow uses."""
    used = dict(_by_queue(config, "BUFFER_QUEUE", "profile"))
    groups = dict(_by_queue(config, "BUFFER_PG", "profile"))
    profiles = {name for (_, number), name in (*used.items(), *groups.items()) if number == queue}
    if unused := sorted(config.entries("BUFFER_PROFILE").keys() - profiles):
        report.not_mapped.append(f"{config.file}, BUFFER_PROFILE: {listed(unused)}: not of queue {queue}")
    marked = {name for (_, number), name in marking.items() if number == queue}
    if unused := sorted(config.entries("WRED_PROFILE").keys() - marked):
        report.not_mapped.append(f"{config.file}, WRED_PROFILE: {listed(unused)}: not of queue {queue}")
    others = sorted({number for _, number in {*marking, *used} if number != queue})
    if others:
        report.not_mapped.append(f"{config.file}, QUEUE and BUFFER_QUEUE: queues {listed(list(map(str, others)))}")
    schedulers = sorted({entry["scheduler"] for entry in config.entries("QUEUE").values() if "scheduler" in entry})
    if schedulers:
        report.not_mapped.append(f"{config.file}, QUEUE: schedulers {listed(schedulers)} (one queue needs none)")


def _flow_control(config: Config, queue: int, report: Report) -> dict[str, object] | None:
    """Return `[switch.pfc]` if the queue's priority is lossless at a port. Raises `BadInput`."""
    lossless = _lossless_ports(config)
    profiles = _lossless_profiles(config, queue)
    if not any(queue in priorities for priorities in lossless.values()):
        for priorities in sorted(set(lossless.values())):
            ports = [port for port in lossless if lossless[port] == priorities]
            report.not_mapped.append(
                f"{config.file}, PORT_QOS_MAP: pfc_enable {','.join(map(str, priorities))} of {listed(ports)}: "
                f"not of queue {queue}, so no pause frames"
            )
        _report_headroom(config, {}, report)
        return None
    report.mapped.append(f"{config.file}, PORT_QOS_MAP: pfc_enable of priority {queue} as PFC of all ports")
    if without := [port for port in _ports(config) if queue not in lossless.get(port, ())]:
        report.not_mapped.append(f"{config.file}, PORT_QOS_MAP: no pfc_enable {queue} at {listed(without)}")
    if others := sorted({str(each) for priorities in lossless.values() for each in priorities if each != queue}):
        report.not_mapped.append(f"{config.file}, PORT_QOS_MAP: pfc_enable {listed(others)}: not of queue {queue}")
    made: dict[str, object] = {}
    for name, field in _LOSSLESS_FIELDS.items():
        having = [profile for profile in profiles if field in config.entries("BUFFER_PROFILE")[profile]]
        sizes = {profile: config.whole("BUFFER_PROFILE", profile, field) for profile in having}
        if largest := max(sizes.values(), default=0):
            made[name] = f"{largest} B"
            told = f"{field} {largest:,} B of {listed(sorted(sizes))}"
            report.mapped.append(f"{config.file}, BUFFER_PROFILE: {told} as {name} of all ports (maximum)")
    if "headroom" not in made:
        report.assumed.append(f"{config.file}: headroom by rate, delay and response time of each link")
    _report_headroom(config, profiles, report)
    return {**made, **_watchdog(config, report)}


def _lossless_ports(config: Config) -> dict[str, tuple[int, ...]]:
    """Return the lossless priorities of ports. Raises `BadInput`."""
    found: dict[str, tuple[int, ...]] = {}
    for key, entry in config.entries("PORT_QOS_MAP").items():
        priorities = entry.get("pfc_enable", "")
        if not re.fullmatch("([0-7](,[0-7])*)?", priorities):
            rule = 'priorities from 0 to 7, as "3,4"'
            raise config.refused("PORT_QOS_MAP", key, f"pfc_enable is {shown(priorities)}", rule)
        found |= {port: tuple(map(int, priorities.split(","))) for port in key.split(",") if priorities}
    return found


def _lossless_profiles(config: Config, queue: int) -> list[str]:
    """Return the buffer profiles of a priority group. Raises `BadInput`."""
    names = sorted({name for (_, group), name in _by_queue(config, "BUFFER_PG", "profile") if group == queue})
    for name in names:
        if name != "NULL" and name not in config.entries("BUFFER_PROFILE"):
            rule = "BUFFER_PG names a key of BUFFER_PROFILE"
            raise config.refused("BUFFER_PROFILE", name, "the profile does not exist", rule)
    return [name for name in names if name != "NULL"]


def _report_headroom(config: Config, mapped: Collection[str], report: Report) -> None:
    """Report the other fields of profiles with headroom."""
    for key, entry in sorted(config.entries("BUFFER_PROFILE").items()):
        fields = ("size", "xon") if key in mapped else ("size", "xon", "xon_offset", "xoff")
        found = [f"{name} {entry[name]}" for name in fields if entry.get(name, "0") != "0"]
        if "xoff" in entry and found:
            report.not_mapped.append(f"{config.file}, BUFFER_PROFILE|{key}: {', '.join(found)}")


def _watchdog(config: Config, report: Report) -> dict[str, object]:
    """Return the watchdog of most ports. Raises `BadInput`."""
    names = ("action", "detection_time", "restoration_time")
    ports = {key: entry for key, entry in config.entries("PFC_WD").items() if key != "GLOBAL"}
    kinds = Counter(tuple(entry.get(name, "") for name in names) for entry in ports.values())
    if not kinds:
        return {}
    usual = kinds.most_common(1)[0][0]
    rarer = [key for key, entry in ports.items() if tuple(entry.get(name, "") for name in names) != usual]
    if rarer:
        report.not_mapped.append(f"{config.file}, PFC_WD: other settings of {listed(rarer)}")
    action = usual[0] or "drop"
    if action not in {"drop", "forward"}:
        report.not_mapped.append(f"{config.file}, PFC_WD: action {action}: only drop and forward have a counterpart")
        return {}
    key = next(key for key in ports if key not in rarer)
    made: dict[str, object] = {"action": action}
    for name, field in (("detection", "detection_time"), ("restoration", "restoration_time")):
        if field in ports[key]:
            time_ms = config.whole("PFC_WD", key, field, 10**6)
            if not time_ms:
                raise config.refused("PFC_WD", key, f"{field} is 0", "a time in milliseconds above 0")
            made[name] = f"{time_ms} ms"
    report.mapped.append(f"{config.file}, PFC_WD: a watchdog with the action {action} at all ports")
    return {"watchdog": made}


def _report_unread(config: Config, report: Report) -> None:
    """Report tables and fields without a counterpart."""
    for table, known in _FIELDS.items():
        names = {name for entry in config.entries(table).values() for name in entry} - known if known else set()
        if names:
            report.not_mapped.append(f"{config.file}, {table}: fields {listed(sorted(names))}")
    if others := sorted(config.tables.keys() - _FIELDS.keys()):
        report.not_mapped.append(f"{config.file}: tables {listed(others)}")
