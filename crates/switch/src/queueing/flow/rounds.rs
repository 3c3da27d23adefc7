//! The rounds of bit-by-bit round robin: virtual time (Demers, Keshav and Shenker 1989), in whole numbers.
//!
//! In a round each active flow sends as many bits as its weight is, and the line so takes the time of all their bits
//! for it. A round that is under way when a flow comes takes so much longer. What the line has sent of it is kept as
//! bits times 10^12, since that is what a rate in bits per second makes of a picosecond: nothing is ever rounded.

use hitless_core::wire::{BitRate, Time};

use super::heap::IndexedHeap;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// How far the rounds are, and who takes part.
#[derive(Debug)]
pub(super) struct Rounds {
    rate_bps: u64,
    /// Whole rounds made: Demers' R.
    made: u64,
    /// What has been sent of the round under way.
    begun: u128,
    now: Time,
    /// Bits of a round.
    weights: u64,
    /// The flows that take part, by the round that is their last, and what they send in each.
    active: IndexedHeap<(u64, u32)>,
    weight_of: Vec<u32>,
}

hitless_core::state!(Rounds { values: made, begun, now, weights, active, weight_of; configured: rate_bps });

impl Rounds {
    pub fn new(rate: BitRate) -> Self {
        let active = IndexedHeap::default();
        let weight_of = Vec::new();
        Self { rate_bps: rate.as_bps(), made: 0, begun: 0, now: Time::ZERO, weights: 0, active, weight_of }
    }

    pub const fn made(&self) -> u64 {
        self.made
    }

    pub fn is_active(&self, flow: u32) -> bool {
        self.active.contains(flow)
    }

    /// The line has gone on until `now`.
    #[inline]
    pub fn go_on(&mut self, now: Time) {
        self.begun += u128::from(self.rate_bps) * u128::from((now - self.now).as_ps());
        self.now = now;
    }

    /// Makes rounds until a flow has had its last, which is the answer, or the line had no time for more.
    #[inline]
    pub fn next_through(&mut self) -> Option<u32> {
        let Some(((last, flow), _)) = self.active.first() else {
            self.begun = 0;
            return None;
        };
        let cost = u128::from(self.weights) * PS_PER_SECOND;
        let rounds = divide(self.begun, cost).min(u128::from(last - self.made)) as u64;
        self.begun -= u128::from(rounds) * cost;
        self.made += rounds;
        if self.made < last {
            return None;
        }
        self.leave(flow);
        Some(flow)
    }

    /// `flow` takes part until the round `last`.
    #[inline]
    pub fn take_part(&mut self, flow: u32, last: u64, weight: u32) {
        if !self.active.contains(flow) {
            if self.weight_of.len() <= flow as usize {
                self.weight_of.resize(flow as usize + 1, 0);
            }
            self.weight_of[flow as usize] = weight;
            self.weights += u64::from(weight);
        }
        self.active.set(flow, (last, flow));
    }

    /// `flow` takes part no more.
    pub fn leave(&mut self, flow: u32) {
        if self.active.contains(flow) {
            self.weights -= u64::from(self.weight_of[flow as usize]);
            self.active.remove(flow);
        }
    }
}

/// Division that is fast where both fit in 64 bits, as they do but after a long rest.
#[inline]
fn divide(dividend: u128, divisor: u128) -> u128 {
    match (u64::try_from(dividend), u64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => u128::from(dividend / divisor),
        _ => dividend / divisor,
    }
}
