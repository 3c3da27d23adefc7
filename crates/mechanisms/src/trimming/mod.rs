//! Packet trimming: a packet that a full queue refuses is cut to its header, which overtakes all data, so that the
//! receiver learns at once of the missing packet and requests it again without a timeout.
//!
//! CP (Cheng, Ren, Shu, Lin; "Catch the whole lot in an action", NSDI 2014) and NDP (Handley et al., SIGCOMM 2017,
//! section 3.1); today an option of Ultra Ethernet and its switches. The header uses a separate queue at the same port,
//! and at every later switch with this mechanism. NDP lets ten headers leave for each packet of data, so that headers
//! alone do not starve the data; CP had a single queue and collapses under heavy load because of that. NDP sends
//! acknowledgements through the queue of the headers, too.
//!
//! The arriving packet is cut; NDP cuts the last packet of the queue instead with probability 1/2. Only packets whose
//! receiver understands it are cut ([`hitless_core::wire::Packet::trim`]); others are dropped as without the mechanism.
//! A header that finds no room in the queue of the headers is dropped, and its sender needs its timeout; NDP returns
//! such headers to the sender.

mod kind;
mod settings;

use hitless_core::wire::{PortId, QueueId, Time};
use hitless_switch::{Context, DropReason, HookSet, Mechanism, Needs, QueueConfig, Report, Resources, Verdict};

use crate::configured_ports::ConfiguredPorts;
use crate::queue_limit::queue_limit;

pub use settings::TrimmingSettings;

/// Priority above the queues of all classes, and below the protection of links.
const HEADER_PRIORITY: u8 = 199;

hitless_switch::counters! {
    struct PortCounters {
        seen as packets_seen = "packets seen",
        /// Headers that another switch had cut.
        headers_passed = "headers passed on",
        trimmed as packets_trimmed = "packets trimmed",
        uncut as packets_not_trimmed = "packets refused and not trimmed",
        headers_lost = "headers lost",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Trimming {
    #[configured]
    settings: TrimmingSettings,
    #[part]
    ports: ConfiguredPorts<PortCounters>,
    header_queues: Vec<Option<QueueId>>,
}

impl Trimming {
    /// Trimming at `ports`; the ports in the settings are ignored.
    pub fn new(ports: Vec<PortId>, settings: TrimmingSettings) -> Self {
        Self { settings, ports: ConfiguredPorts::with_default(ports), header_queues: Vec::new() }
    }

    /// The queue of the headers. If it shares the port with the data, it has normal priority, and a quantum of whole
    /// headers for each full frame of data.
    fn header_queue(&self) -> QueueConfig {
        let queue = QueueConfig::normal(queue_limit(self.settings.queue));
        match self.settings.headers_per_packet {
            0 => queue.with_priority(HEADER_PRIORITY),
            headers => QueueConfig { quantum_bytes: headers * self.settings.trimmed_frame.0 as u32, ..queue },
        }
    }

    fn to_headers(&self, port: PortId) -> Verdict {
        let queue = self.header_queues[usize::from(port.0)].expect("the port was subscribed to");
        Verdict::Forward { port, queue }
    }
}

impl Mechanism for Trimming {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.header_queues = vec![None; queue_counts.len()];
        for (port, _) in self.ports.iter() {
            let place = usize::from(port.0);
            self.header_queues[place] = Some(QueueId(queue_counts[place] as u8));
        }
        let hooks = HookSet::INGRESS_TOWARDS.with(HookSet::TM_DROP);
        Needs {
            hooks: self.ports.iter().map(|(port, _)| (port, hooks)).collect(),
            queues: self.ports.iter().map(|(port, _)| (port, self.header_queue())).collect(),
            ..Needs::default()
        }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let packet = context.packet();
        let port = packet.egress_port;
        let is_header = packet.is_trimmed();
        let goes_first = is_header || self.settings.control_too && !packet.transport.waits_with_data();
        let counters = self.ports.of(port);
        counters.seen += 1;
        counters.headers_passed += u64::from(is_header);
        if goes_first { self.to_headers(port) } else { Verdict::Continue }
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        let port = context.port();
        let is_header = context.packet().is_trimmed();
        let counters = self.ports.of(port);
        if is_header {
            counters.headers_lost += 1;
            return Verdict::Continue;
        }
        // At the last try the packet ends whatever this returns, and a cut header could not be sent.
        if context.is_last_try() || !context.packet().trim(self.settings.trimmed_frame.0 as u32) {
            counters.uncut += 1;
            return Verdict::Continue;
        }
        counters.trimmed += 1;
        self.to_headers(port)
    }

    fn resources(&self) -> Resources {
        Resources::new("trimming")
            .not_counting("a traffic manager that hands on the packets it refuses, and cuts them")
            .not_counting("the bandwidth of the port by which they go round")
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("trimming");
        for (port, counters) in self.ports.iter() {
            let scope = format!("port {}", port.0);
            counters.report(&scope, &mut report);
            report.acted |= counters.seen > 0;
            if counters.headers_lost > counters.headers_passed + counters.trimmed {
                report.violated_invariants.push(format!("the headers of {scope} do not add up: {counters:?}"));
            }
        }
        report
    }
}
