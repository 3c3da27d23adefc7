//! Bit-by-bit round robin (Demers, Keshav and Shenker 1989; AFQ, section 2.1): slow, exact, and made to be read.
//!
//! What it is compared with must have a rule for each of these cases, so here are the rules:
//!
//! - **Rounds.** In a round each active flow sends as many bits as its weight is. A round is made when the line has
//!   had the time for the bits of all flows that are active then, one bit after the other at the line's rate. `R` is
//!   the number of whole rounds made; a flow that comes while a round is under way takes part in it, and the round
//!   takes so much longer. So `R` is an integer, and it is exact: what a round is short of is carried as bits times
//!   10^12, which is what a line of so many bits per second sends in one picosecond.
//! - **Finish number.** The round in which the packet's last bit is sent. A flow that is not active begins with the
//!   round `R + 1`; the packets of an active flow follow each other bit by bit, without regard to packet boundaries.
//! - **Active** is a flow whose last finish number is larger than `R`.
//! - **Idle.** While no flow is active, `R` stands still, and the time of a round that was begun is forgotten.
//! - **Departures.** When the line falls free, the packet with the smallest finish number among those that have
//!   arrived, that instant included, is sent, whole. Of equal finish numbers the one that arrived first goes first.
//! - **Buffer.** Without limit: nothing is dropped.
//!
//! `bytes` is what a packet takes of the line, so with preamble and gap if the line has them.

use hitless_core::wire::{BitRate, Time};

const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// A packet that reaches the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// Its flow.
    pub flow: u32,
    /// What it takes of the line.
    pub bytes: u32,
    /// Bits per round of its flow: 1, if all flows are alike. The same for all packets of a flow.
    pub weight: u32,
}

/// A packet on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Which arrival of the schedule it was.
    pub arrival: usize,
    /// When its first bit leaves.
    pub begins_at: Time,
    /// When its last bit has left.
    pub ends_at: Time,
}

/// A flow as the rounds see it.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// The round in which the last bit of its last packet is sent.
    finish: u64,
    /// Bits that it may still send in that round.
    spare_bits: u64,
    weight: u32,
}

/// The rounds.
struct Rounds {
    rate: BitRate,
    flows: Vec<Flow>,
    made: u64,
    /// Bits times 10^12 that have been sent of the round under way.
    begun: u128,
    now: Time,
}

impl Rounds {
    fn bits_of_a_round(&self) -> u64 {
        self.flows.iter().filter(|flow| flow.finish > self.made).map(|flow| u64::from(flow.weight)).sum()
    }

    /// Makes the rounds that the line has time for until `until`.
    fn advance(&mut self, until: Time) {
        self.begun += u128::from(self.rate.as_bps()) * u128::from((until - self.now).as_ps());
        self.now = until;
        loop {
            let cost = u128::from(self.bits_of_a_round()) * PS_PER_SECOND;
            if cost == 0 {
                self.begun = 0;
                return;
            }
            // The cost is the same until the first flow is through; so many rounds are made in one step.
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

    /// The finish number of a packet that arrives now.
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

/// The finish number of each packet of `schedule`, which is in order of time, on a line of `rate`.
pub fn finish_numbers(schedule: &[Arrival], rate: BitRate) -> Vec<u64> {
    let mut rounds = Rounds { rate, flows: Vec::new(), made: 0, begun: 0, now: Time::ZERO };
    let number = |arrival: &Arrival| {
        rounds.advance(arrival.at);
        rounds.admit(arrival)
    };
    schedule.iter().map(number).collect()
}

/// The packets of `schedule`, which is in order of time, in the order in which they leave a line of `rate`.
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
