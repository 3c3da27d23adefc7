//! The autopsy of completion times: each packet carries a ledger, a message's completion time divided into parts.
//!
//! A packet's ledger starts as a copy of its cause's ledger: the packet or the timer that made a transport send it.
//! Each step of the packet charges the time since its last step to a part. A retransmission takes the ledger of the
//! lost packet, and charges the time since the loss. So the ledger of the packet that completes a message divides the
//! message's time along its critical path, without remainder. Nothing here schedules an event: the run is the same.

mod flows;
mod ledger;
mod pauses;
mod table;

use std::collections::BTreeMap;

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Duration, FlowId, HostId, LineTiming, Packet, PortId, QueueId, Time, Transport};
use hitless_hosts::{FlowEnd, FlowRecords, HostStep, MessageRecord, Side, TimeoutPurpose, Wake};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Topology;
use hitless_switch::{DropReason, SwitchEvent};

use super::edge::Edge;
use super::network::Network;
use crate::link::Fate;
use crate::results::Table;
use flows::{Flow, Lost, key};
use ledger::{Cause, Delivered, Ledger, Loss, Part, Place, Recovery};
use pauses::Pauses;

/// The fixed parts of a packet's way through a port.
#[derive(Clone, Copy, Debug)]
struct PortTiming {
    /// Latency before the queue, if no event marks its end.
    lead: Duration,
    egress_latency: Duration,
    line: LineTiming,
}

/// The reason of the steps of a flow now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Packet,
    Wake(Wake),
}

/// The ledgers of a run.
pub(super) struct Autopsy {
    now: Time,
    ports: Vec<Vec<PortTiming>>,
    cards: Vec<LineTiming>,
    pauses: Pauses,
    /// By packet.
    ledgers: Vec<Ledger>,
    /// By flow; `None` after its end.
    flows: Vec<Option<Box<Flow>>>,
    /// The ledger and the reason of the packets that a transport sends now.
    current: Ledger,
    reason: Reason,
    /// The packet that hooks of a switch handle now; invalid for an event without a packet.
    hooked: PacketHandle,
    delivered: Vec<Delivered>,
}

impl Autopsy {
    /// Prepares the autopsy of a run on `network`.
    pub fn new<E: Edge>(network: &Network<E>) -> Self {
        let timing = |(lead, egress_latency, line)| PortTiming { lead, egress_latency, line };
        let ports_of = |switch: &hitless_switch::Switch| {
            (0..switch.port_count()).map(|port| timing(switch.port_timing(PortId(port as u16)))).collect()
        };
        let ports = network.switches.iter().map(ports_of).collect();
        Self { ports, cards: network.hosts.lines().collect(), ..Self::default() }
    }
}

/// The autopsy of an empty network.
impl Default for Autopsy {
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            ports: Vec::new(),
            cards: Vec::new(),
            pauses: Pauses::default(),
            ledgers: Vec::new(),
            flows: Vec::new(),
            current: Ledger::new(Time::ZERO),
            reason: Reason::Packet,
            hooked: PacketHandle(u32::MAX),
            delivered: Vec::new(),
        }
    }
}

impl Autopsy {
    /// The ledger of a packet. A packet of a switch has one without a meaning.
    #[inline]
    fn ledger(&mut self, packet: PacketHandle) -> &mut Ledger {
        let slot = packet.0 as usize;
        if slot >= self.ledgers.len() {
            self.ledgers.resize(slot + 1, Ledger::new(Time::ZERO));
        }
        &mut self.ledgers[slot]
    }

    fn flow(&mut self, flow: FlowId) -> Option<&mut Flow> {
        self.flows.get_mut(flow.0 as usize)?.as_deref_mut()
    }

    /// Returns a flow, which begins now if it is new.
    fn begun(&mut self, flow: FlowId) -> &mut Flow {
        let slot = flow.0 as usize;
        if slot >= self.flows.len() {
            self.flows.resize_with(slot + 1, || None);
        }
        let now = self.now;
        self.flows[slot].get_or_insert_with(|| Box::new(Flow::new(now)))
    }

    /// A transport handles a packet.
    fn received(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        let now = self.now;
        let ledger = self.ledger(packet);
        ledger.charge(now, Part::ReorderBuffer);
        if end.side == Side::Sender {
            (ledger.round_trips, ledger.round_began) = (ledger.round_trips + 1, now);
        }
        (self.current, self.reason) = (*ledger, Reason::Packet);
        let received = self.current;
        let flow = self.begun(end.flow);
        if let Some(key) = key(&packets[packet]) {
            flow.lost.remove(&key);
        }
        let end = flow.end(end.side);
        (end.received, end.recovery) = (Some(received), Part::FastRecovery);
    }

    fn woken(&mut self, end: FlowEnd, wake: Wake) {
        let now = self.now;
        self.current = self.begun(end.flow).woken(now, end.side, wake);
        self.reason = Reason::Wake(wake);
    }

    /// The next message begins.
    fn wrote(&mut self, end: FlowEnd) {
        (self.current, self.reason) = (Ledger::new(self.now), Reason::Wake(Wake::Application));
        self.begun(end.flow).started = self.now;
    }

