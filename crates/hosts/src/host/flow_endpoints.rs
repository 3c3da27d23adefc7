//! The layer between a flow's transports, its hosts and the application, for any transport.
//!
//! The code for packets is generic over the transport: [`super::half_connection::HalfConnection`] dispatches once per
//! visit, and the compiler can inline the rest.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{FlowId, HostId, Packet, Time};

use super::appended::Message;
use super::deliveries::Deliveries;
use super::environment::HostEnvironment;
use super::event::{Direction, FlowEnd, HostEvent, HostStep, Side, Timer, Wake};
use super::gro::{ReceiveRing, Segment};
use super::ports::Way;
use super::priority_tagger::PriorityTagger;
use super::progress::{Progress, Step};
use super::reorder_buffer::ReorderBuffer;
use super::state::HostState;
use super::timers::PendingTimers;
use crate::application::{FlowOutcome, MessageRecord};
use crate::stack::DelayLine;
use crate::transport::{Outgoing, Receiver, Sender, uet};

/// A visit to one end of a flow: the time, the host, and the driver.
pub struct Visit<'a, E> {
    pub now: Time,
    pub host: &'a mut HostState,
    pub env: &'a mut E,
    /// Slot of the delivered packet, for reuse by a packet in return.
    pub spare: Option<PacketHandle>,
}

impl<'a, E: HostEnvironment> Visit<'a, E> {
    #[inline]
    pub fn new(now: Time, host: &'a mut HostState, env: &'a mut E) -> Self {
        Self { now, host, env, spare: None }
    }

    /// Frees the slot of the delivered packet if it was not reused.
    #[inline]
    pub fn end(self) {
        if let Some(slot) = self.spare {
            self.env.packets().remove(slot);
        }
    }
}

/// Fields that all packets of one end share.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Template {
    flow: FlowId,
    source: HostId,
    destination: HostId,
    flow_hash: u32,
    class: u8,
    ttl: u8,
}

/// The host's state for one end of a flow, besides the transport. The fields up to the earliest timer are hot.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct Endpoint {
    template: Template,
    /// Whether packets of this end have a delay in the host's stack or a choice of ports.
    delays_send: bool,
    timers: PendingTimers,
    /// Packets that wait for the kernel's poll.
    ring: Option<Box<ReceiveRing>>,
    send_line: DelayLine,
    receive_line: DelayLine,
}

impl Endpoint {
    pub fn new(template: Packet, host: &HostState, on_network_card: bool) -> Self {
        let ring = host.gro(on_network_card).map(|config| Box::new(ReceiveRing::new(config)));
        let Packet { flow, source, destination, flow_hash, class, ttl, .. } = template;
        Self {
            template: Template { flow, source, destination, flow_hash, class, ttl },
            delays_send: host.stack(on_network_card).send.is_some()
                || host.ports.is_some()
                || host.class_queues.is_some(),
            timers: PendingTimers::NONE,
            send_line: DelayLine::default(),
            receive_line: DelayLine::default(),
            ring,
        }
    }

    /// Returns whether packets that arrive for this end have to wait.
    pub fn delays_receive(&self, host: &HostState, on_network_card: bool) -> bool {
        self.ring.is_some() || host.stack(on_network_card).receive.is_some()
    }

    /// Writes a packet into a slot, the spare one if possible.
    #[inline]
    fn put(&self, outgoing: &Outgoing, spare: Option<PacketHandle>, packets: &mut PacketStore) -> PacketHandle {
        // An acknowledgement reuses the slot of the packet that it acknowledges, which is in the cache.
        let slot = spare.unwrap_or_else(|| packets.reserve());
        let Template { flow, source, destination, flow_hash, class, ttl } = self.template;
        let &Outgoing { transport, frame_bytes, ecn } = outgoing;
        let rest = Packet::default();
        packets[slot] =
            Packet { frame_bytes, flow, source, destination, flow_hash, class, ecn, ttl, transport, ..rest };
        slot
    }
}

