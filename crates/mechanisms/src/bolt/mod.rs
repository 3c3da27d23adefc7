//! Bolt's switch (Arslan, Li, Kumar, Dukkipati; NSDI 2023; sections and algorithms as printed there).
//!
//! The switch treats each data packet of a Bolt sender by the queue that it is about to join (algorithm 1). At a queue
//! of `threshold` or more the switch tells the sender at once with a separate packet, unless another switch has (DEC),
//! and clears the packet's request (INC). Otherwise a packet of a flow's last window leaves a token for the bandwidth
//! that will be free a round-trip time later (proactive ramp-up). A packet that requests more gets it for such a token,
//! or for a segment's worth of unused bandwidth of the link (supply matching, algorithm 2); without either its request
//! is cleared.
//!
//! Notices have a separate queue at every port, which goes first, and are routed like any packet. The length of a queue
//! is its committed bytes when the packet is in ingress, which needs hardware that shows depths there.

mod kind;
mod settings;
mod tokens;

use hitless_core::wire::{BitRate, BoltFlags, CongestionNotice, HostId, Packet, PortId, QueueId, Time, Transport};
use hitless_switch::{
    Context, Half, HookSet, Mechanism, Needs, QueueConfig, QueueLimit, RegisterUse, Report, Resources, Verdict,
};

use crate::configured_ports::ConfiguredPorts;
use tokens::{Grant, Tokens};

pub use settings::BoltSettings;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoltPort {
    pub port: PortId,
    pub rate: BitRate,
    /// Bytes that each frame costs on the line in addition to itself.
    pub overhead_bytes: u32,
}

/// Limit of a queue of notices: more indicates a fault.
const NOTICE_QUEUE_PACKETS: u32 = 4_096;
/// Priority above all classes, for any scheduler; only headers of trimmed packets go before notices.
const NOTICE_PRIORITY: u8 = 198;

/// The reported length of a queue, saturated to the 32 bits of the field.
fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

