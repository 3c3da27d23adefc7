//! A flow while it is active: both transports, their timers, and the application between them.

use hitless_engine::PacketHandle;
use hitless_wire::{FlowId, HostId, Packet, Time};

use super::progress::{Completion, Progress, Step};
use super::state::HostState;
use super::timers::PendingTimers;
use super::{HostEnvironment, HostEvent};
use crate::application::{FlowConfig, FlowOutcome, FlowRecord, MessageRecord, PacketCounts};
use crate::flow::{ReceiverState, SenderState, TransportConfig};
use crate::stack::DelayLine;
use crate::transport::{Outgoing, Receiver, Sender};

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Sender,
    Receiver,
}

/// What a host keeps for one end of a flow beside the transport.
#[derive(Clone, Debug)]
struct End {
    host: HostId,
    peer: HostId,
    flow_hash: u32,
    class: u8,
    timers: PendingTimers,
    send_line: DelayLine,
    receive_line: DelayLine,
}

impl End {
    fn new(host: HostId, peer: HostId, flow_hash: u32, class: u8) -> Self {
        Self {
            host,
            peer,
            flow_hash,
            class,
            timers: PendingTimers::NONE,
            send_line: DelayLine::default(),
            receive_line: DelayLine::default(),
        }
    }
}

/// Stands for the hash of a 5-tuple: the finaliser of MurmurHash3 (Appleby), 32 bits.
fn flow_hash(flow: FlowId, salt: u32, direction: u32) -> u32 {
    let mut hash = flow.0.wrapping_mul(2).wrapping_add(direction) ^ salt;
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35)] {
        hash = (hash ^ (hash >> shift)).wrapping_mul(factor);
    }
    hash ^ (hash >> 16)
}

/// An active flow.
#[derive(Clone, Debug)]
pub struct Connection {
    id: FlowId,
    tag: u32,
    started: Time,
    reliable: bool,
    on_network_card: bool,
    held_back: bool,
    /// Whether the flow stands in its host's line for the card.
    waiting: bool,
    /// Set when the flow has come to its end.
    pub outcome: Option<FlowOutcome>,
    pub counts: PacketCounts,
    progress: Progress,
    sender_end: End,
    receiver_end: End,
    sender: SenderState,
    receiver: ReceiverState,
}

impl Connection {
    /// A connection about to be started.
    pub fn new(id: FlowId, now: Time, config: &FlowConfig, transport: &TransportConfig, hosts: &[HostState]) -> Self {
        let FlowConfig { source: from, destination: to, hash_salt, .. } = *config;
        let (source, destination) = (&hosts[from.0 as usize], &hosts[to.0 as usize]);
        let (sender, receiver) = transport.connect(source.timer_phase, destination.timer_phase);
        Self {
            id,
            tag: config.tag,
            started: now,
            reliable: transport.is_reliable(),
            on_network_card: transport.is_on_network_card(),
            held_back: source.hold_back_tcp || !transport.is_tcp(),
            waiting: false,
            outcome: None,
            counts: PacketCounts::default(),
            progress: Progress::new(config.application, transport.is_reliable(), transport.linger()),
            sender_end: End::new(from, to, flow_hash(id, hash_salt, 0), config.class),
            receiver_end: End::new(to, from, flow_hash(id, hash_salt, 1), config.acknowledgement_class),
            sender,
            receiver,
        }
    }

    /// The host of one end.
    #[inline]
    pub fn host(&self, side: Side) -> HostId {
        match side {
            Side::Sender => self.sender_end.host,
            Side::Receiver => self.receiver_end.host,
        }
    }

    /// The end that `packet` is addressed to.
    #[inline]
    pub fn addressee(&self, packet: &Packet) -> Side {
        if packet.destination == self.receiver_end.host { Side::Receiver } else { Side::Sender }
    }

