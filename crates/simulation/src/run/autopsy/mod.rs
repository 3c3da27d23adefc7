//! The autopsy of completion times: each packet carries a ledger, a message's completion time divided into parts.
//!
//! A packet's ledger starts as a copy of its cause's ledger: the packet or the timer that made a transport send it.
//! Each step of the packet charges the time since its last step to a part. A retransmission takes the ledger of the
//! lost packet, and charges the time since the loss. So the ledger of the packet that completes a message divides the
//! message's time along its critical path, without remainder. Nothing here schedules an event: the run is the same.

mod departures;
mod flows;
mod front;
mod kind;
mod ledger;
mod losses;
mod parts;
mod pauses;
mod port;
mod rare;
mod table;

use std::collections::BTreeMap;

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{FlowId, HostId, LineTiming, Packet, PortId, QueueId, Time, Transport};
use hitless_hosts::{FlowEnd, FlowRecords, HostStep, MessageRecord, Side, TimeoutPurpose, Wake};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Topology;
use hitless_switch::{DropReason, Stop, Switch, SwitchEvent};

use super::edge::Edge;
use super::network::Network;
use crate::link::Fate;
use crate::results::Table;
use departures::{Departure, Departures};
use flows::{Flow, Lost, key};
use front::{Front, Tally};
use kind::{Frame, Kind, Makers};
use ledger::{Delivered, Ledger};
use parts::{Cause, Loss, Part, Place, Recovery};
use pauses::{Pauses, Queue};
use port::{PAUSED_PS, Port};
use rare::RareLedgers;

/// A packet's ledger: a hop uses one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct OfPacket(Ledger);

/// The reason of the steps of a flow now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Packet,
    Wake(Wake),
}

/// The ledgers of a run.
pub(super) struct Autopsy {
    now: Time,
    /// By switch and port.
    ports: Vec<Port>,
    /// Entries for each switch: the maximum number of ports.
    stride: usize,
    cards: Vec<LineTiming>,
    pauses: Pauses,
    /// Pauses and closures by mechanisms.
    closures: Pauses,
    card_pauses: Pauses,
    makers: Makers,
    departures: Departures,
    tally: Tally,
    /// By packet.
    ledgers: Vec<OfPacket>,
    /// By packet: its port plus one while it waits at a port with managed queues, or 0.
    waiting_at: Vec<u32>,
    rares: RareLedgers,
    /// By flow; `None` after its end.
    flows: Vec<Option<Box<Flow>>>,
    /// The ledger and the reason of the packets that a transport sends now.
    current: Ledger,
    reason: Reason,
    /// Whether the reason is the end of a wait for a loss.
    is_recovering: bool,
    /// The packet that hooks of a switch handle now; invalid for an event without a packet.
    hooked: PacketHandle,
    delivered: Vec<Delivered>,
    /// The rare parts of delivered messages.
    delivered_rares: RareLedgers,
    delivered_fronts: Vec<Front>,
}

impl Autopsy {
    /// Prepares the autopsy of a run on `network`.
    pub fn new<E: Edge>(network: &Network<E>) -> Self {
        let switches = &network.switches;
        let stride = switches.iter().map(Switch::port_count).max().unwrap_or(0);
        let mut ports = Vec::with_capacity(stride * switches.len());
        for switch in switches {
            ports.extend((0..stride).map(|port| Port::of(switch, port)));
        }
        let (makers, cards) = (Makers::new(switches), network.hosts.lines().collect());
        Self { stride, ports, cards, makers, ..Self::default() }
    }
}

/// The autopsy of an empty network.
impl Default for Autopsy {
    fn default() -> Self {
        Self {
            now: Time::ZERO,
            ports: Vec::new(),
            stride: 0,
            cards: Vec::new(),
            pauses: Pauses::default(),
            closures: Pauses::default(),
            card_pauses: Pauses::default(),
            makers: Makers::default(),
            departures: Departures::default(),
            tally: Tally::default(),
            ledgers: Vec::new(),
            waiting_at: Vec::new(),
            rares: RareLedgers::default(),
            flows: Vec::new(),
            current: Ledger::new(Time::ZERO),
            reason: Reason::Packet,
            is_recovering: false,
            hooked: PacketHandle(u32::MAX),
            delivered: Vec::new(),
            delivered_rares: RareLedgers::default(),
            delivered_fronts: Vec::new(),
        }
    }
}

