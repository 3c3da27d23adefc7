//! Delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! Each segment remembers, when it is sent, how much had been delivered by then. What was delivered since, when it is
//! acknowledged, over the time that took, is a sample of the rate at which the path delivers. Kept only for a
//! congestion control that asks for it.

use super::delivery::Delivery;
use super::ring::Ring;
use hitless_core::wire::{Duration, Time};

/// What a segment remembers of the moment it was sent (the draft's per-packet state).
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct SendRecord {
    /// P.delivered.
    delivered_bytes: u64,
    /// P.delivered_time.
    delivered_at: Time,
    /// P.first_sent_time.
    first_sent_at: Time,
    /// P.is_app_limited.
    app_limited: bool,
}

/// A rate at which the path delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RateSample {
    /// Bytes delivered over the interval (rs.delivered).
    pub delivered_bytes: u64,
    /// The longer of the times in which they were sent and acknowledged (rs.interval); not zero.
    pub interval: Duration,
    /// Bytes delivered in all when the segment that ends the sample was sent (rs.prior_delivered).
    pub prior_delivered_bytes: u64,
    /// The application, not the network, may have limited the rate (rs.is_app_limited).
    pub app_limited: bool,
}

impl RateSample {
    /// Bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.delivered_bytes as f64 / self.interval.as_seconds()
    }
}

/// The connection's state, and the records of the segments in flight under the numbers that the scoreboard gives them.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct DeliveryRate {
    records: Ring<SendRecord>,
    /// C.delivered.
    delivered_bytes: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent_at: Time,
    /// C.app_limited: what is delivered up to here says nothing of the network; 0 for none.
    app_limited_until: u64,
}

