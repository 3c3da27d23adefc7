//! The state of a world, made small enough to be remembered.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Packet, Time};

/// Something whose state is told to a [`Digest`].
pub trait State {
    /// Tells all on which depends what it will do. What it only counts does not belong to it.
    fn tell(&self, digest: &mut Digest<'_>);
}

/// A hash of states: times count from now on, and packets are what is in them, wherever they are stored.
pub struct Digest<'w> {
    hasher: DefaultHasher,
    now: Time,
    packets: &'w PacketStore,
    since_now: fn(Packet, Time) -> Packet,
}

impl<'w> Digest<'w> {
    /// An empty one. `since_now` makes times within a packet count from now on.
    pub fn new(now: Time, packets: &'w PacketStore, since_now: fn(Packet, Time) -> Packet) -> Self {
        Self { hasher: DefaultHasher::new(), now, packets, since_now }
    }

    /// The present time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// A value.
    pub fn value(&mut self, value: impl Hash) {
        value.hash(&mut self.hasher);
    }

    /// A time, past or to come, whose distance from now decides something.
    pub fn time(&mut self, time: Time) {
        let distance = if time == Time::NEVER { i64::MAX } else { time.as_ps().wrapping_sub(self.now.as_ps()) as i64 };
        self.value(distance);
    }

    /// A time that means nothing any more when it has come.
    pub fn deadline(&mut self, time: Time) {
        self.time(time.max(self.now));
    }

    /// A packet.
    pub fn packet(&mut self, handle: PacketHandle) {
        self.value((self.since_now)(self.packets[handle], self.now));
    }

    /// A packet that lies in no store.
    pub fn loose_packet(&mut self, packet: &Packet) {
        self.value((self.since_now)(*packet, self.now));
    }

    /// The hash.
    pub fn finish(self) -> u64 {
        self.hasher.finish()
    }
}
