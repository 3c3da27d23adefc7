//! RACK: detects lost segments by their transmission times (RFC 8985, section 6).

use super::delivery::Delivery;
use hitless_core::wire::{Duration, Time};

/// RACK's state.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Rack {
    /// Transmission time of the most recently sent segment that has arrived (RACK.xmit_ts).
    sent_at: Time,
    /// Its end (RACK.end_seq).
    end: u64,
    /// Its round-trip time (RACK.rtt).
    rtt: Duration,
    /// Reordering window: tolerated reordering in time (RACK.reo_wnd).
    window: Duration,
    /// Whether reordering was observed (RACK.reordering_seen).
    reordering_seen: bool,
    /// Multiplier of the window, in quarters of the minimum round-trip time (RACK.reo_wnd_mult).
    multiplier: u64,
}

impl Rack {
    pub fn new() -> Self {
        Self { multiplier: 1, ..Self::default() }
    }

    /// Updates the state with the delivery of an acknowledgement (section 6.2, steps 2 and 3).
    pub fn update(&mut self, delivery: &Delivery) {
        self.reordering_seen |= delivery.reordering;
        if delivery.newest_end != 0 {
            let rtt = delivery.now.saturating_since(delivery.newest_sent_at);
            self.advance(delivery.newest_sent_at, delivery.newest_end, rtt);
        }
    }

    /// Records the arrival of a segment sent at `sent_at` that ends at `end` (section 6.2, step 2).
    #[inline]
    pub fn advance(&mut self, sent_at: Time, end: u64, rtt: Duration) {
        self.rtt = rtt;
        // Usually it was sent later, which one comparison shows.
        if sent_at > self.sent_at || !self.sent_after(sent_at, end) {
            debug_assert!((sent_at, end) >= (self.sent_at, self.end), "RACK's newest segment moves back");
            self.sent_at = sent_at;
            self.end = end;
        }
    }

    /// Updates the window (section 6.2, step 4). `impatient` means recovery, or enough SACKed segments to imply loss.
    #[inline]
    pub fn update_window(&mut self, impatient: bool, minimum_rtt: Duration, smoothed_rtt: Option<Duration>) {
        // RFC 8985, section 6.2, step 4: min(RACK.reo_wnd_mult * RACK.min_RTT / 4, SRTT). The bound of an SRTT limits
        // the delay of a retransmission by reordering.
        self.window = match smoothed_rtt {
            // Without observed reordering, DupThresh SACKed segments or a recovery imply loss at once.
            Some(smoothed_rtt) if self.reordering_seen || !impatient => {
                (minimum_rtt / 4 * self.multiplier).min(smoothed_rtt)
            }
            _ => Duration::ZERO,
        };
    }

    /// Widens the window, because a retransmission was spurious.
    ///
    /// RFC 8985 widens it on DSACK; here the timestamps of the undo (RFC 3522) give the same information. The RFC
    /// resets the window after 16 recoveries without DSACK (RACK.reo_wnd_persist); here it stays wide.
    pub fn widen(&mut self) {
        self.reordering_seen = true;
        self.multiplier += 1;
    }

    /// Returns whether RACK's newest segment was sent after this one (RACK_sent_after).
    #[inline]
    pub fn sent_after(&self, sent_at: Time, end: u64) -> bool {
        (self.sent_at, self.end) > (sent_at, end)
    }

    /// Returns the time until a segment sent at `sent_at` is lost; zero means that it is lost now.
    #[inline]
    pub fn remaining(&self, sent_at: Time, now: Time) -> Duration {
        // RFC 8985, section 6.2, step 5: a round trip and the window after its transmission.
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
