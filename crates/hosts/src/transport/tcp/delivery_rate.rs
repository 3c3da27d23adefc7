//! Delivery rate samples (draft-cheng-iccrg-delivery-rate-estimation-02).
//!
//! A segment stores, when it is sent, the bytes delivered so far. When it is acknowledged, the bytes delivered since
//! then, divided by the time that took, are a sample of the path's delivery rate. Maintained only for a congestion
//! control that needs it.

use super::delivery::Delivery;
use super::ring::Ring;
use hitless_core::wire::{Duration, Time};

/// The per-packet state of the draft, stored when a segment is sent.
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

/// A sample of the path's delivery rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered over the interval (rs.delivered).
    pub delivered_bytes: u64,
    /// Longer of the send and the acknowledgement time of these bytes (rs.interval); not zero.
    pub interval: Duration,
    /// Total bytes delivered when the last segment of the sample was sent (rs.prior_delivered).
    pub prior_delivered_bytes: u64,
    /// Whether the application may have limited the rate instead of the network (rs.is_app_limited).
    pub app_limited: bool,
}

impl RateSample {
    pub fn bytes_per_second(&self) -> f64 {
        self.delivered_bytes as f64 / self.interval.as_seconds()
    }
}

/// The connection's state, with the records of the segments in flight, numbered as in the scoreboard.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct DeliveryRate {
    records: Ring<SendRecord>,
    /// C.delivered.
    delivered_bytes: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent_at: Time,
    /// C.app_limited: deliveries up to here do not measure the network; 0 if none.
    app_limited_until: u64,
}

impl DeliveryRate {
    /// Returns the bytes delivered over the life of the connection (C.delivered).
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Records a transmission of segment `number`; `idle` means that nothing was in flight before it (section 3.2).
    pub fn sent(&mut self, number: u64, now: Time, idle: bool) {
        // Idle time is not part of any sample.
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

    /// Records that the application has nothing to send, or cannot, while `in_flight_bytes` are in flight (section
    /// 3.4).
    pub fn limit_by_application(&mut self, in_flight_bytes: u64) {
        self.app_limited_until = (self.delivered_bytes + in_flight_bytes).max(1);
    }

    /// Counts the delivery of an acknowledgement (section 3.3); `first` is the first segment still in flight.
    ///
    /// Returns no sample if nothing was delivered, or if the interval is shorter than any round trip: then a
    /// retransmission was credited with the delivery of its original.
    pub fn sample(&mut self, delivery: &Delivery, minimum_rtt: Duration, first: u64) -> Option<RateSample> {
        if delivery.bytes > 0 {
            self.delivered_bytes += delivery.bytes;
            self.delivered_at = delivery.now;
        }
        // All data in flight when the application was the limit has been delivered.
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
        // The next samples measure the send rate starting at the segment delivered last.
        self.first_sent_at = sent_at;
        // Acknowledgements can arrive compressed, which makes their interval too short; the longer interval avoids
        // overestimates.
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

    /// Creates an acknowledgement of `bytes` at `now_us`; the last segment sent of them is `number`, at `sent_us`.
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
        // Sent at 60 us, after three deliveries, one every 10 us.
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
            // Exactly the bytes in flight have been delivered.
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
        // The original's acknowledgement arrives 1 us after the retransmission, 39 us after the first transmission.
        assert_eq!(rates.sample(&delivery(39, 1_000, 0, 39), minimum, 1), None);
        assert_eq!(rates.delivered_bytes(), 1_000);
    }
}
