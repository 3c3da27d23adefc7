//! The rounds of bit-by-bit round robin: virtual time (Demers, Keshav and Shenker 1989), in integers.
//!
//! In a round each active flow sends its weight in bits, so the round lasts as long as the line needs for all these
//! bits. A flow that starts during a round makes that round longer. Sent bits are stored multiplied by 10^12, because a
//! rate in bits per second times picoseconds has this unit; nothing is rounded.

use hitless_core::wire::{BitRate, Time};

use super::heap::IndexedHeap;

const PS_PER_SECOND: u128 = 1_000_000_000_000;

#[derive(Debug, hitless_core::state::State)]
pub(super) struct Rounds {
    #[configured]
    rate_bps: u64,
    /// Completed rounds: R in Demers et al.
    made: u64,
    /// Progress in the current round, in bits times 10^12.
    begun: u128,
    now: Time,
    /// Bits of a round.
    weights: u64,
    /// Active flows, by their last round.
    active: IndexedHeap<(u64, u32)>,
    weight_of: Vec<u32>,
}

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

    /// Advances the line to `now`.
    #[inline]
    pub fn go_on(&mut self, now: Time) {
        self.begun += u128::from(self.rate_bps) * u128::from((now - self.now).as_ps());
        self.now = now;
    }

    /// Completes rounds until a flow has finished its last round or the line's time is used up; returns that flow.
    #[inline]
    pub fn next_through(&mut self) -> Option<u32> {
        let Some(((last, flow), _)) = self.active.first() else {
            // Without active flows there is no round; idle line time is not saved up.
            self.begun = 0;
            return None;
        };
        let cost = u128::from(self.weights) * PS_PER_SECOND;
        // The set of active flows is constant until `last`, so all rounds up to there cost the same.
        let rounds = divide(self.begun, cost).min(u128::from(last - self.made)) as u64;
        self.begun -= u128::from(rounds) * cost;
        self.made += rounds;
        if self.made < last {
            return None;
        }
        self.leave(flow);
        Some(flow)
    }

    /// Makes `flow` active until the round `last`.
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

    /// Makes `flow` inactive.
    pub fn leave(&mut self, flow: u32) {
        if self.active.contains(flow) {
            self.weights -= u64::from(self.weight_of[flow as usize]);
            self.active.remove(flow);
        }
    }
}

/// Divides, in 64 bits if both operands fit, which they do except after a long idle time.
#[inline]
fn divide(dividend: u128, divisor: u128) -> u128 {
    match (u64::try_from(dividend), u64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => u128::from(dividend / divisor),
        _ => dividend / divisor,
    }
}
