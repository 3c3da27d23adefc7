//! One host: its card, its stacks, and the flows that wait for the card.

use std::collections::VecDeque;

use hitless_core::engine::{PacketHandle, Stream};
use hitless_core::wire::{Duration, FlowId, HostId, Time};

use super::class_queues::ClassQueues;
use super::config::HostConfig;
use super::credit_pacer::{CreditPacer, Granted};
use super::environment::{HostDrop, HostEnvironment};
use super::event::HostEvent;
use super::gro::GroConfig;
use super::network_card::NetworkCard;
use super::ports::{Ports, Uplink, Way};
use crate::application::PacketCounts;
use crate::stack::{StackConfig, StackDelay};

/// Both delays of a stack, ready for drawing.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    pub send: Option<StackDelay>,
    pub receive: Option<StackDelay>,
}

impl Stack {
    fn new(config: &StackConfig) -> Self {
        Self { send: StackDelay::new(config.send), receive: StackDelay::new(config.receive) }
    }
}

/// A host. The fields that every packet needs fill two cache lines, and the line for the card follows.
#[derive(Clone, Debug, hitless_core::state::State)]
#[repr(C, align(64))]
pub struct HostState {
    pub card: NetworkCard,
    #[configured]
    pub id: HostId,
    drain_pending: bool,
    /// Packets of the flows that end at this host.
    pub counts: PacketCounts,
    /// Flows with a sender held back by the card, in the order of their turns.
    waiting: VecDeque<FlowId>,
    pub stream: Stream,
    #[configured]
    pub tcp_small_queues: bool,
    #[configured]
    pub timer_phase: Duration,
    #[configured]
    pub time_to_live: u8,
    #[configured]
    pub reorder_timeout: Option<Duration>,
    #[configured]
    gro: Option<GroConfig>,
    #[configured]
    kernel_stack: Stack,
    #[configured]
    network_card_stack: Stack,
    /// Connections that receive at this host and wait for credit.
    pub credits: CreditPacer,
    /// Packets dropped by the full card.
    pub dropped_packets: u64,
    /// Flows that start now.
    pub(super) starting: Vec<FlowId>,
    /// The queues of a card with flow control.
    pub class_queues: Option<Box<ClassQueues>>,
    /// Whether this host belongs to this partition.
    #[configured]
    pub is_here: bool,
    /// The ports of a host with several, or with a changing line. `card` then stands for all, and never has room.
    #[part]
    pub ports: Option<Box<Ports>>,
}

