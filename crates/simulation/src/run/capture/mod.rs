//! Captures of packets: frames as bytes, for files that Wireshark reads.
//!
//! A link with a capture leaves the shortcut of whole links, as a link with a loss model does; the rest of a run does
//! not change. Each partition captures what happens at its nodes. The end of a run sorts the packets by time, node and
//! their order there, which no division changes, and cuts them at the limit.

mod file;
mod plan;
mod stream;

use std::sync::Arc;

use hitless_core::engine::Pages;
use hitless_core::wire::capture::pcapng::{Captured, flag, put_packet};
use hitless_core::wire::capture::{Flow, FrameBytes, identity};
use hitless_core::wire::mac_control::CreditMessage;
use hitless_core::wire::trimmed::Trimmed;
use hitless_core::wire::{Duration, FlowId, HostId, Packet, ServiceKey, Time, Transport};
use hitless_scenario::network::topology::select::SwitchPort;
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_scenario::workload::FlowSpec;
use hitless_scenario::{CapturedProtocol, Scenario};
use hitless_switch::{DropReason, Switch};

use super::drops::NETWORK_CARD_FULL;
use super::edge::Edge;
use crate::link::{Fate, Links};
use plan::{Plan, Tap, View};

/// A captured packet.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Record {
    /// Time and node of the event that showed it, which give its place in the order.
    seen: (Time, u32),
    /// Time in the file.
    at: Time,
    interface: u32,
    /// Its block among the bytes.
    start: u64,
    length: u32,
}

/// The packets of a file.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
struct Kept {
    records: Vec<Record>,
    bytes: Vec<u8>,
    /// By interface: packets that the filter accepted, with those beyond the limit.
    accepted: Vec<u64>,
    /// By interface: packets that a stream has taken; empty without a stream.
    streamed: Vec<u64>,
    /// Packets that the stream had no room for.
    missed: u64,
}

/// A flow, and its group.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct OfFlow {
    flow: Flow,
    group: u32,
}

/// All captures of a run.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct Capture {
    #[configured]
    plan: Arc<Plan>,
    flows: Pages<OfFlow>,
    /// Time of the last run-wide change. The queue of a partition can be behind it.
    changed_at: Time,
    /// By capture.
    kept: Vec<Kept>,
}

/// Where and when a packet was seen.
#[derive(Clone, Copy)]
struct Sight {
    seen: (Time, u32),
    at: Time,
    /// `None` in a switch or a host.
    link: Option<u32>,
    flags: u32,
    remark: &'static str,
    is_lost: bool,
}

impl Capture {
    /// The captures of `scenario`, at the places of the switches that are here; `None` without any. Marks their links.
    ///
    /// # Errors
    /// If two mechanisms use one number on links: a bug in one of them.
    pub fn new(
        scenario: &Scenario,
        topology: &Topology,
        switches: &[Switch],
        is_here: Option<&[bool]>,
        links: &mut Links,
    ) -> Result<Option<Box<Self>>, String> {
        let Some(plan) = Plan::new(scenario, topology, switches, is_here)? else { return Ok(None) };
        plan.at_links.keys().for_each(|&link| links.watch(link as usize));
        Ok(Some(Box::new(Self::of(Arc::new(plan)))))
    }

    fn of(plan: Arc<Plan>) -> Self {
        let empty = |interfaces| Kept { accepted: vec![0; interfaces], ..Kept::default() };
        let kept = plan.files.iter().map(|file| empty(file.interfaces.len())).collect();
        Self { plan, flows: Pages::default(), changed_at: Time::ZERO, kept }
    }

    /// The same captures without packets, for another partition.
    pub fn for_partition(&self) -> Box<Self> {
        Box::new(Self::of(Arc::clone(&self.plan)))
    }

    /// Notes a change of the whole run, which can end packets.
    pub fn note_change(&mut self, now: Time) {
        self.changed_at = now;
    }

    /// Adds the next flow.
    pub fn add_flow(&mut self, spec: &FlowSpec, service: ServiceKey) {
        let request_bytes = spec.request.map_or(0, |request| request.bytes as u32);
        let server = if spec.request.is_some() { spec.source } else { spec.destination };
        let mss_bytes = self.plan.mss_bytes.get(spec.transport).copied().unwrap_or(0);
        let flow = Flow { server, service, mss_bytes, request_bytes };
        self.flows.push(OfFlow { flow, group: spec.group as u32 });
    }

    /// Frees a flow without remaining packets.
    pub fn let_go(&mut self, flow: FlowId) {
        self.flows.let_go(flow.0 as usize);
    }

