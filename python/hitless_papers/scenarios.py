"""Builders of scenarios, topologies and hosts for the testbeds of all papers."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from hitless.checking import Fields

Table: TypeAlias = Mapping[str, Any]
"""Table of a scenario."""


def scenario(
    name: str,
    topology: Table,
    flows: Iterable[Table],
    transports: Mapping[str, Table],
    *,
    duration: str | None = None,
    **tables: Table | Iterable[Table] | None,
) -> Fields:
    """Build a scenario. Without ``duration`` it ends when all flows are done. Empty ``tables`` are left out."""
    made: dict[str, Any] = {
        "name": name,
        "topology": topology,
        "flows": list(flows),
        "transport": [{"name": title, **settings} for title, settings in transports.items()],
        **({"until": "all-flows-done"} if duration is None else {"duration": duration}),
    }
    return made | {title: settings for title, settings in tables.items() if settings}


def graph(
    hosts: Iterable[str], switches: Iterable[str], links: Iterable[tuple[str, str, float]], delay: str = "50 ns"
) -> Table:
    """Build a topology from links, each with its two ends and its rate in Gb/s."""
    made = [{"ends": [one, other], "rate": f"{gbps:g} Gbps", "delay": delay} for one, other, gbps in links]
    return {"kind": "graph", "hosts": list(hosts), "switches": list(switches), "links": made}


def linux(pass_us: float) -> Table:
    """Build hosts with ticks of 4 ms and a kernel delay of ``pass_us`` in each direction, with an assumed jitter."""
    jitter = {"kind": "lognormal", "median": "1 us", "p999": "20 us"}
    kernel = {"send": f"{pass_us} us", "receive": f"{pass_us} us", "jitter": jitter}
    return {"kernel": kernel, "network_card": {"send": "1 us", "receive": "1 us"}, "timer_tick": "4 ms"}
