//! Counters of deflection.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{Context, Report, Verdict};

use crate::configured_ports::ConfiguredPorts;
use crate::detours::{Detours, Names};

/// Counters of a relieved port. A packet to deflect is detoured, stays after all, is given up, or has nowhere to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::State)]
pub(crate) struct PortCounters {
    pub seen: u64,
    /// Packets to deflect although the queue had room.
    pub preempted: u64,
    pub full: u64,
    pub detoured: u64,
    /// Detoured packets that returned to where they had come from.
    pub sent_back: u64,
    /// Packets accepted by their own port, which was drawn although it had just refused them.
    pub stayed: u64,
    /// Packets dropped because the drawn ports were congested too.
    pub given_up: u64,
    /// Packets without another port.
    pub nowhere_to_go: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    WhenFull,
    /// Counters of a mechanism that deflects, and gives up, before that.
    Preemptive,
}

const NAMES: Names = Names {
    most: "most detours of a packet",
    uncounted: "detours not counted in their packet",
    of_packet: "detours of a packet that was detoured",
};

#[derive(Debug, hitless_core::state::State)]
pub(crate) struct SwitchCounters {
    #[configured]
    name: &'static str,
    #[configured]
    counted: Counted,
    #[part]
    ports: ConfiguredPorts<PortCounters>,
    #[part]
    detours: Detours,
}

impl SwitchCounters {
    pub fn new(name: &'static str, counted: Counted, relieved: &[PortId]) -> Self {
        let ports = ConfiguredPorts::with_default(relieved.iter().copied());
        Self { name, counted, ports, detours: Detours::new() }
    }

    #[inline]
    pub fn of_relieved(&mut self, port: PortId) -> Option<&mut PortCounters> {
        self.ports.get_mut(port)
    }

    /// The counters of a relieved port.
    #[inline]
    pub fn port(&mut self, port: PortId) -> &mut PortCounters {
        self.ports.of(port)
    }

    pub fn detour(&mut self, port: PortId, towards: PortId, context: &mut Context<'_>) {
        let is_sent_back = towards == context.port();
        self.detours.once_more(context.packet());
        let counters = self.port(port);
        counters.detoured += 1;
        counters.sent_back += u64::from(is_sent_back);
    }

    /// Handles the current packet if the queue of `port` is full: sends it to `choice`, or lets the queue drop it.
    pub fn relieve(&mut self, port: PortId, choice: Option<(PortId, QueueId)>, context: &mut Context<'_>) -> Verdict {
        self.port(port).full += 1;
        let Some((towards, queue)) = choice else {
            self.port(port).nowhere_to_go += 1;
            return Verdict::Continue;
        };
        self.detour(port, towards, context);
        Verdict::Forward { port: towards, queue }
    }

    /// Counts a deflected packet that drew its own port.
    pub fn stay(&mut self, port: PortId, context: &mut Context<'_>) {
        self.port(port).stayed += 1;
        self.leaves_by(port, context);
    }

    /// Handles the departure of the current packet through `port`: at a host's port its detours are over.
    #[inline]
    pub fn leaves_by(&mut self, port: PortId, context: &mut Context<'_>) {
        if !context.ports().faces_switch(port) {
            self.detours.end(context.packet());
        }
    }

    pub fn report(&self) -> Report {
        let mut report = Report::new(self.name);
        for (port, counters) in self.ports.iter() {
            let scope = format!("port {}", port.0);
            self.report_port(&scope, counters, &mut report);
            report.acted |= counters.seen > 0;
            if !self.adds_up(counters) {
                report.violated_invariants.push(format!("the packets of {scope} do not add up: {counters:?}"));
            }
        }
        self.detours.report(NAMES, &mut report);
        report
    }

    fn report_port(&self, scope: &str, counters: &PortCounters, report: &mut Report) {
        report.count(scope, "packets seen", counters.seen);
        if self.counted == Counted::Preemptive {
            report.count(scope, "packets over their threshold", counters.preempted);
            report.count(scope, "packets of a full queue", counters.full);
            report.count(scope, "packets given up at their deflection port", counters.given_up);
            report.count(scope, "packets that drew their own port", counters.stayed);
        }
        report.count(scope, "packets detoured", counters.detoured);
        report.count(scope, "packets sent back to where they came from", counters.sent_back);
        report.count(scope, "packets with nowhere to go", counters.nowhere_to_go);
    }

    fn adds_up(&self, counters: &PortCounters) -> bool {
        let PortCounters { seen, preempted, full, detoured, sent_back, stayed, given_up, nowhere_to_go } = *counters;
        let wanted = preempted + full;
        wanted <= seen && sent_back <= detoured && detoured + stayed + given_up + nowhere_to_go == wanted
    }
}
