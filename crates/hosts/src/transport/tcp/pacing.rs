//! Pacing: packets leave at a rate instead of as fast as the window allows.
//!
//! It works like Linux since version 4.20 (earliest departure times, set by TCP and enforced by the `fq` queueing
//! discipline). The segments of one burst of segmentation offload are released together; the next burst follows when
//! the first would have been sent at the rate.

use hitless_core::wire::{BitRate, Duration, Time};

/// Number of segments at the start of a connection that are not paced, so that short flows do not wait (Linux: 10).
const UNPACED_SEGMENTS: u64 = 10;

/// Below this rate, 1.2 Mb/s, a burst is one segment (BBR draft, section 4.2.2).
const SLOW_BPS: u64 = 1_200_000;

/// Maximum burst of segmentation offload.
const MOST_BYTES: u64 = 65_536;

/// Returns the number of segments released together at `rate`: one millisecond of data (BBR draft, section 4.2.2;
/// Linux: tcp_tso_autosize), at most `most`. Without segmentation offload (`None`) segments are released one by one.
pub(super) fn quantum_segments(rate: BitRate, mss_bytes: u64, most: Option<u32>) -> u64 {
    let Some(most) = most else { return 1 };
    let least = if rate.as_bps() < SLOW_BPS { 1 } else { 2 };
    // Linux divides by 1024, for speed.
    let bytes = (rate.as_bps() / 8 / 1_024).min(MOST_BYTES);
    (bytes / mss_bytes).max(least).min(u64::from(most))
}

/// The earliest departure of the next packet.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct Pacer {
    /// Earliest start of the next burst.
    next_burst_at: Time,
    /// Remaining bytes of the current burst.
    burst_bytes: u64,
    /// Lateness of the current burst that is not made up yet.
    late_by: Duration,
    /// Earliest departure of any packet, independent of the rate.
    gap_ends_at: Time,
    /// Whether a packet waits for pacing alone.
    is_waited_for: bool,
    /// Bytes that wait for pacing alone.
    held_bytes: u64,
}

impl Pacer {
    /// Holds all packets until `time`, replacing an earlier call.
    pub fn hold_until(&mut self, time: Time) {
        self.gap_ends_at = time;
    }

    /// Decides whether a packet may be sent; the answer also affects [`Self::wakes_at`].
    pub fn admit(&mut self, now: Time) -> bool {
        self.is_waited_for = now < self.gap_ends_at || (self.burst_bytes == 0 && now < self.next_burst_at);
        !self.is_waited_for
    }

    /// Charges a packet of `payload_bytes` sent at `now`, at `rate` and in bursts of `quantum_bytes`; the connection
    /// has sent `segments`, including this one.
    pub fn sent(&mut self, now: Time, payload_bytes: u64, rate: BitRate, quantum_bytes: u64, segments: u64) {
        if segments < UNPACED_SEGMENTS {
            // These packets still move the pacing clock (Linux: tcp_wstamp_ns), so that the first paced burst does not
            // count as late since time zero.
            self.next_burst_at = self.next_burst_at.max(now);
            return;
        }
        debug_assert!(quantum_bytes > 0, "bursts of no bytes");
        if self.burst_bytes == 0 {
            self.burst_bytes = quantum_bytes;
            self.late_by = now.saturating_since(self.next_burst_at);
        }
        self.burst_bytes = self.burst_bytes.saturating_sub(payload_bytes);
        let time = rate.time_for(payload_bytes);
        // After a late burst the next one follows sooner, by at most half of its duration (Linux,
        // tcp_update_skb_after_send).
        let made_up = self.late_by.min(time / 2);
        self.late_by = self.late_by - made_up;
        self.next_burst_at = self.next_burst_at.max(now) + (time - made_up);
    }

    /// Ends the burst; the rest of it will not be sent later.
    pub fn end_burst(&mut self) {
        self.burst_bytes = 0;
    }

    /// Records that pacing does not hold back the next packet.
    pub fn forget_waiting(&mut self) {
        self.is_waited_for = false;
        self.held_bytes = 0;
    }

