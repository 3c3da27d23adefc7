//! Meters: token buckets that assign a colour to each packet, equal to BMv2's: the two-rate meter of RFC 2698 in
//! colour-blind mode. A meter with one rate is the single bucket of RFC 2697 with an excess burst of 0.

#[derive(Clone, Copy, Debug, PartialEq, hitless_core::state::Value)]
pub struct Rate {
    /// Bytes or packets per microsecond.
    pub per_us: f64,
    /// Capacity of the bucket.
    pub burst: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, hitless_core::state::Value)]
struct Bucket {
    rate: Rate,
    tokens: u64,
    /// Tokens added since the start.
    given: u64,
}

/// A meter; without rates, all packets are green.
#[derive(Clone, Debug, Default, PartialEq, hitless_core::state::Value)]
pub struct Meter {
    /// Sorted from the highest rate to the lowest.
    buckets: Vec<Bucket>,
}

impl Meter {
    /// Sets the rates, lowest first: committed, then peak. The buckets are full at `now_ns`.
    pub fn set_rates(&mut self, rates: &[Rate], now_ns: u64) {
        let is_rate = |rate: &Rate| rate.per_us.is_finite() && rate.per_us >= 0.0;
        assert!(rates.iter().all(is_rate), "the rate of a meter is a number, and not below 0");
        assert!(rates.is_sorted_by_key(|rate| rate.per_us), "the committed rate of a meter is at most its peak rate");
        let bucket = |rate: &Rate| Bucket { rate: *rate, tokens: rate.burst, given: given(*rate, now_ns) };
        self.buckets = rates.iter().rev().map(bucket).collect();
    }

    /// The rates, lowest first.
    pub fn rates(&self) -> Vec<Rate> {
        self.buckets.iter().rev().map(|bucket| bucket.rate).collect()
    }

    /// The colour of a packet that needs `tokens`: 0 is green; with two rates, 1 is yellow and 2 red.
    pub fn execute(&mut self, tokens: u64, now_ns: u64) -> u64 {
        let buckets = self.buckets.len() as u64;
        // RFC 2698, section 3, colour-blind: without tokens of the peak rate red, without tokens of the committed rate
        // yellow, which costs tokens of the peak rate alone; green costs both.
        for (place, bucket) in self.buckets.iter_mut().enumerate() {
            let given = given(bucket.rate, now_ns);
            let new = given.saturating_sub(bucket.given);
            bucket.given = given;
            bucket.tokens = bucket.tokens.saturating_add(new).min(bucket.rate.burst);
            assert!(bucket.tokens <= bucket.rate.burst, "a bucket holds at most its burst");
            if bucket.tokens < tokens {
                return buckets - place as u64;
            }
            bucket.tokens -= tokens;
        }
        0
    }
}

/// Counts tokens from time 0, not from the last packet, so that rounding does not accumulate.
fn given(rate: Rate, now_ns: u64) -> u64 {
    (now_ns as f64 / 1000.0 * rate.per_us) as u64
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Counter {
    pub packets: u64,
    /// Bytes of the packets at their arrival.
    pub bytes: u64,
}

impl Counter {
    pub fn count(&mut self, bytes: usize) {
        self.packets += 1;
        self.bytes += bytes as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Committed rate 1000 B/ms and peak rate 2000 B/ms, bursts of 1500 and 3000 B, frames of 1000 B: the first frame
    /// is green, the next two find no committed tokens, and the fourth finds the peak bucket empty.
    #[test]
    fn two_rates_give_three_colours() {
        let mut meter = Meter::default();
        assert_eq!(meter.execute(1000, 0), 0, "without rates");
        meter.set_rates(&[Rate { per_us: 1.0, burst: 1500 }, Rate { per_us: 2.0, burst: 3000 }], 0);
        let colours: Vec<_> = (0..4).map(|_| meter.execute(1000, 0)).collect();
        assert_eq!(colours, [0, 1, 1, 2]);
        assert_eq!(meter.execute(1000, 500_000), 0, "after half a millisecond there are 1000 of each");
        assert_eq!(meter.execute(1000, 500_000), 2);
    }
}
