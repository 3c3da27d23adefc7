//! A hash of a world's state, small enough to remember.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Packet, Time};

/// State that can be fed into a [`Digest`].
pub trait State {
    /// Feeds everything that affects future behaviour into the digest; counters for reports do not belong there.
    fn tell(&self, digest: &mut Digest<'_>);
}

/// A hash of states. Times are relative to now, and packets are hashed by content, wherever they are stored.
pub struct Digest<'w> {
    hasher: DefaultHasher,
    now: Time,
    packets: &'w PacketStore,
    since_now: fn(Packet, Time) -> Packet,
}

impl<'w> Digest<'w> {
    /// Creates an empty digest. `since_now` makes the times in a packet relative to now.
    pub fn new(now: Time, packets: &'w PacketStore, since_now: fn(Packet, Time) -> Packet) -> Self {
        Self { hasher: DefaultHasher::new(), now, packets, since_now }
    }

    /// Returns the current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Adds a value.
    pub fn value(&mut self, value: impl Hash) {
        value.hash(&mut self.hasher);
    }

    /// Adds a past or future time; its distance from now matters.
    pub fn time(&mut self, time: Time) {
        let distance = if time == Time::NEVER { i64::MAX } else { time.as_ps().wrapping_sub(self.now.as_ps()) as i64 };
        self.value(distance);
    }

    /// Adds a time that matters only until it has passed.
    pub fn deadline(&mut self, time: Time) {
        self.time(time.max(self.now));
    }

    /// Adds a packet.
    pub fn packet(&mut self, handle: PacketHandle) {
        self.value((self.since_now)(self.packets[handle], self.now));
    }

    /// Adds a packet that is in no store.
    pub fn loose_packet(&mut self, packet: &Packet) {
        self.value((self.since_now)(*packet, self.now));
    }

    /// Returns the hash.
    pub fn finish(self) -> u64 {
        self.hasher.finish()
    }
}