    /// Captures a frame that has reached the end of a link after `delay`, at node `to`, or was lost on it.
    pub fn on_link<E: Edge>(
        &mut self,
        now: Time,
        (link, delay, to): (u32, Duration, u32),
        packet: &Packet,
        fate: Fate,
        edge: &E,
    ) {
        // Captures contain frames only, and an update of credits is an ordered set.
        if packet.shims.contains::<CreditMessage>() {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let (remark, error) = match fate {
            Fate::Arrives => ("", 0),
            Fate::Corrupted => ("corrupted on the link", flag::CHECK_SEQUENCE_ERROR),
            Fate::LostDown => ("lost: the link was down", 0),
        };
        let seen = (now, to);
        for tap in plan.at_links.get(&link).into_iter().flatten() {
            let whole = Sight { seen, at: now, link: Some(link), flags: 0, remark: "", is_lost: false };
            let sight = match tap.view {
                View::Link => Sight { flags: error, remark, is_lost: fate != Fate::Arrives, ..whole },
                View::Departures => Sight { at: Time(now.0.saturating_sub(delay.0)), flags: flag::OUTBOUND, ..whole },
                View::Arrivals if fate != Fate::Arrives => continue,
                View::Arrivals => Sight { flags: flag::INBOUND, ..whole },
            };
            self.take(&plan, tap, sight, packet, edge);
        }
    }

    /// Captures a packet that has ended in a switch, which is node `node`.
    pub fn ended<E: Edge>(
        &mut self,
        now: Time,
        (switch, node): (u32, u32),
        packet: &Packet,
        reason: DropReason,
        edge: &E,
    ) {
        if packet.shims.contains::<CreditMessage>() {
            return;
        }
        let (plan, now) = (Arc::clone(&self.plan), now.max(self.changed_at));
        let port = SwitchPort { switch: SwitchId(switch), port: packet.egress_port };
        let is_by_queue = matches!(
            reason,
            DropReason::QueueFull | DropReason::BufferFull | DropReason::Evicted | DropReason::QueueingDelay
        );
        let at_port = plan.at_ports.get(&port).filter(|_| is_by_queue);
        let taps = at_port.into_iter().chain(plan.at_switches.get(&switch)).flatten();
        let (remark, is_lost) = (reason.name(), reason.is_loss());
        let sight = Sight { seen: (now, node), at: now, link: None, flags: 0, remark, is_lost };
        taps.for_each(|tap| self.take(&plan, tap, sight, packet, edge));
    }

    /// Captures a packet that a network card has refused.
    pub fn refused<E: Edge>(&mut self, now: Time, host: HostId, packet: &Packet, edge: &E) {
        let plan = Arc::clone(&self.plan);
        let (remark, is_lost) = (NETWORK_CARD_FULL, true);
        let sight = Sight { seen: (now, host.0), at: now, link: None, flags: 0, remark, is_lost };
        plan.at_cards.get(&host.0).into_iter().flatten().for_each(|tap| self.take(&plan, tap, sight, packet, edge));
    }

    /// Keeps a packet if the filter takes it and the file has room.
    fn take<E: Edge>(&mut self, plan: &Plan, tap: &Tap, sight: Sight, packet: &Packet, edge: &E) {
        let file = &plan.files[tap.file];
        let known = self.flows.get(packet.flow.0 as usize).filter(|_| packet.transport != Transport::None).copied();
        let queue = tap.has_queues.then_some(packet.queue.0);
        let real = edge.real_frame(packet);
        let protocol = real.map_or(Some(CapturedProtocol::of(&packet.transport)), |real| real.protocol);
        let group = known.map(|known| known.group);
        if !file.takes(sight.at, (packet.class, protocol), group, queue, sight.is_lost) {
            return;
        }
        let kept = &mut self.kept[tap.file];
        kept.accepted[tap.interface as usize] += 1;
        // Packets of one picosecond have their final order only after the partitions are joined. A stream has one.
        let is_full = kept.packets() >= file.settings.limit;
        let is_last = |last: &Record| last.seen.0 != sight.seen.0 || !kept.streamed.is_empty();
        if is_full && kept.records.last().is_none_or(is_last) {
            return;
        }
        let is_whole = file.settings.payload;
        let frame = edge.frame_bytes(sight.link, packet, &plan.spoken, is_whole);
        let frame = frame.unwrap_or_else(|| known.unwrap_or_default().flow.frame(packet, &plan.spoken, is_whole));
        let comment = comment(sight, packet, &frame);
        let (interface, at, flags) = (tap.interface, sight.at, sight.flags);
        let identity = real.map_or_else(|| identity(packet), |real| Some(real.identity));
        let (queue, comment) = (queue.map(u32::from), comment.as_str());
        let captured = Captured { interface, at, flags, identity, queue, comment, is_whole };
        let start = kept.bytes.len();
        put_packet(&mut kept.bytes, &captured, &frame);
        let length = (kept.bytes.len() - start) as u32;
        kept.records.push(Record { seen: sight.seen, at, interface, start: start as u64, length });
    }

    /// Adds the packets of another partition.
    pub fn merge(&mut self, other: Self) {
        assert_eq!(self.kept.len(), other.kept.len(), "partitions capture into the same files");
        for (own, other) in self.kept.iter_mut().zip(other.kept) {
            let shift = own.bytes.len() as u64;
            own.records.extend(other.records.iter().map(|one| Record { start: one.start + shift, ..*one }));
            own.bytes.extend(other.bytes);
            own.accepted.iter_mut().zip(other.accepted).for_each(|(own, other)| *own += other);
        }
    }
}

/// The end of a packet, and the differences of its frame from the simulator's packet.
fn comment(sight: Sight, packet: &Packet, frame: &FrameBytes) -> String {
    let mut parts = Vec::new();
    if !sight.remark.is_empty() {
        let is_drop = sight.is_lost && !sight.remark.contains("link");
        parts.push(if is_drop { format!("dropped: {}", sight.remark) } else { sight.remark.to_owned() });
    }
    if let Some(Trimmed { frame_bytes }) = packet.shims.get() {
        parts.push(format!("payload trimmed by a switch; the frame had {frame_bytes} B"));
    }
    if frame.length_bytes() != frame.counted_bytes {
        parts.push(format!("{} B in the simulation", frame.counted_bytes));
    }
    parts.join("; ")
}