    /// The application starts.
    pub fn start<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        if let Some(stop) = self.progress.start(now) {
            env.schedule(stop, host.id, HostEvent::FlowStop(self.id));
        }
        self.serve_sender(now, host, env);
    }

    /// The application stops writing.
    pub fn stop<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        let withdrawn = self.sender.withdraw_unsent();
        self.progress.stop_writing(withdrawn);
        self.serve_sender(now, host, env);
    }

    /// The gap between two messages is over.
    pub fn next_message<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        self.progress.next_message();
        self.serve_sender(now, host, env);
    }

    /// Late datagrams are waited for no more.
    pub fn stop_lingering<E: HostEnvironment>(&mut self, env: &mut E) {
        if let Some(completion) = self.progress.stop_lingering() {
            self.report(completion, env);
        }
        self.outcome = Some(FlowOutcome::Completed);
    }

    /// A timer event of the sender.
    pub fn sender_timer<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        if self.sender_end.timers.fire(now) && self.timer_counts() {
            self.sender.handle_timeout(now);
            if self.sender.has_failed() {
                self.outcome = Some(FlowOutcome::Failed);
            }
            self.serve_sender(now, host, env);
        }
    }

    /// A timer event of the receiver.
    pub fn receiver_timer<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        if self.receiver_end.timers.fire(now) {
            self.receiver.handle_timeout(now);
            self.serve_receiver(now, host, env);
        }
    }

    /// When a packet that has come off the link reaches the transport; `None` when there is no delay.
    ///
    /// With a delay the answer may be `now` as well, but the packet must not overtake those before it.
    #[inline]
    pub fn delivery_time(&mut self, now: Time, side: Side, host: &mut HostState) -> Option<Time> {
        // Asked for first, so that a stack without delay copies nothing.
        host.stack(self.on_network_card).receive.as_ref()?;
        self.delayed_delivery_time(now, side, host)
    }

    #[inline(never)]
    fn delayed_delivery_time(&mut self, now: Time, side: Side, host: &mut HostState) -> Option<Time> {
        let delay = host.stack(self.on_network_card).receive?;
        Some(self.end_mut(side).receive_line.exit(now, &delay, &mut host.stream))
    }

    fn end_mut(&mut self, side: Side) -> &mut End {
        match side {
            Side::Sender => &mut self.sender_end,
            Side::Receiver => &mut self.receiver_end,
        }
    }

    /// A packet reaches the transport; its slot is freed.
    #[inline]
    pub fn deliver<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        packet: PacketHandle,
        host: &mut HostState,
        env: &mut E,
    ) {
        self.counts.delivered += 1;
        match side {
            Side::Sender => {
                self.sender.receive(now, &env.packets()[packet]);
                env.packets().remove(packet);
                self.serve_sender(now, host, env);
            }
            Side::Receiver => {
                self.receiver.receive(now, &env.packets()[packet]);
                env.packets().remove(packet);
                self.report_delay(env);
                self.serve_receiver(now, host, env);
            }
        }
    }

    /// The flow's turn at a card that has drained: one packet, then it lines up again.
    pub fn take_turn<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        let outgoing = self.sender.poll_transmit(now);
        if let Some(outgoing) = &outgoing {
            self.emit(now, Side::Sender, outgoing, host, env);
        }
        let wrote = self.sender_advanced(now, env);
        self.waiting = outgoing.is_some() || wrote;
        if self.waiting {
            host.wait_again(self.id);
        }
        self.arm_sender(now, env);
    }

    /// Sends what the sender may send now, and sets its timer.
    fn serve_sender<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        self.send_all(now, host, env);
        while self.sender_advanced(now, env) {
            self.send_all(now, host, env);
        }
        self.arm_sender(now, env);
    }

    #[inline]
    fn send_all<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        while !self.waiting {
            if self.held_back && !host.may_send(now) {
                self.waiting = true;
                host.wait(now, self.id, env);
                return;
            }
            let Some(outgoing) = self.sender.poll_transmit(now) else { return };
            self.emit(now, Side::Sender, &outgoing, host, env);
        }
    }

    #[inline]
    fn timer_counts(&self) -> bool {
        !self.waiting || self.sender.times_out_when_held_back()
    }

    #[inline]
    fn arm_sender<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        // Otherwise its turn will come, and the timer is armed then.
        if self.timer_counts()
            && let Some(at) = self.sender_end.timers.arm(now, self.sender.next_timeout())
        {
            env.schedule(at, self.sender_end.host, HostEvent::SenderTimer(self.id));
        }
    }

    #[inline]
    fn serve_receiver<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        while let Some(outgoing) = self.receiver.poll_transmit(now) {
            self.emit(now, Side::Receiver, &outgoing, host, env);
        }
        if let Some(at) = self.receiver_end.timers.arm(now, self.receiver.next_timeout()) {
            env.schedule(at, self.receiver_end.host, HostEvent::ReceiverTimer(self.id));
        }
        if self.progress.wants_delivered(self.receiver.delivered_bytes()) {
            let wrote = self.advance(now, env);
            debug_assert!(!wrote, "only what the sender learns makes the application write");
        }
    }

    /// Lets the application act on what the sender has learnt; true when it wrote something.
    #[inline]
    fn sender_advanced<E: HostEnvironment>(&mut self, now: Time, env: &mut E) -> bool {
        self.progress.wants_acknowledged(self.sender.acknowledged_bytes()) && self.advance(now, env)
    }

    #[inline]
    fn report_delay<E: HostEnvironment>(&self, env: &mut E) {
        if let Some(delay) = self.receiver.latest_delay() {
            env.datagram_delivered(self.id, delay);
        }
    }

    /// Lets the application go on; true when it wrote something.
    #[inline(never)]
    fn advance<E: HostEnvironment>(&mut self, now: Time, env: &mut E) -> bool {
        let (acknowledged, delivered) = (self.sender.acknowledged_bytes(), self.receiver.delivered_bytes());
        let mut wrote = false;
        while let Some(step) = self.progress.advance(now, acknowledged, delivered) {
            wrote |= matches!(step, Step::Write(_));
            self.take_step(now, step, env);
        }
        if self.progress.is_done() {
            self.outcome = Some(FlowOutcome::Completed);
        }
        wrote
    }

    fn take_step<E: HostEnvironment>(&mut self, now: Time, step: Step, env: &mut E) {
        match step {
            Step::Write(bytes) => self.sender.write(now, bytes),
            Step::Report(completion) => self.report(completion, env),
            Step::NextMessageAt(at) => env.schedule(at, self.sender_end.host, HostEvent::NextMessage(self.id)),
            Step::LingerUntil(at) => env.schedule(at, self.receiver_end.host, HostEvent::FlowEnd(self.id)),
        }
    }

    fn report<E: HostEnvironment>(&self, completion: Completion, env: &mut E) {
        let Completion { number, bytes, started, delivered, acknowledged } = completion;
        let (flow, tag) = (self.id, self.tag);
        env.message_completed(&MessageRecord { flow, tag, number, bytes, started, delivered, acknowledged });
    }

    /// A packet enters the stack of its host.
    #[inline]
    fn emit<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        outgoing: &Outgoing,
        host: &mut HostState,
        env: &mut E,
    ) {
        let packet = env.packets().insert(self.packet(side, outgoing));
        self.counts.injected += 1;
        if let Some(delay) = host.stack(self.on_network_card).send {
            host.card.commit(now, outgoing.frame_bytes);
            let at = self.end_mut(side).send_line.exit(now, &delay, &mut host.stream);
            env.schedule(at, host.id, HostEvent::Emit(packet));
        } else if !host.send_at_once(now, packet, outgoing.frame_bytes, env) {
            self.counts.dropped += 1;
        }
    }

    #[inline]
    fn packet(&self, side: Side, outgoing: &Outgoing) -> Packet {
        let end = match side {
            Side::Sender => &self.sender_end,
            Side::Receiver => &self.receiver_end,
        };
        Packet {
            frame_bytes: outgoing.frame_bytes,
            flow: self.id,
            source: end.host,
            destination: end.peer,
            flow_hash: end.flow_hash,
            class: end.class,
            ecn: outgoing.ecn,
            ttl: Packet::INITIAL_TTL,
            transport: outgoing.transport,
            ..Packet::default()
        }
    }

    /// The flow's record, were it to end now.
    ///
    /// # Panics
    /// When a reliable transport completed the flow and what was delivered is not what was written.
    pub fn record(&self, now: Time, outcome: FlowOutcome) -> FlowRecord {
        let record = FlowRecord {
            flow: self.id,
            tag: self.tag,
            source: self.sender_end.host,
            destination: self.receiver_end.host,
            started: self.started,
            finished: now,
            outcome,
            messages_completed: self.progress.messages_completed(),
            bytes_written: self.progress.written_bytes(),
            bytes_acknowledged: self.sender.acknowledged_bytes(),
            bytes_delivered: self.receiver.delivered_bytes(),
            packets: self.counts,
            sender: self.sender.statistics(),
            receiver: self.receiver.statistics(),
        };
        self.check(&record);
        record
    }

    fn check(&self, record: &FlowRecord) {
        let FlowRecord { flow, bytes_written: written, bytes_delivered: delivered, .. } = *record;
        assert!(delivered <= written, "{flow:?}: {delivered} bytes delivered, only {written} written");
        if self.reliable && record.outcome == FlowOutcome::Completed {
            assert!(delivered == written, "{flow:?}: completed with {delivered} of {written} bytes delivered");
        }
    }
}