impl Autopsy {
    /// The ledger of a packet, and the rare parts. A packet of a switch has one without a meaning.
    #[inline(always)]
    fn books(&mut self, packet: PacketHandle) -> (&mut Ledger, &mut RareLedgers) {
        let slot = packet.0 as usize;
        if slot >= self.ledgers.len() {
            self.make_room(slot);
        }
        (&mut self.ledgers[slot].0, &mut self.rares)
    }

    #[inline(always)]
    fn ledger(&mut self, packet: PacketHandle) -> &mut Ledger {
        self.books(packet).0
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, slot: usize) {
        self.ledgers.resize(slot + 1, OfPacket(Ledger::new(Time::ZERO)));
        self.waiting_at.resize(slot + 1, 0);
    }

    fn flow(&mut self, flow: FlowId) -> Option<&mut Flow> {
        self.flows.get_mut(flow.0 as usize)?.as_deref_mut()
    }

    /// Makes sure that the flow exists; it begins now if it is new.
    #[inline(always)]
    fn begin(&mut self, flow: FlowId) -> usize {
        let slot = flow.0 as usize;
        if !matches!(self.flows.get(slot), Some(Some(_))) {
            self.add_flow(slot);
        }
        slot
    }

    #[cold]
    #[inline(never)]
    fn add_flow(&mut self, slot: usize) {
        if slot >= self.flows.len() {
            self.flows.resize_with(slot + 1, || None);
        }
        self.flows[slot] = Some(Box::new(Flow::new(self.now)));
    }

    /// Frees the rare parts and the departures of paths that have ended.
    #[cold]
    #[inline(never)]
    fn collect(&mut self) {
        let joined = self.departures.are_due().then(|| self.joined());
        let Self { now, ledgers, flows, current, rares, departures, ports, tally, .. } = self;
        let packets = ledgers.len();
        let of_flows = flows.iter_mut().flatten().flat_map(|flow| flow.ledgers());
        let all = ledgers.iter_mut().map(|of_packet| &mut of_packet.0).chain(of_flows).chain([current]);
        if let Some(joined) = joined {
            let waits = all.map(|ledger| &mut ledger.longest_wait);
            departures.collect((*now, packets), waits, joined, ports, tally);
        } else if rares.are_due() {
            rares.collect(all.map(|ledger| &mut ledger.rare));
        }
    }

    /// The arrival of the oldest waiting packet at each port with managed queues.
    fn joined(&self) -> Vec<Time> {
        let mut joined = vec![Time::NEVER; self.ports.len()];
        for (waiting_at, OfPacket(ledger)) in self.waiting_at.iter().zip(&self.ledgers) {
            if let Some(place) = waiting_at.checked_sub(1) {
                let joined = &mut joined[place as usize];
                *joined = ledger.at.min(*joined);
            }
        }
        joined
    }

    /// A transport handles a packet.
    #[inline(always)]
    fn received(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        if self.rares.are_due() | self.departures.are_due() {
            self.collect();
        }
        let (now, slot) = (self.now, self.begin(end.flow));
        let (ledger, rares) = self.books(packet);
        ledger.charge(now, Part::ReorderBuffer, rares);
        if end.side == Side::Sender {
            (ledger.round_trips, ledger.round_began) = (ledger.round_trips + 1, now);
        }
        let received = *ledger;
        // The packet has ended: its wait need not be kept.
        ledger.longest_wait = 0;
        (self.current, self.reason, self.is_recovering) = (received, Reason::Packet, false);
        let Some(flow) = &mut self.flows[slot] else { return };
        if !flow.lost.is_empty() && !received.kind.is_trimmed() {
            flow.found(&packets[packet]);
        }
        let end = flow.end(end.side);
        (end.received, end.recovery) = (Some(received), Part::FastRecovery);
    }

    fn woken(&mut self, end: FlowEnd, wake: Wake) {
        if self.rares.are_due() | self.departures.are_due() {
            self.collect();
        }
        let (now, slot) = (self.now, self.begin(end.flow));
        let Some(flow) = &mut self.flows[slot] else { return };
        self.current = flow.woken(now, (end.side, wake), &self.card_pauses, &mut self.rares);
        self.reason = Reason::Wake(wake);
        self.is_recovering = is_recovery(self.reason);
    }

    /// The next message begins.
    fn wrote(&mut self, end: FlowEnd) {
        (self.current, self.reason) = (Ledger::new(self.now), Reason::Wake(Wake::Application));
        self.is_recovering = false;
        let (now, slot) = (self.now, self.begin(end.flow));
        self.flows[slot].iter_mut().for_each(|flow| flow.started = now);
    }