/// The request before a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Asked {
    pub started: Time,
    pub requested: Option<Time>,
}

/// An active flow without its transports.
///
/// Each end's hot fields share a cache line of the connection: the goal of the state above the transport, the state
/// below it, and the first fields of the endpoint. The fields of both ends come first.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct FlowEndpoints {
    pub id: FlowId,
    pub direction: Direction,
    pub on_network_card: bool,
    /// Whether the card's backlog holds the sender back.
    pub limited_by_card: bool,
    /// Whether the flow waits in its host's line for the card.
    pub waiting: bool,
    /// Whether either host delays received packets, by its stack or by polling.
    pub delays_receive: bool,
    /// Whether packets of the flow can take different ports of a host.
    pub spreads: bool,
    /// Set when the sending end has ended.
    pub outcome: Option<FlowOutcome>,
    pub receiver_host: HostId,
    /// State above the sender.
    pub progress: Progress,
    /// State below the sender.
    pub tagger: Option<Box<PriorityTagger>>,
    pub sender_end: Endpoint,
    /// Set for a response once it has started.
    pub asked: Option<Asked>,
    pub tag: u32,
    /// State above the receiver.
    pub deliveries: Deliveries,
    /// State below the receiver.
    pub reorder_buffer: Option<Box<ReorderBuffer>>,
    pub receiver_end: Endpoint,
}

