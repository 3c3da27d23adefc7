"""Two daemons at the two switches of a simulated link, in simulated time: for tests and the exhibit."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from hitless.checking import Fields, scenario_text
from hitless.corruptd.actors import SwitchActor
from hitless.corruptd.bus import Bus
from hitless.corruptd.daemon import Daemon, DaemonPlan, GuardPlan, WatchPlan
from hitless.corruptd.detection import Policy
from hitless.corruptd.protocol import Pace, Upstream
from hitless.corruptd.sources import SwitchSource
from hitless.corruptd.state import State, restore, snapshot
from hitless.steps import Steps

PS_PER_S = 10**12


@dataclass(frozen=True, slots=True)
class DaemonLabPlan:
    """The simulation, and the settings of the daemons."""

    scenario: Fields
    link: str
    upstream: str
    downstream: str
    policy: Policy
    poll_s: float
    seed: int = 1
    settle_s: float = 0.0
    """Real time for a message to arrive: 0 on a local bus."""

    @property
    def pace(self) -> Pace:
        """Times in polls instead of seconds."""
        return Pace(retry_s=self.poll_s, refresh_s=5 * self.poll_s, lifetime_s=3_600 * self.poll_s)


class Lab:
    """Runs the simulation from poll to poll, and the daemons after it."""

    def __init__(self, plan: DaemonLabPlan, buses: Mapping[str, Bus]) -> None:
        self.plan = plan
        self.session = Steps(scenario_text(plan.scenario), str(plan.scenario["name"]), plan.seed)
        self.polls = 0
        self.receiver = self._start_receiver(buses[plan.downstream], None)
        self.sender = self._start_sender(buses[plan.upstream], None)

    @property
    def now_s(self) -> float:
        return self.polls * self.plan.poll_s

    @property
    def copies(self) -> int:
        """The copies set at the sending end; 0 is off."""
        setting = self.sender.guards[self.plan.link].sender.in_force
        return setting.copies if setting else 0

    def step(self) -> None:
        """Simulate until the next poll, then run both daemons."""
        self.polls += 1
        self.session.ports.advance(round(self.now_s * PS_PER_S))
        self.receiver.step(self.now_s)
        self._settle()

    def run_to(self, until_s: float) -> None:
        while self.now_s < until_s - self.plan.poll_s / 2:
            self.step()

    def counter(self, switch: str, name: str) -> int:
        """Return a counter of LinkGuardian at a switch."""
        table = self.session.mechanisms.filter((pl.col("switch") == switch) & (pl.col("counter") == name))
        return int(table["value"].sum())

    def restart_receiver(self, bus: Bus, saved: State | None) -> None:
        self.receiver.bus.close()
        self.receiver = self._start_receiver(bus, saved)

    def restart_sender(self, bus: Bus, saved: State | None) -> None:
        self.sender.bus.close()
        self.sender = self._start_sender(bus, saved)

    def _settle(self) -> None:
        """Step twice, because an answer needs a message first."""
        for daemon in (self.sender, self.receiver) * 2:
            if self.plan.settle_s:
                time.sleep(self.plan.settle_s)
            daemon.step(self.now_s)

    def _start_receiver(self, bus: Bus, saved: State | None) -> Daemon:
        upstream = Upstream(self.plan.link, self.plan.upstream, dev_port=1)
        watch = WatchPlan(upstream, SwitchSource(self.session.ports, self.plan.link))
        return self._start(self.plan.downstream, bus, saved, watches=[watch])

    def _start_sender(self, bus: Bus, saved: State | None) -> Daemon:
        guard = GuardPlan(link=self.plan.link, downstream_switch_id=self.plan.downstream, dev_port=1)
        return self._start(self.plan.upstream, bus, saved, guards=[guard])

    def _start(self, switch_id: str, bus: Bus, saved: State | None, **links: Any) -> Daemon:
        plan = DaemonPlan(
            switch_id, policy=self.plan.policy, pace=self.plan.pace, poll_interval_s=self.plan.poll_s, **links
        )
        daemon = Daemon(plan, bus, SwitchActor(self.session.ports), epoch=saved.epoch + 1 if saved else 1)
        daemon.next_poll_s = self.now_s + self.plan.poll_s
        if saved is not None:
            restore(daemon, saved, self.now_s)
        return daemon

    def saved(self, daemon: Daemon) -> State:
        """Return the state of a daemon after a round trip through its file format."""
        return State.model_validate_json(snapshot(daemon, self.now_s).model_dump_json())