    /// A transport has sent a packet: its ledger continues the cause's or the lost packet's.
    fn sent(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        let (now, reason, current) = (self.now, self.reason, self.current);
        let flow = self.begun(end.flow);
        let lost = key(&packets[packet]).and_then(|key| flow.lost.remove(&key));
        let part = flow.end(end.side).recovery;
        // After an earlier recovery on the path of the cause, the loss did not delay this packet: that recovery did.
        let lost = lost.filter(|lost| lost.ledger.at >= current.recovered_at || is_recovery(reason));
        let mut ledger = flow.of_message(current);
        if let Some(Lost { ledger: until_loss, loss }) = lost {
            ledger = flow.of_message(until_loss);
            ledger.recover(now, part, Some(loss));
        } else if is_recovery(reason) {
            let time_ps = now.saturating_since(flow.end(end.side).sent.map_or(now, |sent| sent.at)).as_ps();
            ledger.note_recovery(Recovery { time_ps, part, loss: None });
        }
        let end = flow.end(end.side);
        end.sent = Some(ledger);
        if reason == Reason::Wake(Wake::Card) {
            end.held_back = Some(ledger);
        }
        *self.ledger(packet) = ledger;
    }

    fn held_back(&mut self, end: FlowEnd) {
        let current = self.current;
        let flow = self.begun(end.flow);
        flow.end(end.side).held_back = Some(flow.of_message(current));
    }

    fn deliver(&mut self, flow: FlowId, group: u32, number: u64) {
        let (now, ledger) = (self.now, self.current);
        assert!(ledger.at == now, "a message of {flow:?} is delivered at {now}, its ledger ends at {}", ledger.at);
        assert!(ledger.total_ps() == (now - ledger.origin).as_ps(), "the parts of {flow:?} do not add up");
        self.delivered.push(Delivered { flow, group, number, ledger });
    }

    /// Keeps the ledger of a lost packet for its repetition.
    fn lose(&mut self, packet: PacketHandle, packets: &PacketStore, loss: Loss) {
        let (now, descriptor) = (self.now, &packets[packet]);
        let Some(key) = key(descriptor) else { return };
        // Dropped from a queue, or at the end of a link.
        let part = if matches!(loss.place, Place::Link(_)) { Part::Propagation } else { Part::Queue };
        let ledger = self.ledger(packet).charged(now, part);
        if let Some(flow) = self.flow(descriptor.flow) {
            // A mechanism's copy can be lost, too: the time counts from the loss of the original.
            flow.lost.entry(key).or_insert(Lost { ledger, loss });
        }
    }

    /// Returns the ledger for a packet made by a mechanism: from the original, from its loss, or from its flow.
    fn of_copy(&mut self, packet: &Packet, packets: &PacketStore) -> Option<Ledger> {
        let (now, hooked) = (self.now, self.hooked);
        if hooked.0 != u32::MAX && packets[hooked].flow == packet.flow && packets[hooked].transport != Transport::None {
            let original = *self.ledger(hooked);
            // The time of a kept copy counts until it is sent.
            return Some(if original.is_copy { original } else { original.charged(now, Part::Queue) });
        }
        let flow = self.flow(packet.flow)?;
        let lost = key(packet).and_then(|key| flow.lost.get(&key)).map(|lost| lost.ledger);
        lost.or_else(|| flow.end(Side::Sender).sent).or_else(|| flow.end(Side::Receiver).sent)
    }

    /// Charges the way of a copy from its making to its line.
    fn send_copy(&mut self, packet: &Packet, handle: PacketHandle, until: Time) {
        let flow = self.flow(packet.flow);
        let loss = key(packet).and_then(|key| Some(flow?.lost.get(&key)?.loss));
        let ledger = self.ledger(handle);
        if packet.is_link_retransmission || loss.is_some() {
            ledger.recover(until, Part::LinkRecovery, loss);
        } else {
            ledger.charge(until, Part::Mechanism);
        }
    }
}

/// Whether a visit for this reason repeats packets.
fn is_recovery(reason: Reason) -> bool {
    matches!(reason, Reason::Wake(Wake::Sender(purpose)) if purpose != TimeoutPurpose::Pacing)
}

impl Edge for Autopsy {
    const IS_CLOSED: bool = true;
    const OBSERVES: bool = true;

    #[inline]
    fn set_time(&mut self, now: Time) {
        self.now = now;
    }

    #[inline]
    fn arrived(&mut self, packet: PacketHandle) {
        let now = self.now;
        let ledger = self.ledger(packet);
        ledger.charge(now, Part::Propagation);
        ledger.is_copy = false;
    }

    fn left_host(&mut self, host: HostId, packet: PacketHandle, packets: &PacketStore, last_bit_at: Time) {
        let (now, line) = (self.now, self.cards[host.0 as usize]);
        let starts_at = Time(last_bit_at.as_ps().saturating_sub(line.time_for(packets[packet].frame_bytes).as_ps()));
        let ledger = self.ledger(packet);
        ledger.charge(now, Part::Stack);
        ledger.charge(starts_at, Part::Card);
        ledger.charge(last_bit_at, Part::Serialisation);
    }

