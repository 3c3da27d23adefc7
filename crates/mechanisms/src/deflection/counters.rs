//! Counters of deflection.

use hitless_core::wire::{PortId, QueueId};
use hitless_switch::{Context, Report, Verdict};

use crate::configured_ports::ConfiguredPorts;
use crate::detours::Detours;

hitless_switch::counters! {
    /// Counters of a relieved port. A packet to deflect is detoured, stays, is given up, or has nowhere to go.
    pub(crate) struct PortCounters {
        /// Packets routed to the port.
        seen as packets_seen = "packets seen",
        /// Packets to deflect although the queue had room.
        preempted as packets_over_threshold = "packets over their threshold",
        full as packets_of_full_queue = "packets of a full queue",
        /// The drawn ports were congested too, so the packets were dropped.
        given_up as packets_given_up = "packets given up at their deflection port",
        /// Their own port accepted them, although it had just refused them.
        stayed as packets_stayed = "packets that drew their own port",
        detoured as packets_detoured = "packets detoured",
        sent_back as packets_sent_back = "packets sent back to where they came from",
        nowhere_to_go as packets_with_nowhere_to_go = "packets with nowhere to go",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub(crate) struct SwitchCounters {
    #[configured]
    name: &'static str,
    #[part]
    ports: ConfiguredPorts<PortCounters>,
    #[part]
    detours: Detours,
}

impl SwitchCounters {
    pub fn new(name: &'static str, relieved: &[PortId]) -> Self {
        let ports = ConfiguredPorts::with_default(relieved.iter().copied());
        Self { name, ports, detours: Detours::new() }
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
            counters.report(&scope, &mut report);
            report.acted |= counters.seen > 0;
            if !adds_up(counters) {
                report.violated_invariants.push(format!("the packets of {scope} do not add up: {counters:?}"));
            }
        }
        self.detours.report(&mut report);
        report
    }
}

fn adds_up(counters: &PortCounters) -> bool {
    let PortCounters { seen, preempted, full, detoured, sent_back, stayed, given_up, nowhere_to_go } = *counters;
    let wanted = preempted + full;
    wanted <= seen && sent_back <= detoured && detoured + stayed + given_up + nowhere_to_go == wanted
}
