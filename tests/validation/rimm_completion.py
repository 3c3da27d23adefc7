"""Hosts that would explain the completion times of RIMM's figure 7: 423 ms and 290 ms for 5 MB.

From the root of the repository: .venv/bin/python tests/validation/rimm_completion.py

Nothing is fitted here. Each line is the same burst between hosts that differ in one aspect from those of the testbed:
their recovery, the delay of their stacks, or the end of the burst's slow start. The question is whether the times of
the paper appear at all, and whether its other numbers survive: 9.42 Gbps of background, 31 packets lost in an event
with basic forwarding and none with RIMM.

The end of slow start models HyStart (Ha and Rhee, 2011), which Linux enables and these hosts lack: some frames of the
burst are corrupted on VM4's link in a round trip, and excluded from all counts of losses.
"""

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from hitless.simulation import Simulation
from hitless_papers.estimates import mean_of
from hitless_papers.rimm import testbed
from hitless_papers.rimm.events import TABLES, Event, measure

_BURST_MS = 80.0
_LENGTH_MS = 180.0
_SCHEMES = {"basic": testbed.BASIC, "RIMM": testbed.RIMM}


@dataclass(frozen=True)
class Hosts:
    """One line of the table."""

    name: str
    transport: Mapping[str, Any] = field(default_factory=lambda: testbed.TCP)
    stack_us: float = testbed.STACK_US
    jitter_p999: str = "20 us"
    slow_start_rounds: int | None = None
    """Round trips of data after which the burst's slow start ends; None: it continues until packets are lost."""
    is_background_settled: bool = True
    """The background's slow start ended before; otherwise all of its bytes are in flight, queued in its own host."""

    @property
    def round_trip_us(self) -> float:
        """Return the round trip without queues: four passes through stacks."""
        return 4 * self.stack_us + 8

    def scenario(self, scheme: Mapping[str, Any]) -> Mapping[str, Any]:
        length_bytes = round(testbed.BACKGROUND_GBPS * 1e6 / 8 * _LENGTH_MS)
        flows = [
            testbed.one_flow("background", "VM1", "VM7", length_bytes, 0),
            testbed.one_flow("burst", "VM4", "VM7", testbed.BURST_BYTES, _BURST_MS),
        ]
        used = {**scheme, "transport": self.transport}
        made = dict(testbed.scenario("event", flows, used, measure=measure(), stack_us=self.stack_us))
        kernel = made["host"]["kernel"]
        jitter = {**kernel["jitter"], "p999": self.jitter_p999}
        made["host"] = {**made["host"], "kernel": {**kernel, "jitter": jitter}}
        made["link"] = list(self._corrupted())
        return made

    def _corrupted(self) -> Sequence[Mapping[str, Any]]:
        """The background's slow start ends once it fills the link, the burst's after the requested rounds."""
        settled = _corrupt("VM1->S2-1", 3_000 + 11 * self.round_trip_us, 100, 0.1)
        links = [settled] if self.is_background_settled else []
        if self.slow_start_rounds is not None:
            start_us = _BURST_MS * 1e3 + (self.slow_start_rounds + 0.5) * self.round_trip_us
            links.append(_corrupt("VM4->S2-2", start_us, self.round_trip_us, 0.15))
        return links


def _corrupt(link: str, start_us: float, length_us: float, rate: float) -> Mapping[str, Any]:
    start, end = round(start_us), round(start_us + length_us)
    return {
        "name": link,
        "changes": [
            {"at": f"{start} us", "loss": {"kind": "bernoulli", "rate": rate}},
            {"at": f"{end} us", "loss": {"kind": "none"}},
        ],
    }


_NO_SACK = {**testbed.TCP, "sack": False, "rack_tlp": False}
_HOSTS = (
    Hosts("the testbed's: RTO_min 200 ms, RACK"),
    Hosts("no RACK, no probes, no undo", testbed.NO_UNDO),
    Hosts("no SACK", _NO_SACK),
    Hosts("250 us a pass", stack_us=250),
    Hosts("500 us a pass", stack_us=500),
    Hosts("jitter 99.9 % below 1 ms", jitter_p999="1 ms"),
    Hosts("slow start ends after 3 rounds", slow_start_rounds=3),
    Hosts("slow start ends after 1 round", slow_start_rounds=1),
    Hosts("250 us, slow start ends after 3", stack_us=250, slow_start_rounds=3),
    Hosts("250 us, slow start ends after 1", stack_us=250, slow_start_rounds=1),
    Hosts("500 us, slow start ends after 1", stack_us=500, slow_start_rounds=1),
    Hosts("background unsettled", is_background_settled=False),
    Hosts("background unsettled, slow start ends after 3", slow_start_rounds=3, is_background_settled=False),
    Hosts("background unsettled, slow start ends after 1", slow_start_rounds=1, is_background_settled=False),
)


def describe(scheme: str, found: Sequence[Event]) -> str:
    times = [time for event in found if (time := event.completion_ms("burst")) is not None]
    mean, interval = mean_of(times).value, mean_of(times).interval
    spread = f"[{interval.low:.1f}, {interval.high:.1f}]" if interval else ""
    timeouts = sum(event.of("burst", "timeouts") for event in found)
    again = mean_of([_sent_again(event) for event in found]).value
    deepest = mean_of([event.peak_segments() for event in found]).value
    jitter_us = mean_of([event.jitter_us("burst") for event in found]).value
    rates = [_background_gbps(event) for event in found]
    return (
        f"  {scheme:5} {mean:8.1f} ms {spread:16} {len(times)}/{len(found)} done, {timeouts} timeouts; sent again"
        f" {again:7.1f}; jitter {jitter_us:7.2f} us; deepest queue {deepest:6.0f} segments; background"
        f" before the burst {mean_of(rates).value:.2f} Gbps"
    )


def _sent_again(event: Event) -> int:
    """Return the packets retransmitted by both senders since the burst began, including those corrupted on purpose."""
    progress = event.run.table("flow_progress").filter(pl.col("time_ps") <= _BURST_MS * 1e9)
    before = progress.group_by("flow").agg(pl.col("packets_retransmitted").max())["packets_retransmitted"].sum()
    return int(event.flows["packets_retransmitted"].sum()) - int(before)


def _background_gbps(event: Event) -> float:
    flow = event.flows.filter(pl.col("group") == "background")["flow"][0]
    own = event.run.table("flow_progress").filter(pl.col("flow") == flow).sort("time_ps")
    own = own.filter(pl.col("time_ps").is_between((_BURST_MS - 30) * 1e9, _BURST_MS * 1e9))
    delivered_bytes = own["acknowledged"][-1] - own["acknowledged"][0]
    return float(delivered_bytes) * 8e3 / (own["time_ps"][-1] - own["time_ps"][0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5, help="events for each kind of host")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at a time")
    parser.add_argument("--only", default="", help="hosts whose line contains this")
    options = parser.parse_args()
    for hosts in _HOSTS:
        if options.only not in hosts.name:
            continue
        print(hosts.name)
        for scheme, settings in _SCHEMES.items():
            with ThreadPoolExecutor(options.jobs) as executor:
                simulations = [
                    Simulation(hosts.scenario(settings), file_name="rimm_completion", seed=seed + 1)
                    for seed in range(options.events)
                ]
                runs = executor.map(lambda simulation: simulation.run(keep=TABLES), simulations)
                print(describe(scheme, [Event(run) for run in runs]), flush=True)


if __name__ == "__main__":
    main()
