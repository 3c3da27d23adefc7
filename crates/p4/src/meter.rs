//! Meters: token buckets that give a packet a colour, as BMv2 does the two-rate meter of RFC 2698 without regard to an
//! earlier colour. With one rate a meter is the single bucket of RFC 2697 with an excess burst of 0.

/// A rate of a meter.
#[derive(Clone, Copy, Debug, PartialEq, hitless_core::state::Value)]
pub struct Rate {
    /// Bytes, or packets, a microsecond.
    pub per_us: f64,
    /// The most that a bucket holds.
    pub burst: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, hitless_core::state::Value)]
struct Bucket {
    rate: Rate,
    tokens: u64,
    /// Tokens that have come since the start.
    given: u64,
}

/// One meter; without rates all packets are green.
#[derive(Clone, Debug, Default, PartialEq, hitless_core::state::Value)]
pub struct Meter {
    /// The highest rate first.
    buckets: Vec<Bucket>,
}

impl Meter {
    /// Sets the rates, lowest first: committed, then peak. The buckets begin full at `now_ns`.
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

    /// The colour of a packet that takes `tokens`: 0 is green, and with two rates 1 yellow and 2 red.
    pub fn execute(&mut self, tokens: u64, now_ns: u64) -> u64 {
        let buckets = self.buckets.len() as u64;
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

fn given(rate: Rate, now_ns: u64) -> u64 {
    (now_ns as f64 / 1000.0 * rate.per_us) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 B a millisecond committed and 2000 B peak, bursts of 1500 and 3000 B, and frames of 1000 B: the first is
    /// green, the next two have no committed tokens, the fourth finds the peak bucket empty.
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