impl FlowEndpoints {
    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        let of_end = |end: &Endpoint| u64::from(end.template.ttl) ^ u64::from(end.delays_send);
        of_end(&self.sender_end) ^ of_end(&self.receiver_end) ^ u64::from(self.waiting)
    }

    #[inline]
    pub fn host(&self, side: Side) -> HostId {
        match side {
            Side::Sender => self.sender_end.template.source,
            Side::Receiver => self.receiver_host,
        }
    }

    /// Returns packets with the addresses of the data and of the answers.
    pub fn addresses(&self) -> [Packet; 2] {
        [&self.sender_end, &self.receiver_end].map(|end| {
            let Template { flow, source, destination, flow_hash, class, ttl } = end.template;
            Packet { flow, source, destination, flow_hash, class, ttl, ..Packet::default() }
        })
    }

    pub fn end_at(&self, side: Side) -> FlowEnd {
        FlowEnd { flow: self.id, side: if self.direction == Direction::Flow { side } else { side.other() } }
    }

    #[inline(always)]
    pub fn wake<E: HostEnvironment>(&self, side: Side, wake: Wake, env: &mut E) {
        if E::OBSERVES {
            env.observe(HostStep::Woken(self.end_at(side), wake));
        }
    }

    #[inline]
    fn end_mut(&mut self, side: Side) -> &mut Endpoint {
        match side {
            Side::Sender => &mut self.sender_end,
            Side::Receiver => &mut self.receiver_end,
        }
    }

    /// Returns when a packet from the link reaches the transport; `None` without a delay.
    ///
    /// With a delay the result can still be `now`, but the packet must not overtake earlier ones.
    pub fn delivery_time(&mut self, now: Time, side: Side, host: &mut HostState) -> Option<Time> {
        let delay = host.stack(self.on_network_card).receive?;
        Some(self.end_mut(side).receive_line.exit(now, &delay, &mut host.stream))
    }

    pub fn ring(&mut self, side: Side) -> Option<&mut ReceiveRing> {
        self.end_mut(side).ring.as_deref_mut()
    }

    pub fn class(&self) -> u8 {
        self.sender_end.template.class
    }

    /// Handles a timer event; returns whether it is still relevant.
    pub fn fire_timer(&mut self, now: Time, side: Side) -> bool {
        self.end_mut(side).timers.fire(now)
    }

    /// Delivers a packet to the sender; its slot is freed or reused for a packet in return. Not inlined: each transport
    /// gets a separate function, with all registers to itself.
    #[inline(never)]
    pub fn sender_received<S: Sender, R: Receiver, E: HostEnvironment>(
        &mut self,
        packet: PacketHandle,
        sender: &mut S,
        receiver: &R,
        now: Time,
        host: &mut HostState,
        env: &mut E,
    ) {
        if E::OBSERVES {
            env.observe(HostStep::Received(self.end_at(Side::Sender), packet));
        }
        let mut visit = Visit { now, host, env, spare: Some(packet) };
        sender.receive(now, &visit.env.packets()[packet]);
        self.serve_sender(sender, receiver, &mut visit);
        visit.end();
    }

    /// Delivers a packet to the receiver; returns whether the application has something to do.
    #[inline(never)]
    pub fn receiver_received<R: Receiver, E: HostEnvironment>(
        &mut self,
        segment: Segment,
        receiver: &mut R,
        now: Time,
        host: &mut HostState,
        env: &mut E,
    ) -> bool {
        if E::OBSERVES {
            env.observe(HostStep::Received(self.end_at(Side::Receiver), segment.packet));
        }
        let mut visit = Visit { now, host, env, spare: Some(segment.packet) };
        let packet = &visit.env.packets()[segment.packet];
        receiver.receive_merged(now, packet, segment.frames);
        if let Some(delay) = receiver.latest_delay() {
            visit.env.datagram_delivered(self.id, delay);
        }
        let enough = self.serve_receiver(receiver, &mut visit);
        visit.end();
        enough
    }

    /// Gives the flow a turn at the drained card: it sends one packet and then waits again.
    pub fn take_turn<S: Sender, R: Receiver, E: HostEnvironment>(
        &mut self,
        sender: &mut S,
        receiver: &R,
        visit: &mut Visit<E>,
    ) {
        self.wake(Side::Sender, Wake::Card, visit.env);
        let sent = self.send(sender, visit);
        let wrote = self.sender_advanced(sender, receiver, visit);
        self.waiting = sent || wrote;
        if self.waiting {
            visit.host.wait_again(self.id);
        }
        self.arm_sender(sender, visit);
    }

    /// Sends everything that the sender may send now, and arms its timer.
    #[inline]
    pub fn serve_sender<S: Sender, R: Receiver, E: HostEnvironment>(
        &mut self,
        sender: &mut S,
        receiver: &R,
        visit: &mut Visit<E>,
    ) {
        loop {
            self.send_all(sender, visit);
            if !self.sender_advanced(sender, receiver, visit) {
                break;
            }
        }
        self.arm_sender(sender, visit);
    }

    #[inline(always)]
    fn send_all<S: Sender, E: HostEnvironment>(&mut self, sender: &mut S, visit: &mut Visit<E>) {
        while !self.waiting {
            // The flow waits in line for the card instead of filling the card's queue.
            if self.limited_by_card && !visit.host.may_send(visit.now) && self.waits_for_card(visit) {
                return;
            }
            if !self.send(sender, visit) {
                return;
            }
        }
    }

    /// Puts the flow in line if it must wait for its card.
    #[inline(never)]
    fn waits_for_card<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) -> bool {
        if visit.host.ports.is_some() {
            self.waiting = visit.host.waits_for_port(visit.now, self.id, self.way(), visit.env);
        } else if visit.host.class_queues.is_some() {
            self.waiting = visit.host.waits_for_class(visit.now, self.id, self.class(), visit.env);
        } else {
            self.waiting = true;
            visit.host.wait(visit.now, self.id, visit.env);
        }
        if E::OBSERVES && self.waiting {
            let line = (visit.host.id, self.class());
            visit.env.observe(HostStep::HeldBack(self.end_at(Side::Sender), line));
        }
        self.waiting
    }

    pub fn way(&self) -> Way {
        let Template { destination, flow_hash, .. } = self.sender_end.template;
        Way { destination, flow_hash, spreads: self.spreads }
    }

    /// Sends one packet; returns false if there is none.
    #[inline(always)]
    fn send<S: Sender, E: HostEnvironment>(&mut self, sender: &mut S, visit: &mut Visit<E>) -> bool {
        if S::SPREADS {
            sender.share_card(|| 1 + visit.host.flows_in_line());
        }
        let (end, spare, packets) = (&self.sender_end, visit.spare, visit.env.packets());
        let put = move |outgoing: &Outgoing| (end.put(outgoing, spare, packets), outgoing.frame_bytes);
        let Some((packet, mut frame_bytes)) = sender.transmit_into(visit.now, put) else { return false };
        visit.spare = None;
        if S::SPREADS {
            uet::spread(&mut visit.env.packets()[packet]);
        }
        if let Some(tagger) = &mut self.tagger {
            let packet = &mut visit.env.packets()[packet];
            tagger.mark(visit.now, packet, sender.acknowledged_bytes());
            frame_bytes = packet.frame_bytes;
        }
        self.inject(Side::Sender, packet, frame_bytes, visit);
        true
    }

    /// Sends one packet of the receiving end; returns false if there is none.
    #[inline(always)]
    fn send_in_return<R: Receiver, E: HostEnvironment>(&mut self, receiver: &mut R, visit: &mut Visit<E>) -> bool {
        let (end, spare, packets) = (&self.receiver_end, visit.spare, visit.env.packets());
        let put = move |outgoing: &Outgoing| (end.put(outgoing, spare, packets), outgoing.frame_bytes);
        let Some((packet, frame_bytes)) = receiver.transmit_into(visit.now, put) else { return false };
        visit.spare = None;
        if R::SPREADS {
            uet::spread(&mut visit.env.packets()[packet]);
        }
        self.inject(Side::Receiver, packet, frame_bytes, visit);
        true
    }

    /// Sends the receiver's packets and arms its timer; returns whether the application has something to do.
    #[inline]
    pub fn serve_receiver<R: Receiver, E: HostEnvironment>(&mut self, receiver: &mut R, visit: &mut Visit<E>) -> bool {
        while self.send_in_return(receiver, visit) {}
        if let Some(at) = self.receiver_end.timers.arm(visit.now, receiver.next_timeout()) {
            visit.env.schedule(
                at,
                self.host(Side::Receiver),
                HostEvent::Timer(self.id, self.direction, Timer::Receiver),
            );
        }
        if receiver.enters_credit_queue() {
            visit.host.enter_credit_queue(visit.now, (self.id, self.direction), visit.env);
        }
        self.deliveries.wants(receiver.delivered_bytes())
    }

    /// Passes a packet to its host's stack. Inlined: a call would cost half as much as the work.
    #[inline(always)]
    fn inject<E: HostEnvironment>(&mut self, side: Side, packet: PacketHandle, frame_bytes: u32, visit: &mut Visit<E>) {
        visit.host.counts.injected += 1;
        if E::OBSERVES {
            visit.env.observe(HostStep::Sent(self.end_at(side), packet));
        }
        if self.end_mut(side).delays_send {
            return self.inject_delayed(side, packet, frame_bytes, visit.now, visit.host, visit.env);
        }
        visit.host.send_at_once(visit.now, packet, frame_bytes, visit.env);
    }

    #[cold]
    #[inline(never)]
    fn inject_delayed<E: HostEnvironment>(
        &mut self,
        side: Side,
        packet: PacketHandle,
        frame_bytes: u32,
        now: Time,
        host: &mut HostState,
        env: &mut E,
    ) {
        let delay = host.stack(self.on_network_card).send;
        if let Some(ports) = &mut host.ports {
            let port = ports.choose_for(&env.packets()[packet]);
            ports.card_mut(port).commit(now, frame_bytes);
            let Some(delay) = delay else { return host.send_by_port(now, port, packet, env) };
            let at = self.end_mut(side).send_line.exit(now, &delay, &mut host.stream);
            return env.schedule(at, host.id, HostEvent::EmitByPort(packet, port));
        }
        if let Some(queues) = &mut host.class_queues {
            let Some(delay) = delay else { return host.queue_by_class(now, packet, env) };
            queues.commit(now, env.packets()[packet].class, host.card.serialisation(frame_bytes));
            let at = self.end_mut(side).send_line.exit(now, &delay, &mut host.stream);
            return env.schedule(at, host.id, HostEvent::QueueByClass(packet));
        }
        let Some(delay) = delay else { return };
        // Committed before the delay, so that further senders see the frame's backlog already.
        host.card.commit(now, frame_bytes);
        let at = self.end_mut(side).send_line.exit(now, &delay, &mut host.stream);
        env.schedule(at, host.id, HostEvent::Emit(packet));
    }

    #[inline(always)]
    fn arm_sender<S: Sender, E: HostEnvironment>(&mut self, sender: &mut S, visit: &mut Visit<E>) {
        // A sender that waits for the card is polled when the card drains, so pacing needs no timer.
        let deadline = if self.waiting { sender.timeout_when_held_back(visit.now) } else { sender.next_timeout() };
        if let Some(at) = self.sender_end.timers.arm(visit.now, deadline) {
            visit.env.schedule(at, self.host(Side::Sender), HostEvent::Timer(self.id, self.direction, Timer::Sender));
        }
    }

    /// Lets the application react to the sender's progress; returns whether it wrote something.
    #[inline]
    fn sender_advanced<S: Sender, R: Receiver, E: HostEnvironment>(
        &mut self,
        sender: &mut S,
        receiver: &R,
        visit: &mut Visit<E>,
    ) -> bool {
        self.progress.wants_acknowledged(sender.acknowledged_bytes())
            && self.advance(visit.now, sender, receiver, visit.env)
    }

    /// Lets the application continue; returns whether it wrote something.
    #[inline(never)]
    pub fn advance<S: Sender, R: Receiver, E: HostEnvironment>(
        &mut self,
        now: Time,
        sender: &mut S,
        receiver: &R,
        env: &mut E,
    ) -> bool {
        let (acknowledged, delivered) = (sender.acknowledged_bytes(), receiver.delivered_bytes());
        let mut wrote = false;
        while let Some(step) = self.progress.advance(now, acknowledged, delivered) {
            match step {
                Step::Write(bytes) => {
                    if let Some(tagger) = &mut self.tagger {
                        tagger.wrote(bytes, acknowledged);
                    }
                    sender.write(now, bytes);
                    wrote = true;
                    // A response began with its request.
                    if E::OBSERVES && self.direction == Direction::Flow && self.asked.is_none() {
                        env.observe(HostStep::Wrote(self.end_at(Side::Sender)));
                    }
                }
                Step::Report(message) if self.direction == Direction::Flow => {
                    env.records().messages.push(self.record_of(message, self.asked));
                }
                Step::Report(_) => {}
                Step::NextMessageAt(at) => env.schedule(at, self.host(Side::Sender), HostEvent::NextMessage(self.id)),
            }
        }
        if let Some(goal) = self.progress.delivered_goal() {
            self.deliveries.set_goal(goal);
        }
        if self.progress.is_done() {
            self.outcome = Some(FlowOutcome::Completed);
        }
        wrote
    }

    /// Returns the record of a message; for a response it includes the request.
    pub fn record_of(&self, message: Message, asked: Option<Asked>) -> MessageRecord {
        let Message { number, bytes, delivered, acknowledged, .. } = message;
        let (flow, tag) = (self.id, self.tag);
        let Asked { started, requested } = asked.unwrap_or(Asked { started: message.started, requested: None });
        MessageRecord { flow, tag, number, bytes, started, requested, delivered, acknowledged }
    }
}