    /// A transport has sent a packet: its ledger continues the cause's or the lost packet's.
    #[inline(always)]
    fn sent(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        let slot = self.begin(end.flow);
        let Some(flow) = &self.flows[slot] else { return };
        if self.current.origin < flow.started || self.is_recovering || !flow.lost.is_empty() {
            return self.sent_slowly(end, packet, packets);
        }
        self.keep_sent(self.current, end, packet);
    }

    /// Keeps the ledger of a packet that a transport has sent.
    #[inline(always)]
    fn keep_sent(&mut self, ledger: Ledger, at: FlowEnd, packet: PacketHandle) {
        *self.ledger(packet) = Ledger { kind: Kind::sent(at.side == Side::Receiver), ..ledger };
        let Some(Some(flow)) = self.flows.get_mut(at.flow.0 as usize) else { return };
        let end = flow.end(at.side);
        end.sent = Some(ledger);
        if self.reason == Reason::Wake(Wake::Card) {
            end.held_back = Some(ledger);
        }
    }

    /// A transport has sent a packet for a new message, or a possible repetition of a lost packet.
    #[cold]
    #[inline(never)]
    fn sent_slowly(&mut self, end: FlowEnd, packet: PacketHandle, packets: &PacketStore) {
        let Some(flow) = self.flows.get(end.flow.0 as usize).and_then(|flow| flow.as_deref()) else { return };
        let ledger = flow.of_message(self.current, &mut self.rares);
        let ledger = self.repeated(ledger, end, &packets[packet]);
        self.keep_sent(ledger, end, packet);
    }

    /// Returns the ledger of a packet that could repeat a lost one; `ledger` is its cause's.
    fn repeated(&mut self, mut ledger: Ledger, end: FlowEnd, packet: &Packet) -> Ledger {
        let (now, is_recovering) = (self.now, self.is_recovering);
        let recovered_at = self.rares.of(self.current.rare).recovered_at;
        let Some(Some(flow)) = self.flows.get_mut(end.flow.0 as usize) else { return ledger };
        let lost = key(packet).and_then(|key| flow.lost.remove(&key));
        let part = flow.end(end.side).recovery;
        // After an earlier recovery on the path of the cause, the loss did not delay this packet: that recovery did.
        let lost = lost.filter(|lost| lost.ledger.at >= recovered_at || is_recovering);
        if let Some(Lost { ledger: until_loss, loss }) = lost {
            ledger = flow.of_message(until_loss, &mut self.rares);
            ledger.recover(now, part, Some(loss), &mut self.rares);
        } else if is_recovering {
            let time_ps = now.saturating_since(flow.end(end.side).sent.map_or(now, |sent| sent.at)).as_ps();
            ledger.note_recovery(Recovery { time_ps, part, loss: None }, &mut self.rares);
        }
        ledger
    }

    fn held_back(&mut self, end: FlowEnd, (host, class): (HostId, u8)) {
        let slot = self.begin(end.flow);
        let Some(flow) = &mut self.flows[slot] else { return };
        let ledger = flow.of_message(self.current, &mut self.rares);
        flow.end(end.side).hold_back(ledger, class_of_card(host, class));
    }

    /// Charges the wait in the queue of a card with flow control.
    #[cold]
    #[inline(never)]
    fn dequeued(&mut self, packet: PacketHandle, descriptor: &Packet) {
        let (now, joined_at) = (self.now, self.ledger(packet).at);
        let class = class_of_card(descriptor.source, descriptor.class & 7);
        let paused = self.card_pauses.between(class, joined_at, now);
        let (ledger, rares) = self.books(packet);
        ledger.charge((joined_at + paused).min(now), Part::Paused, rares);
        ledger.charge(now, Part::Card, rares);
    }

    fn deliver(&mut self, flow: FlowId, group: u32, number: u64, bytes: u64) {
        let (now, mut ledger) = (self.now, self.current);
        assert!(ledger.at == now, "a message of {flow:?} is delivered at {now}, its ledger ends at {}", ledger.at);
        let total_ps: u64 = ledger.parts(self.rares.of(ledger.rare)).iter().sum();
        assert!(total_ps == (now - ledger.origin).as_ps(), "the parts of {flow:?} do not add up");
        ledger.rare = self.delivered_rares.adopt(ledger.rare, &self.rares);
        if ledger.longest_wait != 0 {
            let front = self.departures.front(ledger.longest_wait, &self.ports, &mut self.tally);
            self.delivered_fronts.push(front);
            ledger.longest_wait = self.delivered_fronts.len() as u32;
        }
        self.delivered.push(Delivered { flow, group, number, bytes, ledger });
    }