    fn transmitted(
        &mut self,
        switch: u32,
        port: PortId,
        packet: PacketHandle,
        packets: &PacketStore,
        last_bit_at: Time,
    ) {
        let descriptor = &packets[packet];
        let PortTiming { lead, egress_latency, line } = self.ports[switch as usize][usize::from(port.0)];
        let departs_at = Time(last_bit_at.as_ps().saturating_sub(egress_latency.as_ps()));
        let starts_at = Time(departs_at.as_ps().saturating_sub(line.time_for(descriptor.frame_bytes).as_ps()));
        let begins_at = self.ledger(packet).at;
        if self.ledger(packet).is_copy {
            self.send_copy(descriptor, packet, starts_at);
        }
        let paused = self.pauses.between((switch, port, descriptor.queue), begins_at, starts_at);
        let ledger = self.ledger(packet);
        ledger.charge((ledger.at + lead).min(starts_at), Part::Pipeline);
        ledger.charge((ledger.at + paused).min(starts_at), Part::Paused);
        ledger.wait(starts_at, switch, port);
        ledger.charge(departs_at, Part::Serialisation);
        ledger.charge(last_bit_at, Part::Pipeline);
    }

    fn scheduled(&mut self, at: Time, event: SwitchEvent) {
        let (now, (packet, part)) = match event {
            SwitchEvent::Enqueue { packet, .. } => (self.now, (packet, Part::Pipeline)),
            SwitchEvent::Loopback { packet, .. } | SwitchEvent::Release { packet } => (at, (packet, Part::Mechanism)),
            _ => return,
        };
        let ledger = self.ledger(packet);
        if !ledger.is_copy {
            // Only a mechanism takes a packet out of a queue again.
            ledger.charge(now, Part::Mechanism);
            ledger.charge(at, part);
        }
    }

    fn hook_ran(&mut self, packet: PacketHandle) {
        self.hooked = packet;
    }

    fn paused(&mut self, queue: (u32, PortId, QueueId), is_paused: bool) {
        self.pauses.note(self.now, queue, is_paused);
    }

    fn created(&mut self, _switch: u32, packet: PacketHandle, packets: &PacketStore) {
        let descriptor = &packets[packet];
        if descriptor.transport != Transport::None
            && let Some(original) = self.of_copy(descriptor, packets)
        {
            *self.ledger(packet) = Ledger { is_copy: true, ..original };
        }
    }

    fn lost(&mut self, link: u32, packet: PacketHandle, packets: &PacketStore, fate: Fate) {
        let cause = if fate == Fate::LostDown { Cause::LinkDown } else { Cause::Corrupted };
        self.lose(packet, packets, Loss { place: Place::Link(link), cause });
    }

    fn ended(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore, reason: DropReason) {
        if reason.is_loss() {
            let place = Place::Port(switch, packets[packet].egress_port);
            self.lose(packet, packets, Loss { place, cause: Cause::Switch(reason) });
        }
    }

    fn host_step(&mut self, step: HostStep, packets: &PacketStore) {
        match step {
            HostStep::Reached(packet) => {
                let now = self.now;
                self.ledger(packet).charge(now, Part::Stack);
            }
            HostStep::Received(end, packet) => self.received(end, packet, packets),
            HostStep::Woken(end, wake) => self.woken(end, wake),
            HostStep::Wrote(end) => self.wrote(end),
            HostStep::HeldBack(end) => self.held_back(end),
            HostStep::Sent(end, packet) => self.sent(end, packet, packets),
            HostStep::Delivered { end, group, number } => self.deliver(end.flow, group, number),
        }
    }

    fn refused_by_card(&mut self, host: HostId, packet: PacketHandle, packets: &PacketStore) {
        self.lose(packet, packets, Loss { place: Place::Host(host.0), cause: Cause::CardFull });
    }

    fn flow_ended(&mut self, flow: FlowId) {
        if let Some(slot) = self.flows.get_mut(flow.0 as usize) {
            *slot = None;
        }
    }

    /// Each delivered message has an autopsy, from its start to its delivery.
    fn violations(&self, records: &FlowRecords) -> Vec<String> {
        let span = |row: &Delivered| ((row.flow, row.number), (row.ledger.origin, row.ledger.at));
        let known: BTreeMap<_, _> = self.delivered.iter().map(span).collect();
        let is_wrong = |message: &&MessageRecord| {
            let found = known.get(&(message.flow, message.number));
            message.delivered != Time::NEVER && found != Some(&(message.started, message.delivered))
        };
        let wrong = records.messages.iter().chain(&records.unfinished).find(is_wrong);
        let told = |message: &MessageRecord| {
            let found = known.get(&(message.flow, message.number));
            format!("the autopsy of {message:?} has other ends: {found:?}")
        };
        wrong.map(told).into_iter().collect()
    }

    fn tables(&self, scenario: &Scenario, topology: &Topology) -> Vec<Table> {
        vec![table::table(&self.delivered, scenario, topology)]
    }
}
