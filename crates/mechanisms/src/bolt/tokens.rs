//! Spare bandwidth of a port: unused bandwidth, and bandwidth that is about to become free.

use hitless_core::wire::{BitRate, Duration, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// A flow is about to end (proactive ramp-up).
    RampUp,
    /// The link had unused time (supply matching).
    Supply,
}

#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Tokens {
    #[configured]
    rate: BitRate,
    overhead_bytes: u32,
    /// sm_token of algorithm 2, as line time: exact for every rate.
    supply_ps: i64,
    supply_most_ps: i64,
    /// last_sm_time; `None` before the first packet.
    last: Option<Time>,
    /// pru_token of algorithm 1.
    ramp_up: u32,
    ramp_up_most: u32,
}

impl Tokens {
    /// The tokens of an idle port, which has the maximum to give.
    pub fn new(rate: BitRate, overhead_bytes: u32, supply_bytes: u32, ramp_up_most: u32) -> Self {
        let supply_most_ps = time_of(rate, supply_bytes);
        assert!(supply_most_ps < i64::MAX, "a port remembers a time that can be counted");
        Self { rate, overhead_bytes, supply_ps: supply_most_ps, supply_most_ps, last: None, ramp_up: 0, ramp_up_most }
    }

    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Algorithm 2: adds the bytes that the line could have sent since the last packet, and subtracts this packet.
    #[inline]
    pub fn packet(&mut self, now: Time, frame_bytes: u32) {
        assert!(self.last.is_none_or(|last| now >= last), "packets leave a port in the order of time");
        // Before the first packet the port has been idle for longer than it remembers.
        let supplied = self.last.map_or(Duration::MAX, |last| now.saturating_since(last));
        self.last = Some(now);
        let demand = time_of(self.rate, frame_bytes + self.overhead_bytes);
        let supplied = i64::try_from(supplied.as_ps()).unwrap_or(i64::MAX);
        self.supply_ps = self.supply_ps.saturating_add(supplied).saturating_sub(demand).min(self.supply_most_ps);
    }

    /// Handles a packet of a flow's last window. A flow that has existed for less than a round-trip time leaves no
    /// bandwidth that others could miss.
    pub fn flow_ends(&mut self, had_its_share: bool) {
        if had_its_share && self.ramp_up < self.ramp_up_most {
            self.ramp_up += 1;
        }
    }

    /// Handles a packet's request for `segment_bytes` more in each round-trip time.
    pub fn grant(&mut self, segment_bytes: u32) -> Option<Grant> {
        let segment_ps = time_of(self.rate, segment_bytes + self.overhead_bytes);
        assert!(self.ramp_up <= self.ramp_up_most, "no more tokens of ending flows than are remembered");
        if self.ramp_up > 0 {
            self.ramp_up -= 1;
            Some(Grant::RampUp)
        } else if self.supply_ps >= segment_ps {
            self.supply_ps -= segment_ps;
            Some(Grant::Supply)
        } else {
            None
        }
    }
}

fn time_of(rate: BitRate, bytes: u32) -> i64 {
    i64::try_from(rate.time_for(u64::from(bytes)).as_ps()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: BitRate = BitRate::from_gbps(8);

    fn at(ns: u64) -> Time {
        Time::ZERO + Duration::from_ns(ns)
    }

    #[test]
    fn what_the_line_did_not_send_is_granted_once() {
        let mut tokens = Tokens::new(RATE, 20, 2_000, 256);
        // 2,000 bytes are available at the first packet; packets of 1,000 bytes take 1,020, and so does a segment.
        let supplied = Some(Grant::Supply);
        let table = [(0, supplied), (1_020, None), (2_080, supplied), (3_100, None), (3_139, None)];
        for (time_ns, expected) in table {
            tokens.packet(at(time_ns), 1_000);
            assert_eq!(tokens.grant(1_000), expected, "at {time_ns} ns");
        }
        // After a long idle time no more than 2,000 bytes are available.
        tokens.packet(at(1_000_000), 1_000);
        assert_eq!((tokens.grant(1_000), tokens.grant(1_000)), (Some(Grant::Supply), None));
    }

    #[test]
    fn flows_that_end_leave_tokens_that_go_first() {
        let mut tokens = Tokens::new(RATE, 20, 2_000, 2);
        [true, false, true, true].into_iter().for_each(|had_its_share| tokens.flow_ends(had_its_share));
        let granted: Vec<_> = (0..4).map(|_| tokens.grant(1_000)).collect();
        assert_eq!(granted, [Some(Grant::RampUp), Some(Grant::RampUp), Some(Grant::Supply), None]);
    }

    #[test]
    fn a_port_that_has_sent_nothing_has_been_idle_whatever_the_time_is() {
        for start_ns in [0, 10, 1_000_000] {
            let mut tokens = Tokens::new(RATE, 20, 2_000, 256);
            tokens.packet(at(start_ns), 1_000);
            let granted = [tokens.grant(1_000), tokens.grant(1_000)];
            assert_eq!(granted, [Some(Grant::Supply), None], "first packet at {start_ns} ns");
        }
    }

    proptest! {
        /// Algorithm 2 in bytes, with fractions.
        #[test]
        fn the_supply_is_that_of_algorithm_2(
            packets in prop::collection::vec((0..5_000u64, 64..1_518u32, any::<bool>()), 1..200),
        ) {
            let mut tokens = Tokens::new(RATE, 20, 3_000, 0);
            let (mut supply, mut now, mut is_first) = (3_000.0f64, 0, true);
            for (elapsed_ns, frame_bytes, asks) in packets {
                now += elapsed_ns;
                tokens.packet(at(now), frame_bytes);
                // Before the first packet the line has been idle for ever.
                let elapsed_ns = if is_first { f64::INFINITY } else { elapsed_ns as f64 };
                supply = (supply + elapsed_ns - f64::from(frame_bytes + 20)).min(3_000.0);
                is_first = false;
                if asks {
                    prop_assert_eq!(tokens.grant(1_480).is_some(), supply >= 1_500.0);
                    supply -= if supply >= 1_500.0 { 1_500.0 } else { 0.0 };
                }
            }
        }
    }
}
