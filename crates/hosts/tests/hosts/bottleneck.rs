//! Flows that share a link, served in order of arrival or in turn, one packet each.

use crate::pipe::{Arrivals, Way};
use hitless_core::wire::{BitRate, Duration, Packet, Time};
use hitless_hosts::transport::{Receiver, Sender};
use std::collections::VecDeque;

/// Overhead of a frame on the link.
const OVERHEAD_BYTES: u32 = 20;

/// The next packet to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// The packet that arrived first.
    Fifo,
    /// The next packet of the flow served least recently: fair for packets of equal length.
    RoundRobin,
}

/// The link, the flows' ends, and a constant delay for each.
pub struct Bottleneck<S, R, F> {
    pub flows: Vec<(S, R)>,
    pub now: Time,
    /// Maximum queue length in packets.
    pub longest_queue: usize,
    discipline: Discipline,
    pub rate: BitRate,
    one_way: Duration,
    /// Decides whether a packet enters the queue of this length, and can mark it.
    admit: F,
    /// Queued packets by flow. With round robin the front flow is served next.
    pub queues: Vec<VecDeque<Packet>>,
    turns: VecDeque<usize>,
    idle_at: Time,
    /// Direction, flow, and packet.
    arrivals: Arrivals<(Way, usize, Packet)>,
}

impl<S: Sender, R: Receiver, F: FnMut(usize, &mut Packet) -> bool> Bottleneck<S, R, F> {
    /// Creates a link of `rate` for `flows`, with a delay of `one_way` in each direction.
    pub fn new(flows: Vec<(S, R)>, discipline: Discipline, rate: BitRate, one_way: Duration, admit: F) -> Self {
        let count = flows.len();
        Self {
            flows,
            now: Time::ZERO,
            longest_queue: 0,
            discipline,
            rate,
            one_way,
            admit,
            queues: vec![VecDeque::new(); count],
            turns: VecDeque::new(),
            idle_at: Time::ZERO,
            arrivals: Arrivals::default(),
        }
    }

    pub fn write(&mut self, flow: usize, bytes: u64) {
        self.flows[flow].0.write(self.now, bytes);
        self.poll(flow);
    }

    /// Returns the bytes that each flow has delivered.
    pub fn delivered(&self) -> Vec<u64> {
        self.flows.iter().map(|(_, receiver)| receiver.delivered_bytes()).collect()
    }

    fn poll(&mut self, flow: usize) {
        while let Some(outgoing) = self.flows[flow].0.poll_transmit(self.now) {
            let packet = Packet {
                transport: outgoing.transport,
                frame_bytes: outgoing.frame_bytes,
                ecn: outgoing.ecn,
                ..Packet::default()
            };
            self.queue(flow, packet);
        }
        while let Some(outgoing) = self.flows[flow].1.poll_transmit(self.now) {
            let packet = Packet { transport: outgoing.transport, ..Packet::default() };
            self.arrivals.launch(self.now + self.one_way, (Way::Acknowledgement, flow, packet));
        }
    }

    fn queue(&mut self, flow: usize, mut packet: Packet) {
        let queued = self.queued();
        if !(self.admit)(queued, &mut packet) {
            return;
        }
        let waits = !self.queues[flow].is_empty();
        self.queues[flow].push_back(packet);
        if self.discipline == Discipline::Fifo || !waits {
            self.turns.push_back(flow);
        }
        self.longest_queue = self.longest_queue.max(self.queued());
    }

    /// Serves the next packet.
    fn serve(&mut self) {
        let Some(flow) = self.turns.pop_front() else { return };
        let Some(packet) = self.queues[flow].pop_front() else { return };
        if self.discipline == Discipline::RoundRobin && !self.queues[flow].is_empty() {
            self.turns.push_back(flow);
        }
        self.idle_at = self.now + self.rate.time_for(u64::from(packet.frame_bytes + OVERHEAD_BYTES));
        self.arrivals.launch(self.idle_at + self.one_way, (Way::Data, flow, packet));
    }

    fn arrive(&mut self) {
        let Some((way, flow, packet)) = self.arrivals.take_next() else { return };
        match way {
            Way::Data => self.flows[flow].1.receive(self.now, &packet),
            Way::Acknowledgement => self.flows[flow].0.receive(self.now, &packet),
        }
        self.poll(flow);
    }

    fn handle_timeouts(&mut self) {
        for flow in 0..self.flows.len() {
            let (sender, receiver) = &mut self.flows[flow];
            if sender.next_timeout().min(receiver.next_timeout()) <= self.now {
                sender.handle_timeout(self.now);
                receiver.handle_timeout(self.now);
                self.poll(flow);
            }
        }
    }

    /// Runs all events until `end`.
    pub fn run_until(&mut self, end: Time) {
        loop {
            let service = if self.turns.is_empty() { Time::NEVER } else { self.idle_at.max(self.now) };
            let arrival = self.arrivals.next_at();
            let timers = self.flows.iter().map(|(sender, receiver)| sender.next_timeout().min(receiver.next_timeout()));
            let timeout = timers.min().unwrap_or(Time::NEVER);
            let next = service.min(arrival).min(timeout);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            if arrival == next {
                self.arrive();
            } else if service == next {
                self.serve();
            } else {
                self.handle_timeouts();
            }
        }
    }

    /// Returns the number of waiting packets.
    pub fn queued(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }
}