    /// The port, by its place in `ports`.
    #[inline(always)]
    fn place_of(&self, switch: u32, port: PortId) -> usize {
        switch as usize * self.stride + usize::from(port.0)
    }

    /// Charges the way of a packet on the shortcut that was no shortcut: its port pauses.
    #[cold]
    #[inline(never)]
    fn passed_slowly(&mut self, to: (u32, PortId), packet: PacketHandle, packets: &PacketStore, last_bit_at: Time) {
        self.arrived(packet);
        self.transmitted(to.0, to.1, packet, packets, last_bit_at);
    }
}

/// The class of a network card, as a queue of [`Pauses`].
const fn class_of_card(host: HostId, class: u8) -> Queue {
    (host.0, PortId(0), QueueId(class))
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

    fn arrived(&mut self, packet: PacketHandle) {
        let now = self.now;
        let (ledger, rares) = self.books(packet);
        ledger.charge(now, Part::Propagation, rares);
        ledger.kind = ledger.kind.arrived();
    }

    // The time on links is charged when the packet leaves the shortcuts: it is the rest.
    #[inline(always)]
    fn passed(&mut self, to: (u32, PortId), packet: PacketHandle, packets: &PacketStore, last_bit_at: Time) {
        let place = self.place_of(to.0, to.1);
        let (port, descriptor) = (&mut self.ports[place], &packets[packet]);
        let line_ps = port.line.time_for(descriptor.frame_bytes).as_ps();
        let (shortcut_ps, through_ps) = (port.shortcut_ps, (last_bit_at - self.now).as_ps());
        let fast = self.ledgers.get_mut(packet.0 as usize).filter(|_| through_ps >= shortcut_ps + line_ps);
        let Some(OfPacket(ledger)) = fast else { return self.passed_slowly(to, packet, packets, last_bit_at) };
        ledger.kind = ledger.kind.arrived();
        port.latest = self.departures.add(Departure {
            arrived_at: self.now,
            last_bit_at,
            before: port.latest,
            flow: descriptor.flow,
            place: place as u32,
            frame: Frame::new(descriptor.frame_bytes, ledger.kind),
        });
        ledger.wait(through_ps - shortcut_ps - line_ps, port.latest);
        ledger.pipeline_ps += shortcut_ps;
        ledger.serialisation_ps += line_ps;
        ledger.at = Time(ledger.at.as_ps() + through_ps);
    }

    #[inline(always)]
    fn left_host(&mut self, host: HostId, packet: PacketHandle, packets: &PacketStore, last_bit_at: Time) {
        let now = self.now;
        let line_time = self.cards[host.0 as usize].time_for(packets[packet].frame_bytes);
        let starts_at = Time(last_bit_at.as_ps().saturating_sub(line_time.as_ps()));
        let (ledger, rares) = self.books(packet);
        ledger.charge(now, Part::Stack, rares);
        ledger.charge(starts_at, Part::Card, rares);
        ledger.charge(last_bit_at, Part::Serialisation, rares);
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
        if descriptor.is_trimmed() {
            self.note_trim(switch, packet, packets);
        }
        let place = self.place_of(switch, port);
        let port_state = self.ports[place];
        let departs_at = port_state.left_at(last_bit_at);
        let line_time = port_state.line.time_for(descriptor.frame_bytes);
        let starts_at = Time(departs_at.as_ps().saturating_sub(line_time.as_ps()));
        let Ledger { at: begins_at, kind, .. } = *self.ledger(packet);
        self.waiting_at[packet.0 as usize] = 0;
        let departure = self.departures.add(Departure {
            arrived_at: begins_at,
            last_bit_at,
            before: port_state.latest,
            flow: descriptor.flow,
            place: place as u32,
            frame: Frame::new(descriptor.frame_bytes, kind),
        });
        self.ports[place].latest = departure;
        if kind.is_copy() {
            self.send_copy(descriptor, packet, starts_at);
        }
        let queue = (switch, port, descriptor.queue);
        let paused = self.pauses.between(queue, begins_at, starts_at);
        let closed = self.closures.between(queue, begins_at, starts_at);
        let (ledger, rares) = self.books(packet);
        ledger.charge((ledger.at + port_state.lead).min(starts_at), Part::Pipeline, rares);
        ledger.charge((ledger.at + paused).min(starts_at), Part::Paused, rares);
        ledger.charge((ledger.at + closed).min(starts_at), Part::Mechanism, rares);
        let time_ps = starts_at.saturating_since(ledger.at).as_ps();
        ledger.wait(time_ps, departure);
        ledger.at = ledger.at.max(starts_at);
        ledger.charge(departs_at, Part::Serialisation, rares);
        ledger.charge(last_bit_at, Part::Pipeline, rares);
    }

    fn scheduled(&mut self, switch: u32, at: Time, event: SwitchEvent, packets: &PacketStore) {
        let (now, (packet, part)) = match event {
            SwitchEvent::Enqueue { packet, .. } => (self.now, (packet, Part::Pipeline)),
            SwitchEvent::Loopback { packet, .. } | SwitchEvent::Release { packet } => (at, (packet, Part::Mechanism)),
            _ => return,
        };
        if packets[packet].is_trimmed() {
            self.note_trim(switch, packet, packets);
        }
        let place = self.place_of(switch, packets[packet].egress_port) as u32;
        let is_queued = !matches!(event, SwitchEvent::Loopback { .. });
        let (ledger, rares) = self.books(packet);
        if !ledger.kind.is_copy() {
            // Only a mechanism takes a packet out of a queue again.
            ledger.charge(now, Part::Mechanism, rares);
            ledger.charge(at, part, rares);
        }
        self.waiting_at[packet.0 as usize] = if is_queued { place + 1 } else { 0 };
    }

    fn hook_ran(&mut self, packet: PacketHandle) {
        self.hooked = packet;
    }

    fn stopped(&mut self, queue: (u32, PortId, QueueId), by: Stop) {
        if by == Stop::Partner {
            let place = self.place_of(queue.0, queue.1);
            self.ports[place].shortcut_ps = PAUSED_PS;
        }
        self.pauses.note(self.now, queue, by == Stop::Partner);
        self.closures.note(self.now, queue, by == Stop::Mechanism);
    }

    fn created(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore) {
        let descriptor = &packets[packet];
        let maker = self.makers.of(switch, descriptor);
        if descriptor.transport == Transport::None {
            *self.ledger(packet) = Ledger { kind: Kind::void(maker), ..Ledger::new(self.now) };
        } else if let Some(original) = self.of_copy(descriptor, packets) {
            *self.ledger(packet) = Ledger { kind: original.kind.copied(maker), ..original };
        } else {
            *self.ledger(packet) = Ledger { kind: Kind::DATA.copied(maker), ..Ledger::new(self.now) };
        }
    }

    fn lost(&mut self, link: u32, packet: PacketHandle, packets: &PacketStore, fate: Fate) {
        let cause = if fate == Fate::LostDown { Cause::LinkDown } else { Cause::Corrupted };
        self.lose(packet, packets, Loss { place: Place::Link(link), cause });
    }

    fn ended(&mut self, switch: u32, packet: PacketHandle, packets: &PacketStore, reason: DropReason) {
        self.ledger(packet);
        self.waiting_at[packet.0 as usize] = 0;
        if reason.is_loss() {
            let place = Place::Port(switch, packets[packet].egress_port);
            self.lose(packet, packets, Loss { place, cause: Cause::Switch(reason) });
        }
    }

    #[inline(always)]
    fn host_step(&mut self, step: HostStep, packets: &PacketStore) {
        match step {
            HostStep::Reached(packet) | HostStep::Queued(packet) => {
                let now = self.now;
                let (ledger, rares) = self.books(packet);
                ledger.charge(now, Part::Stack, rares);
            }
            HostStep::Received(end, packet) => self.received(end, packet, packets),
            HostStep::Woken(end, wake) => self.woken(end, wake),
            HostStep::Wrote(end) => self.wrote(end),
            HostStep::HeldBack(end, line) => self.held_back(end, line),
            HostStep::Dequeued(packet) => self.dequeued(packet, &packets[packet]),
            HostStep::CardPaused { host, class, is_paused } => {
                self.card_pauses.note(self.now, class_of_card(host, class), is_paused);
            }
            HostStep::Sent(end, packet) => self.sent(end, packet, packets),
            HostStep::Delivered { end, group, number, bytes } => self.deliver(end.flow, group, number, bytes),
        }
    }

    fn refused_by_card(&mut self, host: HostId, packet: PacketHandle, packets: &PacketStore) {
        self.lose(packet, packets, Loss { place: Place::Host(host.0), cause: Cause::CardFull });
    }

    fn flow_added(&mut self, group: u32) {
        self.tally.add_flow(group);
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
        table::Delivery {
            delivered: &self.delivered,
            rares: &self.delivered_rares,
            fronts: &self.delivered_fronts,
            tally: &self.tally,
            makers: &self.makers,
            stride: self.stride,
        }
        .tables(scenario, topology)
    }
}