hitless_switch::counters! {
    struct PortCounters {
        /// Data packets of Bolt's senders.
        seen as packets_seen = "packets seen",
        congested as packets_congested = "packets that met a congested queue",
        /// Notices for congested packets.
        notices as notices_sent = "notices sent",
        by_ramp_up as increases_by_ramp_up = "increases for flows about to end",
        by_supply as increases_by_supply = "increases for unused bandwidth",
        denied as increases_denied = "increases denied",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Bolt {
    #[configured]
    settings: BoltSettings,
    #[part]
    tokens: ConfiguredPorts<Tokens>,
    notice_queues: Vec<QueueId>,
    #[part]
    counters: ConfiguredPorts<PortCounters>,
}

impl Bolt {
    /// Bolt on `ports`; the ports in the settings are ignored.
    pub fn new(ports: Vec<BoltPort>, settings: BoltSettings) -> Self {
        let counters = ConfiguredPorts::with_default(ports.iter().map(|port| port.port));
        let (supply_bytes, ramp_up_most) = (settings.supply_max.0 as u32, settings.ramp_up_max);
        let tokens =
            ports.into_iter().map(|of| (of.port, Tokens::new(of.rate, of.overhead_bytes, supply_bytes, ramp_up_most)));
        Self { tokens: ConfiguredPorts::new(tokens), settings, notice_queues: Vec::new(), counters }
    }

    /// The notice to the sender of `data`, which meets a queue of `queue_bytes` before a line of `rate`.
    fn notice(&self, data: &Packet, sequence: u64, rate: BitRate, queue_bytes: u64) -> Packet {
        let (source, destination): (HostId, HostId) = (data.destination, data.source);
        let notice = CongestionNotice { sequence, rate, queue_bytes: saturated(queue_bytes) };
        Packet {
            frame_bytes: self.settings.notice_bytes.0 as u32,
            flow: data.flow,
            source,
            destination,
            flow_hash: data.flow_hash,
            ttl: Packet::INITIAL_TTL,
            transport: Transport::CongestionNotice(notice),
            ..Packet::default()
        }
    }

    /// Applies algorithm 1 to a data packet for `port`; returns its new flags.
    fn judge(&mut self, context: &mut Context<'_>, port: PortId, flags: BoltFlags) -> BoltFlags {
        let queue = context.packet().queue;
        let queue_bytes = context.queue(port, queue).committed_bytes();
        if queue_bytes >= self.settings.threshold.0 {
            self.tell_of_congestion(context, port, flags, queue_bytes);
            // DEC stops other switches on the path from telling the sender again (algorithm 1).
            return flags.with(BoltFlags::DEC).without(BoltFlags::INC);
        }
        let tokens = self.tokens.of(port);
        let counters = self.counters.of(port);
        if flags.contains(BoltFlags::LAST) {
            tokens.flow_ends(!flags.contains(BoltFlags::FIRST));
        } else if flags.contains(BoltFlags::INC) {
            let granted = tokens.grant(self.settings.segment.0 as u32);
            match granted {
                Some(Grant::RampUp) => counters.by_ramp_up += 1,
                Some(Grant::Supply) => counters.by_supply += 1,
                None => {
                    counters.denied += 1;
                    return flags.without(BoltFlags::INC);
                }
            }
        }
        flags
    }

    fn tell_of_congestion(&mut self, context: &mut Context<'_>, port: PortId, flags: BoltFlags, queue_bytes: u64) {
        let counters = self.counters.of(port);
        counters.congested += 1;
        if flags.contains(BoltFlags::DEC) {
            return;
        }
        counters.notices += 1;
        let arrived_by = context.port();
        let data = *context.packet();
        let Transport::Tcp(header) = data.transport else { return };
        let rate = self.tokens.of(port).rate();
        let notice = self.notice(&data, header.sequence, rate, queue_bytes);
        context.mac(arrived_by).emit_at_ingress(notice);
    }
}

impl Mechanism for Bolt {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.notice_queues = queue_counts.iter().map(|&count| QueueId(count as u8)).collect();
        let first = QueueConfig::normal(QueueLimit::Packets(NOTICE_QUEUE_PACKETS))
            .with_priority(NOTICE_PRIORITY)
            .of_mechanism();
        let ports = || (0..queue_counts.len() as u16).map(PortId);
        Needs {
            hooks: ports().map(|port| (port, HookSet::INGRESS_TOWARDS)).collect(),
            queues: ports().map(|port| (port, first)).collect(),
            ..Needs::default()
        }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let (now, port) = (context.now(), context.packet().egress_port);
        if context.packet().is_congestion_notice() {
            return Verdict::Forward { port, queue: self.notice_queues[usize::from(port.0)] };
        }
        let frame_bytes = context.packet().frame_bytes;
        let Some(tokens) = self.tokens.get_mut(port) else { return Verdict::Continue };
        tokens.packet(now, frame_bytes);
        let Transport::Tcp(header) = &context.packet().transport else { return Verdict::Continue };
        let flags = BoltFlags(header.congestion_option);
        if header.payload_bytes == 0 || !flags.contains(BoltFlags::BOLT) {
            return Verdict::Continue;
        }
        self.counters.of(port).seen += 1;
        let judged = self.judge(context, port, flags);
        if let Transport::Tcp(header) = &mut context.packet().transport {
            header.congestion_option = judged.0;
        }
        Verdict::Continue
    }

    fn resources(&self) -> Resources {
        let ports = self.tokens.iter().count() as u64;
        let mut resources = Resources::new("bolt");
        // sm_token and last_sm_time are read and written together (algorithm 2), behind them pru_token (algorithm 1).
        resources.add_register(RegisterUse::outside::<u64>("last_sm_time", Half::Ingress, 0, ports));
        resources.add_register(RegisterUse::outside::<u64>("sm_token", Half::Ingress, 1, ports));
        resources.add_register(RegisterUse::outside::<u32>("pru_token", Half::Ingress, 2, ports));
        // A notice is a copy of the packet's head that returns through the packet's arrival port.
        resources.mirror_sessions = self.notice_queues.len() as u64;
        resources
            .not_counting("hardware that shows the depths of queues in ingress, as Tofino 2 does")
            .not_counting("the products of time and line rate")
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("bolt");
        for (port, counters) in self.counters.iter() {
            let scope = format!("port {}", port.0);
            counters.report(&scope, &mut report);
            let &PortCounters { seen, congested, notices, by_ramp_up, by_supply, denied } = counters;
            report.acted |= seen > 0;
            if notices > congested || congested + by_ramp_up + by_supply + denied > seen {
                report.violated_invariants.push(format!("the packets of {scope} do not add up: {counters:?}"));
            }
        }
        report
    }
}
