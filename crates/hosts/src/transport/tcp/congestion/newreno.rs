//! Slow start and congestion avoidance of RFC 5681.

use super::api::{AckEvent, AdditiveIncrease, CongestionControl, CongestionSign, Window, WindowGrowth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of NewReno.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct NewrenoSettings {
    /// Growth of the window per acknowledgement.
    pub window_growth: WindowGrowth,
    /// Grow the window only while it limits the sender (RFC 7661). Otherwise every acknowledgement grows it, even
    /// beyond the receive window (RFC 5681 as written, and INET).
    pub window_validation: bool,
}

impl Default for NewrenoSettings {
    fn default() -> Self {
        Self { window_growth: WindowGrowth::ByteCounting, window_validation: true }
    }
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct NewReno {
    avoidance: AdditiveIncrease,
}

impl CongestionControl for NewReno {
    #[inline]
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        let mut bytes = event.delivered_bytes;
        if window.in_slow_start() {
            bytes = window.slow_start(bytes);
        }
        self.avoidance.grow(window, bytes);
    }

    /// Returns half of the window (RFC 5681, equation 4), instead of half of the flight: the window only grows while
    /// the flight fills it.
    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        window.clamp_ssthresh(window.cwnd_bytes / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AckEvent;
    use super::*;
    use crate::transport::tcp::{Congestion, TcpSettings};
    use hitless_core::wire::Bytes;
    use hitless_core::wire::{Duration, Time};

    fn delivered(bytes: u64) -> AckEvent {
        let rtt = Duration::from_us(30);
        AckEvent { now: Time(1), delivered_bytes: bytes, snd_una: bytes, snd_nxt: bytes, rtt, ece: false }
    }

    #[test]
    fn slow_start_doubles_a_window_and_avoidance_adds_a_segment() {
        let mut window = TcpSettings::default().window();
        let mut reno = NewReno::default();
        window.ssthresh_bytes = 20 * 1_448;
        (0..10).for_each(|_| reno.increase(&mut window, &delivered(1_448)));
        assert_eq!(window.cwnd_bytes, 20 * 1_448);
        (0..20).for_each(|_| reno.increase(&mut window, &delivered(1_448)));
        assert_eq!(window.cwnd_bytes, 21 * 1_448);
    }

    /// RFC 5681, section 3.1, equations 2 and 3: an acknowledgement counts once, however much it acknowledges.
    #[test]
    fn by_the_acknowledgement_slow_start_adds_a_segment_and_avoidance_its_part_of_the_window() {
        let newreno = NewrenoSettings { window_growth: WindowGrowth::PerAck, ..NewrenoSettings::default() };
        let config = TcpSettings { mss: Bytes(1_000), ..TcpSettings::with(Congestion::Newreno(newreno)) };
        let mut window = config.window();
        let mut reno = NewReno::default();
        window.ssthresh_bytes = 11_500;
        // (bytes acknowledged, window afterwards); slow start can exceed the threshold by less than a segment.
        let table = [(400, 10_400), (5_000, 11_400), (1_000, 12_400), (1_000, 12_480), (9_000, 12_560), (0, 12_560)];
        for (bytes, after) in table {
            reno.increase(&mut window, &delivered(bytes));
            assert_eq!(window.cwnd_bytes, after, "after {bytes}");
        }
        // If the window exceeds the square of a segment, one byte is added.
        (window.cwnd_bytes, window.ssthresh_bytes) = (2_000_000, 0);
        reno.increase(&mut window, &delivered(1_000));
        assert_eq!(window.cwnd_bytes, 2_000_001);
    }

    #[test]
    fn loss_halves_but_not_below_two_segments() {
        let mut window = TcpSettings::default().window();
        let mut reno = NewReno::default();
        assert_eq!(reno.ssthresh(&window, CongestionSign::Loss), 5 * 1_448);
        window.cwnd_bytes = 3 * 1_448;
        assert_eq!(reno.ssthresh(&window, CongestionSign::Loss), 2 * 1_448);
    }

    #[test]
    fn the_maximum_caps_growth() {
        let mut window = Window { max_cwnd_bytes: 15_000, ..TcpSettings::default().window() };
        NewReno::default().increase(&mut window, &delivered(100_000));
        assert_eq!(window.cwnd_bytes, 15_000);
    }
}
