"""Recovery of a fabric after an event: compares runs with and without the event."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import polars as pl

import hitless
from hitless.envelope import SYSTEMS
from hitless.envelope.places import Place
from hitless.envelope.systems import Burst, LinkFailure

_ROUND_TRIPS = 10
_WATCHED_FRAMES = 1_000
_SAMPLES = 400
_BACKGROUND_LOAD = 0.3
_RIMM_DRAINS_PERIODS = 8
"""Time until RIMM has released its detoured packets, measured with seeds 1 to 6: 4 periods were too few."""


@dataclass(frozen=True)
class Event:
    """A scenario with an event, the same without it, and the time when the event and its backlog have ended."""

    scenario: Mapping[str, Any]
    calm: Mapping[str, Any]
    ended_ns: float
    group: str
    port: str


@dataclass(frozen=True)
class Later:
    """Measurements of the watched time, which begins ten round trips after the end of the event."""

    delivered_bytes: int
    packets_sent: int
    packets_retransmitted: int
    queue_bytes: float
    """Mean over the samples."""


def failure(name: str, place: Place) -> Event:
    """A failed link with SQR. The backlog must leave during traffic; a long flow alone would fill the line."""
    system = SYSTEMS[name]
    assert isinstance(system, LinkFailure)
    scenario = system.scenario(place, with_it=True)
    outage_ns = system.outage_ns(place) + system.pause_ns(place)
    spare = 1 - place.load - system.cost.share
    backlog_ns = outage_ns * place.load / spare if place.transport == "udp" else 0
    scenario["flows"][0].pop("stop", None)
    if place.transport == "tcp":
        # CUBIC fills the buffer slowly, and needs seconds to become steady.
        scenario["transport"][0]["congestion"] = "dctcp"
        window_bytes = round(place.round_trip_ns * place.rate_gbps / 8)
        scenario["switch"]["ecn"] = {"threshold": f"{100_000 + window_bytes} B"}
    calm = {key: value for key, value in scenario.items() if key != "failure"}
    return Event(scenario, calm, system.fails_ns(place) + outage_ns + backlog_ns, "f", "left->right")


def bursts(name: str, place: Place) -> Event:
    """Three bursts and a flow of constant rate."""
    system = SYSTEMS[name]
    assert isinstance(system, Burst)
    scenario = system.scenario(place, with_it=True)
    scenario["transport"].append(
        {
            "name": "steady",
            "kind": "udp",
            "rate": f"{round(place.rate_gbps * 1e9 * _BACKGROUND_LOAD)} bps",
            "frame_bytes": f"{place.frame_bytes} B",
        }
    )
    steady = {"name": "steady", "kind": "constant-rate", "transport": "steady"}
    scenario["flows"].append({**steady, "sources": ["h7"], "destinations": ["h0"]})
    calm = deepcopy(scenario)
    calm["flows"] = calm["flows"][-1:]
    period_ns = int(scenario["flows"][0]["period"].removesuffix(" ns"))
    for flow in scenario["flows"][:-1]:
        flow["count"] = 3
    waits_ns = int(scenario["host"]["reorder_buffer"]["timeout"].removesuffix(" ns"))
    drains_ns = _RIMM_DRAINS_PERIODS * period_ns if name == "rimm" else 0
    ended_ns = 2 * period_ns + period_ns * place.load / (1 - _BACKGROUND_LOAD) + waits_ns + drains_ns
    return Event(scenario, calm, ended_ns, "steady", "leaf0->h0")


def later(event: Event, place: Place, *, with_event: bool, seed: int = 1) -> Later:
    """Run one side, and measure it after the event."""
    begin_ns = event.ended_ns + _ROUND_TRIPS * place.round_trip_ns
    period_ns = max(1_000, round(_WATCHED_FRAMES * place.frame_ns / _SAMPLES))
    scenario: dict[str, Any] = deepcopy(dict(event.scenario if with_event else event.calm))
    scenario["duration"] = f"{round(begin_ns) + _SAMPLES * period_ns} ns"
    scenario["measure"] = {
        "goodput": [{"group": event.group, "period": f"{20 * period_ns} ns"}],
        "queue": [{"ports": [event.port], "period": f"{period_ns} ns"}],
    }
    run = hitless.run(scenario, seed=seed)
    after = pl.col("time_ps") > begin_ns * 1000
    goodput, queue = run.table("goodput").filter(after), run.table("queues").filter(after)
    sums = (int(goodput[name].sum()) for name in ("delivered_bytes", "packets_sent", "packets_retransmitted"))
    return Later(*sums, sum(queue["value_bytes"]) / queue.height)


def assert_back_to_normal(event: Event, place: Place, seed: int = 1) -> None:
    """Assert that throughput, queue and losses equal the calm run's."""
    after, calm = (later(event, place, with_event=with_event, seed=seed) for with_event in (True, False))
    told = f"{place.name}, seed {seed}: {after} and {calm}"
    assert abs(after.delivered_bytes - calm.delivered_bytes) <= 0.02 * calm.delivered_bytes, told
    assert after.queue_bytes <= 1.2 * calm.queue_bytes + 10 * place.frame_bytes, told
    assert after.packets_retransmitted == calm.packets_retransmitted, told
