//! Losses from a small generator, so that a case replays from its seed.

use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{Duration, Packet};
use hitless_mechanisms::linkguardian::headers::{AckHeader, DataHeader, LossNotification};

use super::Fates;
use crate::two_switches::Fate;

/// Pseudo-random numbers: the generator of Knuth's MMIX.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed ^ 0x9e37_79b9_7f4a_7c15);
        random.next();
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn chance(&mut self, per_million: u64) -> bool {
        self.below(1_000_000) < per_million
    }
}

/// The two-state model of Gilbert and Elliott: in the bad state every frame is lost.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    random: Random,
    is_bad: bool,
    begins_per_million: u64,
    ends_per_million: u64,
}

impl Bursts {
    pub fn new(seed: u64, loss_per_million: u64, mean_length: u64) -> Self {
        let ends_per_million = 1_000_000 / mean_length.max(1);
        let begins_per_million = loss_per_million * ends_per_million / (1_000_000 - loss_per_million);
        Self { random: Random::new(seed), is_bad: false, begins_per_million, ends_per_million }
    }

    pub fn lose(&mut self) -> bool {
        let turn = if self.is_bad { self.ends_per_million } else { self.begins_per_million };
        self.is_bad ^= self.random.chance(turn);
        self.is_bad
    }
}

pub fn is_dummy(packet: &Packet) -> bool {
    packet.shims.get::<DataHeader>().is_some_and(|header| header.dummy)
}

/// Whether the frame is a control frame from the receiving end to the sending end.
pub fn is_control(packet: &Packet) -> bool {
    packet.shims.contains::<LossNotification>()
        || packet.shims.contains::<PauseFrame>()
        || packet.shims.get::<AckHeader>().is_some_and(|ack| !ack.piggybacked)
}

pub fn losing(mut lose: impl FnMut(&Packet) -> bool + 'static) -> Fates {
    Box::new(move |packet| if lose(packet) { Fate::Corrupted } else { Fate::Arrives })
}

/// Delays control frames by up to `by`, with a probability of `per_million` in a million.
pub fn delaying(seed: u64, per_million: u64, by: Duration) -> Fates {
    let mut random = Random::new(seed);
    Box::new(move |packet| {
        let is_late = is_control(packet) && random.chance(per_million);
        if is_late { Fate::Late(Duration(random.below(by.as_ps().max(1)))) } else { Fate::Arrives }
    })
}
