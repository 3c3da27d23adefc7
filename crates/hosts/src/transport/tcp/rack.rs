//! RACK: which segments are lost, by the time they were sent (RFC 8985, section 6).

use super::delivery::Delivery;
use hitless_core::wire::{Duration, Time};

/// RACK's state.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Rack {
    /// When the most recently sent segment that arrived had been sent (RACK.xmit_ts).
    sent_at: Time,
    /// Its end (RACK.end_seq).
    end: u64,
    /// Its round-trip time (RACK.rtt).
    rtt: Duration,
    /// How far segments may be reordered without being lost (RACK.reo_wnd).
    window: Duration,
    /// Segments were seen out of order (RACK.reordering_seen).
    reordering_seen: bool,
    /// Quarters of the smallest round-trip time in the window (RACK.reo_wnd_mult).
    multiplier: u64,
}

impl Rack {
    /// RACK at the start of a connection.
    pub fn new() -> Self {
        Self { multiplier: 1, ..Self::default() }
    }

    /// Takes what an acknowledgement delivered (section 6.2, steps 2 and 3).
    pub fn update(&mut self, delivery: &Delivery) {
        self.reordering_seen |= delivery.reordering;
        if delivery.newest_end != 0 {
            let rtt = delivery.now.saturating_since(delivery.newest_sent_at);
            self.advance(delivery.newest_sent_at, delivery.newest_end, rtt);
        }
    }

    /// A segment arrived that was sent at `sent_at` and ends at `end` (section 6.2, step 2).
    #[inline]
    pub fn advance(&mut self, sent_at: Time, end: u64, rtt: Duration) {
        self.rtt = rtt;
        // As a rule it was sent later, which one comparison tells.
        if sent_at > self.sent_at || !self.sent_after(sent_at, end) {
            debug_assert!((sent_at, end) >= (self.sent_at, self.end), "RACK's newest segment moves back");
            self.sent_at = sent_at;
            self.end = end;
        }
    }

    /// Section 6.2, step 4. `impatient`: in recovery, or enough segments arrived above a gap to mean loss.
    #[inline]
    pub fn update_window(&mut self, impatient: bool, minimum_rtt: Duration, smoothed_rtt: Option<Duration>) {
        self.window = match smoothed_rtt {
            Some(smoothed_rtt) if self.reordering_seen || !impatient => {
                (minimum_rtt / 4 * self.multiplier).min(smoothed_rtt)
            }
            _ => Duration::ZERO,
        };
    }

    /// A retransmission turned out to be spurious: waits longer from now on.
    ///
    /// RFC 8985 widens the window on DSACK; here the timestamps of the undo (RFC 3522) say the same.
    pub fn widen(&mut self) {
        self.reordering_seen = true;
        self.multiplier += 1;
    }

    /// Whether the segment that arrived last was sent after this one (RACK_sent_after).
    #[inline]
    pub fn sent_after(&self, sent_at: Time, end: u64) -> bool {
        (self.sent_at, self.end) > (sent_at, end)
    }

    /// How long until a segment sent at `sent_at` is lost; zero: it is.
    #[inline]
    pub fn remaining(&self, sent_at: Time, now: Time) -> Duration {
        (sent_at + self.rtt + self.window).saturating_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMUM_RTT: Duration = Duration::from_us(40);
    const SMOOTHED_RTT: Option<Duration> = Some(Duration::from_us(50));

    fn delivery(sent_at: Time, end: u64, reordering: bool) -> Delivery {
        let mut delivery = Delivery::new(Time(60_000_000), MINIMUM_RTT, 0);
        (delivery.newest_sent_at, delivery.newest_end, delivery.reordering) = (sent_at, end, reordering);
        delivery
    }

    #[test]
    fn the_window_is_a_quarter_of_the_smallest_round_trip_until_loss_is_certain() {
        // (reordering seen, impatient, times widened, window in us)
        let table = [
            (false, false, 0, 10),
            (false, true, 0, 0),
            (true, true, 0, 10),
            (true, false, 1, 20),
            (true, true, 9, 50),
        ];
        for (reordering, impatient, widened, window_us) in table {
            let mut rack = Rack::new();
            rack.update(&delivery(Time(1), 1_448, reordering));
            (0..widened).for_each(|_| rack.widen());
            rack.update_window(impatient, MINIMUM_RTT, SMOOTHED_RTT);
            assert_eq!(rack.window, Duration::from_us(window_us), "{reordering} {impatient} {widened}");
        }
    }

    #[test]
    fn a_segment_is_lost_a_round_trip_and_a_window_after_it_was_sent() {
        let mut rack = Rack::new();
        rack.update(&delivery(Time(20_000_000), 2_896, false));
        rack.update_window(false, MINIMUM_RTT, SMOOTHED_RTT);
        assert!(rack.sent_after(Time(20_000_000), 1_448));
        assert!(!rack.sent_after(Time(20_000_000), 2_896));
        assert_eq!(rack.remaining(Time(20_000_000), Time(60_000_000)), Duration::from_us(10));
        assert_eq!(rack.remaining(Time(10_000_000), Time(60_000_000)), Duration::ZERO);
    }

    #[test]
    fn an_older_delivery_does_not_move_the_newest_back() {
        let mut rack = Rack::new();
        rack.update(&delivery(Time(20_000_000), 2_896, false));
        rack.update(&delivery(Time(10_000_000), 1_448, true));
        assert_eq!((rack.sent_at, rack.end), (Time(20_000_000), 2_896));
        assert!(rack.reordering_seen);
    }
}