    /// Records that the next packet waits for something else first and will ask again.
    pub fn stop_waiting(&mut self) {
        self.is_waited_for = false;
    }

    /// Records that `bytes` fit into the window and wait for pacing.
    pub fn hold_back(&mut self, bytes: u64) {
        self.held_bytes = bytes;
    }

    /// Returns the bytes that fit into the window and wait for pacing.
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Returns when a packet that waits for pacing alone may be sent.
    pub fn wakes_at(&self) -> Option<Time> {
        self.is_waited_for.then_some(self.next_burst_at.max(self.gap_ends_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte takes a nanosecond.
    const RATE: BitRate = BitRate::from_gbps(8);

    fn at(ns: u64) -> Time {
        Time::ZERO + Duration::from_ns(ns)
    }

    /// Returns the departures of `count` packets of 1000 bytes, all available at `start_ns`.
    fn departures(quantum_bytes: u64, start_ns: u64, count: u64) -> Vec<u64> {
        let (mut pacer, mut now) = (Pacer::default(), at(start_ns));
        let mut times = Vec::new();
        for _ in 0..count {
            if !pacer.admit(now) {
                now = pacer.wakes_at().expect("it waits for the pacing");
                assert!(pacer.admit(now));
            }
            times.push(now.as_ps() / 1_000);
            pacer.sent(now, 1_000, RATE, quantum_bytes, UNPACED_SEGMENTS);
        }
        times
    }

    #[test]
    fn packets_go_at_the_rate_one_by_one_or_in_bursts() {
        let table: [(u64, &[u64]); 3] = [
            (1_000, &[0, 1_000, 2_000, 3_000, 4_000]),
            (2_000, &[0, 0, 2_000, 2_000, 4_000]),
            (4_000, &[0, 0, 0, 0, 4_000]),
        ];
        for (quantum_bytes, expected) in table {
            assert_eq!(departures(quantum_bytes, 0, 5), expected, "bursts of {quantum_bytes}");
        }
    }

    #[test]
    fn a_late_burst_is_followed_sooner_by_half_of_its_time() {
        assert_eq!(departures(1_000, 300, 3), [300, 1_000, 2_000]);
        assert_eq!(departures(1_000, 10_000, 3), [10_000, 10_500, 11_500]);
    }

    #[test]
    fn the_first_segments_are_not_paced() {
        let mut pacer = Pacer::default();
        for segments in 1..UNPACED_SEGMENTS {
            pacer.sent(at(0), 1_000, RATE, 1_000, segments);
            assert!(pacer.admit(at(0)), "{segments} segments sent");
        }
        pacer.sent(at(0), 1_000, RATE, 1_000, UNPACED_SEGMENTS);
        assert!(!pacer.admit(at(0)));
    }

    #[test]
    fn the_first_paced_burst_is_late_since_the_packet_before_it_only() {
        for start_ns in [0, 1_050_000] {
            let (mut pacer, start) = (Pacer::default(), at(start_ns));
            (1..UNPACED_SEGMENTS).for_each(|segments| pacer.sent(start, 1_000, RATE, 1_000, segments));
            pacer.sent(start, 1_000, RATE, 1_000, UNPACED_SEGMENTS);
            assert!(!pacer.admit(at(start_ns + 999)), "from {start_ns} ns on");
            assert_eq!(pacer.wakes_at(), Some(at(start_ns + 1_000)), "from {start_ns} ns on");
        }
    }

    #[test]
    fn a_burst_is_what_the_rate_sends_in_a_millisecond() {
        let rate = |kbps: u64| BitRate::from_bps(kbps * 1_000).expect("not zero");
        // (rate in kb/s, maximum segments, expected segments of 1448 bytes)
        let table = [
            (1_000, Some(44), 1),
            (1_200, Some(44), 2),
            (100_000, Some(44), 8),
            (10_000_000, Some(44), 44),
            (10_000_000, Some(16), 16),
            (10_000_000, None, 1),
        ];
        for (kbps, most, segments) in table {
            assert_eq!(quantum_segments(rate(kbps), 1_448, most), segments, "{kbps} kb/s, at most {most:?}");
        }
    }
}