impl DeliveryRate {
    /// Bytes delivered over the life of the connection (C.delivered).
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Segment `number` is sent, perhaps again; `idle`: nothing was in flight before it (section 3.2).
    pub fn sent(&mut self, number: u64, now: Time, idle: bool) {
        if idle {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        let record = SendRecord {
            delivered_bytes: self.delivered_bytes,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.app_limited_until > 0,
        };
        if number == self.records.next() {
            self.records.push(record);
        } else {
            *self.records.get_mut(number) = record;
        }
    }

    /// The application has nothing to send, or is kept from it, while `in_flight_bytes` are under way (section 3.4).
    pub fn limit_by_application(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// Counts what an acknowledgement delivered (section 3.3); `first` is the first segment that is still in flight.
    ///
    /// There is no sample when nothing was delivered, or when it came sooner than any round trip takes: then a
    /// retransmission was credited with what its original had brought.
    pub fn sample(&mut self, delivery: &Delivery, minimum_rtt: Duration, first: u64) -> Option<RateSample> {
        if delivery.bytes > 0 {
            self.delivered_bytes += delivery.bytes;
            self.delivered_at = delivery.now;
        }
        if self.delivered_bytes > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let sample = delivery.last_sent.and_then(|(number, sent_at)| self.sample_of(number, sent_at, delivery.now));
        while self.records.first() < first {
            self.records.pop();
        }
        sample.filter(|sample| sample.interval >= minimum_rtt && sample.interval > Duration::ZERO)
    }

    fn sample_of(&mut self, number: u64, sent_at: Time, now: Time) -> Option<RateSample> {
        let record = *self.records.get(number)?;
        debug_assert!(record.delivered_bytes <= self.delivered_bytes, "less delivered than when it was sent");
        debug_assert!(record.first_sent_at <= sent_at && record.delivered_at <= now, "time runs backwards");
        self.first_sent_at = sent_at;
        let send_interval = sent_at.saturating_since(record.first_sent_at);
        let acknowledgement_interval = now.saturating_since(record.delivered_at);
        Some(RateSample {
            delivered_bytes: self.delivered_bytes - record.delivered_bytes,
            interval: send_interval.max(acknowledgement_interval),
            prior_delivered_bytes: record.delivered_bytes,
            app_limited: record.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time_us: u64) -> Time {
        Time::ZERO + Duration::from_us(time_us)
    }

    /// An acknowledgement of `bytes` at `now_us`; the last sent of them is segment `number`, sent at `sent_us`.
    fn delivery(now_us: u64, bytes: u64, number: u64, sent_us: u64) -> Delivery {
        let mut delivery = Delivery::new(at(now_us), Duration::ZERO, 0);
        delivery.bytes = bytes;
        delivery.last_sent = Some((number, at(sent_us)));
        delivery
    }

    const NO_MINIMUM: Duration = Duration::ZERO;

    #[test]
    fn a_rate_is_what_was_delivered_since_the_segment_was_sent() {
        let mut rates = DeliveryRate::default();
        (0..4).for_each(|number| rates.sent(number, at(number), number == 0));
        // (acknowledged at, number, sent at, bytes in the sample, interval in us, delivered before it was sent)
        let table = [(40, 0, 0, 1_000, 40, 0), (50, 1, 1, 2_000, 50, 0), (60, 2, 2, 3_000, 60, 0)];
        for (now, number, sent, bytes, interval, prior) in table {
            let sample = rates.sample(&delivery(now, 1_000, number, sent), NO_MINIMUM, number + 1).expect("a sample");
            let got = (sample.delivered_bytes, sample.interval, sample.prior_delivered_bytes);
            assert_eq!(got, (bytes, Duration::from_us(interval), prior), "acknowledged at {now}");
        }
        // Sent when three were delivered, at 60 us: one byte in ten microseconds per segment.
        rates.sent(4, at(60), false);
        rates.sample(&delivery(70, 1_000, 3, 3), NO_MINIMUM, 4);
        let sample = rates.sample(&delivery(100, 1_000, 4, 60), NO_MINIMUM, 5).expect("a sample");
        // The send interval, 60 - 2 us, is longer than the acknowledgement interval of 40 us.
        assert_eq!((sample.delivered_bytes, sample.interval), (2_000, Duration::from_us(58)));
        assert!((sample.bytes_per_second() - 2_000.0 / 58e-6).abs() < 1e-3);
    }

    #[test]
    fn samples_are_the_applications_until_what_was_in_flight_is_delivered() {
        let mut rates = DeliveryRate::default();
        rates.sent(0, at(0), true);
        rates.limit_by_application(1_000);
        rates.sent(1, at(1), false);
        assert!(!rates.sample(&delivery(40, 1_000, 0, 0), NO_MINIMUM, 1).expect("a sample").app_limited);
        assert!(rates.sample(&delivery(41, 1_000, 1, 1), NO_MINIMUM, 2).expect("a sample").app_limited);
        rates.sent(2, at(42), true);
        assert!(!rates.sample(&delivery(82, 1_000, 2, 42), NO_MINIMUM, 3).expect("a sample").app_limited);
    }

    #[test]
    fn the_application_limits_until_more_is_delivered_than_was_in_flight_and_from_the_first_byte_on() {
        for in_flight_bytes in [0, 1_000] {
            let mut rates = DeliveryRate::default();
            if in_flight_bytes > 0 {
                rates.sent(0, at(0), true);
            }
            rates.limit_by_application(in_flight_bytes);
            if in_flight_bytes > 0 {
                rates.sample(&delivery(40, 1_000, 0, 0), NO_MINIMUM, 1);
            }
            // As much as was in flight has been delivered, and not more.
            let number = u64::from(in_flight_bytes > 0);
            rates.sent(number, at(40), true);
            let sample = rates.sample(&delivery(80, 1_000, number, 40), NO_MINIMUM, number + 1);
            assert!(sample.expect("a sample").app_limited, "{in_flight_bytes} bytes were in flight");
        }
    }

    #[test]
    fn a_pause_is_not_part_of_any_interval() {
        let mut rates = DeliveryRate::default();
        rates.sent(0, at(0), true);
        rates.sample(&delivery(40, 1_000, 0, 0), NO_MINIMUM, 1);
        rates.sent(1, at(10_000), true);
        let sample = rates.sample(&delivery(10_040, 1_000, 1, 10_000), NO_MINIMUM, 2).expect("a sample");
        assert_eq!((sample.delivered_bytes, sample.interval), (1_000, Duration::from_us(40)));
    }

    #[test]
    fn an_answer_sooner_than_a_round_trip_is_no_sample() {
        let mut rates = DeliveryRate::default();
        rates.sent(0, at(0), true);
        rates.sent(0, at(39), false);
        let minimum = Duration::from_us(40);
        // The original's acknowledgement comes 1 us after the retransmission: 39 us after the first was sent.
        assert_eq!(rates.sample(&delivery(39, 1_000, 0, 39), minimum, 1), None);
        assert_eq!(rates.delivered_bytes(), 1_000);
    }
}
