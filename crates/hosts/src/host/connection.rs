//! A flow while it is active: both transports, their timers, and the application between them.

use hitless_engine::{PacketHandle, RandomStreams};
use hitless_wire::{FlowId, Packet, Time};

use super::marking::Marker;
use super::ordering::{Arrival, Ordering};
use super::progress::Progress;
use super::state::HostState;
use super::wiring::{End, Visit, Wiring};
use super::{HostDrop, HostEnvironment, HostEvent};
use crate::application::{FlowConfig, FlowOutcome, FlowProgress, FlowRecord, PacketCounts};
use crate::flow::{ReceiverState, SenderState, TransportConfig};
use crate::transport::{Receiver, Sender};

pub use super::wiring::Side;

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
    wiring: Wiring,
    sender: SenderState,
    receiver: ReceiverState,
    started: Time,
    reliable: bool,
}

/// Calls an expression with whichever transport is there: once per visit, so that nothing further in has to ask.
macro_rules! with {
    ($state:expr, $kind:ident, $end:ident => $call:expr) => {
        match $state {
            $kind::Tcp(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
            $kind::Roce(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
            $kind::Udp(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
            $kind::PacketPair(boxed) => {
                let $end = boxed.as_mut();
                $call
            }
        }
    };
}

impl Connection {
    /// A connection about to be started.
    pub fn new(
        id: FlowId,
        now: Time,
        config: &FlowConfig,
        transport: &TransportConfig,
        hosts: &[HostState],
        streams: &RandomStreams,
    ) -> Self {
        let FlowConfig { source: from, destination: to, hash_salt, .. } = *config;
        let (source, destination) = (&hosts[from.0 as usize], &hosts[to.0 as usize]);
        let stream = || streams.stream(&format!("flow {} transport", id.0));
        let (sender, receiver) = transport.connect(&source.card, source.timer_phase, destination.timer_phase, stream);
        let on_network_card = transport.is_on_network_card();
        let (data_stack, answer_stack) = (source.stack(on_network_card), destination.stack(on_network_card));
        let data = Packet {
            flow: id,
            source: from,
            destination: to,
            flow_hash: flow_hash(id, hash_salt, 0),
            class: config.class,
            ttl: source.time_to_live,
            ..Packet::default()
        };
        let answer = Packet {
            source: to,
            destination: from,
            flow_hash: flow_hash(id, hash_salt, 1),
            ttl: destination.time_to_live,
            class: config.acknowledgement_class,
            ..data
        };
        let application = config.application;
        let marker = |marking| Box::new(Marker::new(marking, application, transport.counted_packet_bytes()));
        let ordering = |(timeout, marking)| Box::new(Ordering::new(timeout, marking, application));
        let wiring = Wiring {
            id,
            tag: config.tag,
            on_network_card,
            held_back: source.hold_back_tcp || !transport.is_tcp(),
            waiting: false,
            delays_receive: data_stack.receive.is_some() || answer_stack.receive.is_some(),
            outcome: None,
            counts: PacketCounts::default(),
            progress: Progress::new(config.application, transport.is_reliable(), transport.linger()),
            marker: config.marking.map(marker),
            ordering: destination.ordering_timeout.zip(config.marking).map(ordering),
            sender_end: End::new(data, data_stack),
            receiver_end: End::new(answer, answer_stack),
        };
        Self { wiring, sender, receiver, started: now, reliable: transport.is_reliable() }
    }

    /// What does not depend on the transports.
    #[inline]
    pub fn wiring(&mut self) -> &mut Wiring {
        &mut self.wiring
    }

    /// The packets of the flow.
    pub fn counts(&self) -> PacketCounts {
        self.wiring.counts
    }

    /// How the flow came to its end, once it has.
    #[inline]
    pub fn outcome(&self) -> Option<FlowOutcome> {
        self.wiring.outcome
    }

    /// The end that `packet` is addressed to.
    #[inline]
    pub fn addressee(&self, packet: &Packet) -> Side {
        if packet.destination == self.wiring.host(Side::Receiver) { Side::Receiver } else { Side::Sender }
    }

    /// The application starts.
    pub fn start<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if let Some(stop) = self.wiring.progress.start(visit.now) {
            visit.env.schedule(stop, visit.host.id, HostEvent::FlowStop(self.wiring.id));
        }
        self.serve_sender(visit);
    }

    /// The application stops writing.
    pub fn stop<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let withdrawn = self.sender.withdraw_unsent();
        self.wiring.progress.stop_writing(withdrawn);
        self.serve_sender(visit);
    }

    /// The gap between two messages is over.
    pub fn next_message<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.wiring.progress.next_message();
        self.serve_sender(visit);
    }

    /// One more message, of an application that appends them.
    pub fn append_message<E: HostEnvironment>(&mut self, bytes: u64, visit: &mut Visit<E>) {
        self.wiring.progress.append(visit.now, bytes);
        self.serve_sender(visit);
    }

    /// No message will be appended any more.
    pub fn close(&mut self) {
        self.wiring.progress.close();
        if self.wiring.progress.is_done() {
            self.wiring.outcome = Some(FlowOutcome::Completed);
        }
    }

    /// How the flow ends if the run ends now.
    pub fn outcome_of_run(&self) -> FlowOutcome {
        let at_rest = self.wiring.progress.is_at_rest();
        self.outcome().unwrap_or(if at_rest { FlowOutcome::Completed } else { FlowOutcome::Unfinished })
    }

    /// Late datagrams are waited for no more.
    pub fn stop_lingering<E: HostEnvironment>(&mut self, env: &mut E) {
        if let Some(completion) = self.wiring.progress.stop_lingering() {
            self.wiring.report(completion, env);
        }
        self.wiring.outcome = Some(FlowOutcome::Completed);
    }

    /// A timer event of the sender.
    pub fn sender_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if self.wiring.fire_timer(visit.now, Side::Sender) && self.wiring.timer_counts(&self.sender) {
            self.sender.handle_timeout(visit.now);
            if self.sender.has_failed() {
                self.wiring.outcome = Some(FlowOutcome::Failed);
            }
            self.serve_sender(visit);
        }
    }

    /// A timer event of the receiver.
    pub fn receiver_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        if self.wiring.fire_timer(visit.now, Side::Receiver) {
            self.receiver.handle_timeout(visit.now);
            if self.wiring.serve_receiver(&mut self.receiver, visit) {
                self.received_enough(visit.now, visit.env);
            }
        }
    }

    /// A packet reaches the transport; its slot is freed, or used for the answer.
    #[inline]
    pub fn deliver<E: HostEnvironment>(
        &mut self,
        now: Time,
        side: Side,
        packet: PacketHandle,
        host: &mut HostState,
        env: &mut E,
    ) {
        match side {
            Side::Sender => self.deliver_to_sender(now, packet, host, env),
            Side::Receiver if self.wiring.ordering.is_some() => self.deliver_in_order(now, packet, host, env),
            Side::Receiver => self.deliver_to_receiver(now, packet, host, env),
        }
    }

    /// A packet reaches the ordering layer.
    #[inline(never)]
    fn deliver_in_order<E: HostEnvironment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Some(ordering) = &mut self.wiring.ordering else { return };
        env.packets()[packet].transport.note_arrival(now);
        match ordering.arrive(now, packet, &env.packets()[packet]) {
            Arrival::Passes => return self.deliver_to_receiver(now, packet, host, env),
            Arrival::IsHeld => {}
            Arrival::Releases => self.deliver_ready(now, host, env),
            Arrival::Duplicates(copy) => {
                self.wiring.counts.dropped += 1;
                env.drop_packet(host.id, copy, HostDrop::Duplicate);
            }
        }
        self.arm_ordering(now, host, env);
    }

    fn deliver_ready<E: HostEnvironment>(&mut self, now: Time, host: &mut HostState, env: &mut E) {
        let ready = |wiring: &mut Wiring| wiring.ordering.as_mut().map(|ordering| std::mem::take(&mut ordering.ready));
        let mut packets = ready(&mut self.wiring).unwrap_or_default();
        for packet in packets.drain(..) {
            self.deliver_to_receiver(now, packet, host, env);
        }
        if let Some(ordering) = &mut self.wiring.ordering {
            // The room that it had is used again.
            ordering.ready = packets;
        }
    }

    fn arm_ordering<E: HostEnvironment>(&mut self, now: Time, host: &HostState, env: &mut E) {
        if let Some(at) = self.wiring.ordering.as_mut().and_then(|ordering| ordering.arm(now)) {
            env.schedule(at, host.id, HostEvent::OrderingTimer(self.wiring.id));
        }
    }

    /// A timer event of the ordering layer.
    pub fn ordering_timer<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let Some(ordering) = &mut self.wiring.ordering else { return };
        ordering.expire(visit.now);
        self.deliver_ready(visit.now, visit.host, visit.env);
        self.arm_ordering(visit.now, visit.host, visit.env);
    }

    /// Packets of which the ordering layer held a copy.
    pub fn duplicates(&self) -> u64 {
        self.wiring.ordering.as_ref().map_or(0, |ordering| ordering.statistics().duplicate_packets)
    }

    /// The flow is over: what its ordering layer holds is dropped. Answers how many packets that were.
    pub fn drop_held<E: HostEnvironment>(&mut self, env: &mut E) -> u64 {
        let Wiring { ordering: Some(ordering), counts, receiver_end, .. } = &mut self.wiring else { return 0 };
        let before = counts.dropped;
        for packet in ordering.take_held() {
            counts.dropped += 1;
            env.drop_packet(receiver_end.host(), packet, HostDrop::FlowEnded);
        }
        counts.dropped - before
    }

    #[inline(never)]
    fn deliver_to_sender<E: HostEnvironment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Self { wiring, sender, receiver, .. } = self;
        let mut visit = Visit { now, host, env, spare: Some(packet) };
        wiring.counts.delivered += 1;
        with!(sender, SenderState, sender => wiring.sender_received(packet, sender, receiver, &mut visit));
        visit.end();
    }

    #[inline(never)]
    fn deliver_to_receiver<E: HostEnvironment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        host: &mut HostState,
        env: &mut E,
    ) {
        let Self { wiring, receiver, .. } = self;
        let mut visit = Visit { now, host, env, spare: Some(packet) };
        wiring.counts.delivered += 1;
        let enough = with!(receiver, ReceiverState, receiver => wiring.receiver_received(packet, receiver, &mut visit));
        if enough {
            self.received_enough(now, visit.env);
        }
        visit.end();
    }

    /// The flow's turn at a card that has drained.
    pub fn take_turn<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        let Self { wiring, sender, receiver, .. } = self;
        with!(sender, SenderState, sender => wiring.take_turn(sender, receiver, visit));
    }

    #[inline(never)]
    fn serve_sender<E: HostEnvironment>(&mut self, visit: &mut Visit<E>) {
        self.wiring.serve_sender(&mut self.sender, &self.receiver, visit);
    }

    /// The application may act on what has been delivered.
    #[cold]
    fn received_enough<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        let wrote = self.wiring.advance(now, &mut self.sender, &self.receiver, env);
        debug_assert!(!wrote, "only what the sender learns makes the application write");
    }

    /// How far the flow has got.
    pub fn progress(&self) -> FlowProgress {
        FlowProgress {
            congestion_window_bytes: self.sender.congestion_window_bytes(),
            sent_bytes: self.sender.sent_bytes(),
            acknowledged_bytes: self.sender.acknowledged_bytes(),
            delivered_bytes: self.receiver.delivered_bytes(),
            sender: self.sender.statistics(),
        }
    }

    /// The flow's record, were it to end now.
    ///
    /// # Panics
    /// When a reliable transport completed the flow and what was delivered is not what was written.
    pub fn record(&self, now: Time, outcome: FlowOutcome) -> FlowRecord {
        let wiring = &self.wiring;
        let record = FlowRecord {
            flow: wiring.id,
            tag: wiring.tag,
            source: wiring.host(Side::Sender),
            destination: wiring.host(Side::Receiver),
            started: self.started,
            finished: now,
            outcome,
            messages_completed: wiring.progress.messages_completed(),
            bytes_written: wiring.progress.written_bytes(),
            bytes_acknowledged: self.sender.acknowledged_bytes(),
            bytes_delivered: self.receiver.delivered_bytes(),
            packets: wiring.counts,
            sender: self.sender.statistics(),
            receiver: self.receiver.statistics(),
            ordering: wiring.ordering.as_ref().map(|ordering| ordering.statistics()),
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
