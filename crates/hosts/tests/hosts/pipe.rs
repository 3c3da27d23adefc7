//! A sender and a receiver at the ends of a pipe; the test decides the fate of each packet.

use hitless_core::wire::{Duration, Packet, Time};
use hitless_hosts::transport::{Outgoing, Receiver, Sender};
use std::collections::BTreeMap;

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Data,
    Acknowledgement,
}

/// The fate of a packet in the pipe: the delay of each copy that arrives.
pub type Delays = [Option<Duration>; 2];

/// Both ends, and the pipe between them.
pub struct Pipe<S, R, F> {
    pub sender: S,
    pub receiver: R,
    pub now: Time,
    fate: F,
    arrivals: Arrivals<(Way, Packet)>,
}

/// Packets under way, by time of arrival and then in order of departure.
pub struct Arrivals<T> {
    under_way: BTreeMap<(Time, u64), T>,
    launched: u64,
}

impl<T> Default for Arrivals<T> {
    fn default() -> Self {
        Self { under_way: BTreeMap::new(), launched: 0 }
    }
}

impl<T> Arrivals<T> {
    pub fn launch(&mut self, at: Time, what: T) {
        self.launched += 1;
        self.under_way.insert((at, self.launched), what);
    }

    /// Returns the time of the next arrival.
    pub fn next_at(&self) -> Time {
        self.under_way.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at)
    }

    pub fn take_next(&mut self) -> Option<T> {
        Some(self.under_way.pop_first()?.1)
    }
}

impl<S: Sender, R: Receiver, F: FnMut(Way, &mut Packet) -> Delays> Pipe<S, R, F> {
    pub fn new(sender: S, receiver: R, fate: F) -> Self {
        Self { sender, receiver, now: Time::ZERO, fate, arrivals: Arrivals::default() }
    }

    pub fn write(&mut self, bytes: u64) {
        self.sender.write(self.now, bytes);
        self.poll();
    }

    /// Sends `writes`, each after the previous one is acknowledged, and runs until no event is left.
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
            self.arrivals.launch(self.now + delay, (way, packet));
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

    /// Handles the next event; returns false without an event.
    pub fn step(&mut self) -> bool {
        let arrival = self.arrivals.next_at();
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
        match self.arrivals.take_next() {
            Some((Way::Data, packet)) => self.receiver.receive(self.now, &packet),
            Some((Way::Acknowledgement, packet)) => self.sender.receive(self.now, &packet),
            None => {}
        }
    }
}
