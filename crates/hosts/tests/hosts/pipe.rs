//! A sender and a receiver at the ends of a pipe whose behaviour the test decides packet by packet.

use hitless_hosts::transport::{Outgoing, Receiver, Sender};
use hitless_wire::{Duration, Packet, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Data,
    Acknowledgement,
}

/// What the pipe does to a packet: the delay of each copy that arrives.
pub type Delays = [Option<Duration>; 2];

/// Both ends and what is between them.
pub struct Pipe<S, R, F> {
    pub sender: S,
    pub receiver: R,
    pub now: Time,
    fate: F,
    /// (arrival, order, way, index into `packets`).
    arrivals: BinaryHeap<Reverse<(Time, u64, Way, usize)>>,
    packets: Vec<Packet>,
    free: Vec<usize>,
    order: u64,
}

impl<S: Sender, R: Receiver, F: FnMut(Way, &mut Packet) -> Delays> Pipe<S, R, F> {
    pub fn new(sender: S, receiver: R, fate: F) -> Self {
        Self {
            sender,
            receiver,
            now: Time::ZERO,
            fate,
            arrivals: BinaryHeap::new(),
            packets: Vec::new(),
            free: Vec::new(),
            order: 0,
        }
    }

    pub fn write(&mut self, bytes: u64) {
        self.sender.write(self.now, bytes);
        self.poll();
    }

    /// Sends `writes` one after the other, each when the one before is acknowledged, and waits until nothing happens.
    pub fn deliver(&mut self, writes: &[u64]) {
        let mut total = 0;
        for &bytes in writes {
            self.write(bytes);
            total += bytes;
            let mut steps = 0;
            while self.sender.acknowledged_bytes() < total {
                let acknowledged = self.sender.acknowledged_bytes();
                assert!(self.step(), "nothing left to happen with {acknowledged} of {total} bytes");
                assert!(self.receiver.delivered_bytes() >= self.sender.acknowledged_bytes());
                steps += 1;
                assert!(steps < 2_000_000, "no end");
            }
        }
        while self.step() {}
        assert_eq!(self.receiver.delivered_bytes(), total);
    }

    fn launch(&mut self, way: Way, outgoing: Outgoing) {
        let Outgoing { transport, frame_bytes, ecn } = outgoing;
        let mut packet = Packet { transport, frame_bytes, ecn, ..Packet::default() };
        for delay in (self.fate)(way, &mut packet).into_iter().flatten() {
            let slot = self.free.pop().unwrap_or(self.packets.len());
            if slot == self.packets.len() {
                self.packets.push(packet);
            } else {
                self.packets[slot] = packet;
            }
            self.order += 1;
            self.arrivals.push(Reverse((self.now + delay, self.order, way, slot)));
        }
    }

    fn poll(&mut self) {
        while let Some(outgoing) = self.sender.poll_transmit(self.now) {
            self.launch(Way::Data, outgoing);
        }
        while let Some(outgoing) = self.receiver.poll_transmit(self.now) {
            self.launch(Way::Acknowledgement, outgoing);
        }
    }

    /// Handles the next event; false when nothing is left to happen.
    pub fn step(&mut self) -> bool {
        let arrival = self.arrivals.peek().map_or(Time::NEVER, |Reverse((time, ..))| *time);
        let timeout = self.sender.next_timeout().min(self.receiver.next_timeout());
        if arrival.min(timeout) == Time::NEVER {
            return false;
        }
        assert!(arrival.min(timeout) >= self.now, "time goes back");
        self.now = arrival.min(timeout);
        if arrival <= timeout {
            self.arrive();
        } else {
            self.sender.handle_timeout(self.now);
            self.receiver.handle_timeout(self.now);
        }
        self.poll();
        true
    }

    fn arrive(&mut self) {
        let Some(Reverse((_, _, way, slot))) = self.arrivals.pop() else { return };
        match way {
            Way::Data => self.receiver.receive(self.now, &self.packets[slot]),
            Way::Acknowledgement => self.sender.receive(self.now, &self.packets[slot]),
        }
        self.free.push(slot);
    }
}