impl HostState {
    pub fn new(id: HostId, config: &HostConfig, stream: Stream) -> Self {
        let class_queues = config.flow_control.map(|control| ClassQueues::new(&config.network_card, Some(control)));
        let card = &config.network_card;
        Self {
            id,
            card: if class_queues.is_some() { NetworkCard::without_queue(card) } else { NetworkCard::new(card) },
            class_queues: class_queues.map(Box::new),
            stream,
            tcp_small_queues: config.tcp_small_queues,
            timer_phase: config.timer_phase,
            time_to_live: config.time_to_live,
            reorder_timeout: config.reorder_timeout,
            gro: config.gro,
            kernel_stack: Stack::new(&config.kernel_stack),
            network_card_stack: Stack::new(&config.network_card_stack),
            waiting: VecDeque::new(),
            starting: Vec::new(),
            drain_pending: false,
            credits: CreditPacer::default(),
            dropped_packets: 0,
            counts: PacketCounts::default(),
            is_here: true,
            ports: None,
        }
    }

    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        self.card.committed_until().as_ps() ^ self.waiting.len() as u64
    }

    /// Returns the delays between a transport and the card.
    #[inline]
    pub fn stack(&self, transport_on_network_card: bool) -> &Stack {
        if transport_on_network_card { &self.network_card_stack } else { &self.kernel_stack }
    }

    /// Returns the polling of packets for a transport; `None` passes each packet up separately.
    pub fn gro(&self, transport_on_network_card: bool) -> Option<GroConfig> {
        self.gro.filter(|_| !transport_on_network_card)
    }

    /// Draws the delay of the stack from an interrupt to the transport.
    pub fn draw_receive_delay(&mut self, transport_on_network_card: bool) -> Duration {
        let receive = self.stack(transport_on_network_card).receive;
        receive.map_or(Duration::ZERO, |delay| delay.draw(&mut self.stream))
    }

    /// Queues a packet from the stack at the card, or drops it.
    pub fn send<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, frame_bytes: u32, env: &mut E) {
        let departure = self.card.enqueue(now, frame_bytes);
        self.transmit(packet, departure, env);
    }

    /// Queues a packet that comes from its transport without delay, or drops it.
    #[inline(always)]
    pub fn send_at_once<E: HostEnvironment>(&mut self, now: Time, packet: PacketHandle, frame_bytes: u32, env: &mut E) {
        let departure = self.card.commit_and_enqueue(now, frame_bytes);
        self.transmit(packet, departure, env);
    }

    #[inline]
    fn transmit<E: HostEnvironment>(&mut self, packet: PacketHandle, departure: Option<Time>, env: &mut E) {
        match departure {
            Some(departure) => env.transmit(self.id, packet, departure),
            None => self.drop(packet, env),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn drop<E: HostEnvironment>(&mut self, packet: PacketHandle, env: &mut E) {
        self.dropped_packets += 1;
        self.counts.dropped += 1;
        env.drop_packet(self.id, packet, HostDrop::NetworkCardFull);
    }

    /// Returns whether a flow that is not waiting may send at once.
    #[inline]
    pub fn may_send(&self, now: Time) -> bool {
        self.waiting.is_empty() && self.card.has_room(now)
    }

    /// Returns the rate and number of the ports that a flow uses.
    pub fn uplink(&self, way: Way) -> Uplink {
        let (rate, is_ideal) = (self.card.rate(), self.card.is_ideal());
        let of_card = || Uplink { rate, ports: 1, highest_rate: rate, is_ideal };
        self.ports.as_ref().and_then(|ports| ports.uplink(way)).unwrap_or_else(of_card)
    }

    /// Returns the number of flows that wait for the card, or for one of the ports.
    pub fn flows_in_line(&self) -> usize {
        let of_ports = self.ports.as_ref().map_or(0, |ports| ports.flows_in_line());
        self.waiting.len() + of_ports + self.class_queues.as_ref().map_or(0, |queues| queues.flows_in_line())
    }

    /// Adds `flow` to the end of the waiting line.
    #[inline]
    pub fn wait<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        self.waiting.push_back(flow);
        self.arm_drain(now, env);
    }

    /// Adds `flow` to the line again after its turn; call [`Self::arm_drain`] when all turns are over.
    #[inline]
    pub fn wait_again(&mut self, flow: FlowId) {
        self.waiting.push_back(flow);
    }

    /// Takes a flow out of the waiting line, which a host with several ports or queues only uses during a turn.
    pub fn take_waiting(&mut self) -> Option<FlowId> {
        self.waiting.pop_front()
    }

    /// Returns the next flow in turn, while the card has room.
    #[inline]
    pub fn next_turn(&mut self, now: Time) -> Option<FlowId> {
        if self.card.has_room(now) { self.waiting.pop_front() } else { None }
    }

    /// Notes that the next turns are scheduled; returns false if they were already.
    pub fn begin_drain(&mut self) -> bool {
        !std::mem::replace(&mut self.drain_pending, true)
    }

    pub fn drain_fired(&mut self) {
        self.drain_pending = false;
    }

    /// Puts a connection that needs credit into the queue.
    #[cold]
    #[inline(never)]
    pub fn enter_credit_queue<E: HostEnvironment>(&mut self, now: Time, connection: Granted, env: &mut E) {
        if self.credits.enter(connection) {
            env.schedule(now, self.id, HostEvent::Credit(self.id));
        }
    }

    /// Schedules the drain event for waiting flows, if necessary.
    pub fn arm_drain<E: HostEnvironment>(&mut self, now: Time, env: &mut E) {
        if self.waiting.is_empty() || !self.begin_drain() {
            return;
        }
        env.schedule(self.card.drained_at(now).max(now), self.id, HostEvent::CardDrained(self.id));
    }
}
