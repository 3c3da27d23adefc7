//! Bit-by-bit round robin (Demers, Keshav and Shenker 1989; AFQ, section 2.1): slow, exact and readable.
//!
//! An implementation needs a rule for each of these cases:
//!
//! - **Rounds.** In a round each active flow sends its weight in bits. A round is complete when the line has had time
//!   for the bits of all active flows, one bit after the other at the line's rate. `R` is the number of completed
//!   rounds. A flow that starts during a round takes part in it and makes it longer. `R` is an exact integer: progress
//!   in a round is kept in bits times 10^12, the unit of a rate in bits per second times picoseconds.
//! - **Finish number.** The round that sends the packet's last bit. A flow that is not active begins with the round `R
//!   + 1`; the packets of an active flow follow each other bit by bit, without regard to packet boundaries.
//! - **Active** is a flow with a last finish number above `R`.
//! - **Idle.** While no flow is active, `R` does not advance, and the progress in a started round is lost.
//! - **Departures.** When the line becomes free, it sends the packet with the lowest finish number among all arrivals
//!   up to and including this instant. Of equal finish numbers the earlier arrival goes first.
//! - **Buffer.** Without limit: nothing is dropped.
//!
//! `bytes` is the length of a packet on the line, with preamble and gap if the line has them.

use hitless_core::wire::{BitRate, Time};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A packet that reaches the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Arrival time.
    pub at: Time,
    /// Its flow.
    pub flow: u32,
    /// Length on the line.
    pub bytes: u32,
    /// Bits per round of its flow: 1 without weights. All packets of a flow must agree.
    pub weight: u32,
}

/// A packet on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Index of its arrival in the schedule.
    pub arrival: usize,
    /// Time of its first bit.
    pub begins_at: Time,
    /// Time of its last bit.
    pub ends_at: Time,
}

/// A flow's progress in the rounds.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// Round that sends the last bit of its last packet.
    finish: u64,
    /// Bits that it can still send in that round.
    spare_bits: u64,
    weight: u32,
}

struct Rounds {
    rate: BitRate,
    flows: Vec<Flow>,
    made: u64,
    /// Progress in the current round, in bits times 10^12.
    begun: u128,
    now: Time,
}

impl Rounds {
    fn bits_of_a_round(&self) -> u64 {
        self.flows.iter().filter(|flow| flow.finish > self.made).map(|flow| u64::from(flow.weight)).sum()
    }

    /// Completes the rounds that the line has time for until `until`.
    fn advance(&mut self, until: Time) {
        self.begun += u128::from(self.rate.as_bps()) * u128::from((until - self.now).as_ps());
        self.now = until;
        loop {
            let cost = u128::from(self.bits_of_a_round()) * PS_PER_SECOND;
            if cost == 0 {
                self.begun = 0;
                return;
            }
            // The cost of a round is constant until the first flow finishes, so all rounds until then are completed in
            // one step.
            let active = self.flows.iter().filter(|flow| flow.finish > self.made);
            let until_one_is_through = active.map(|flow| flow.finish - self.made).min().expect("a flow is active");
            let rounds = (self.begun / cost).min(u128::from(until_one_is_through));
            if rounds == 0 {
                return;
            }
            self.begun -= rounds * cost;
            self.made += rounds as u64;
        }
    }

    /// Returns the finish number of a packet that arrives now.
    fn admit(&mut self, arrival: &Arrival) -> u64 {
        if self.flows.len() <= arrival.flow as usize {
            self.flows.resize(arrival.flow as usize + 1, Flow::default());
        }
        let flow = &mut self.flows[arrival.flow as usize];
        if flow.finish <= self.made {
            *flow = Flow { finish: self.made, spare_bits: 0, weight: arrival.weight };
        }
        let bits = u64::from(arrival.bytes) * 8;
        let weight = u64::from(flow.weight);
        let rounds = bits.saturating_sub(flow.spare_bits).div_ceil(weight);
        flow.finish += rounds;
        flow.spare_bits = flow.spare_bits + rounds * weight - bits;
        flow.finish
    }
}

/// Returns the finish number of each packet of `schedule` on a line of `rate`. The schedule must be in order of time.
pub fn finish_numbers(schedule: &[Arrival], rate: BitRate) -> Vec<u64> {
    let mut rounds = Rounds { rate, flows: Vec::new(), made: 0, begun: 0, now: Time::ZERO };
    let number = |arrival: &Arrival| {
        rounds.advance(arrival.at);
        rounds.admit(arrival)
    };
    schedule.iter().map(number).collect()
}

/// Returns the packets of `schedule` in order of departure from a line of `rate`. The schedule must be in order of
/// time.
pub fn departures(schedule: &[Arrival], rate: BitRate) -> Vec<Departure> {
    let finish = finish_numbers(schedule, rate);
    let mut waiting: Vec<usize> = (0..schedule.len()).collect();
    let mut free_at = Time::ZERO;
    let mut departures = Vec::new();
    while let Some(earliest) = waiting.iter().map(|&arrival| schedule[arrival].at).min() {
        let begins_at = free_at.max(earliest);
        let is_here = |&&arrival: &&usize| schedule[arrival].at <= begins_at;
        let next = waiting.iter().filter(is_here).min_by_key(|&&arrival| (finish[arrival], arrival));
        let arrival = *next.expect("the earliest is here");
        waiting.retain(|&other| other != arrival);
        free_at = begins_at + rate.time_for(u64::from(schedule[arrival].bytes));
        departures.push(Departure { arrival, begins_at, ends_at: free_at });
    }
    departures
}
