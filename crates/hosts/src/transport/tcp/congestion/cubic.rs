//! CUBIC (RFC 9438): the window grows as a cubic function of the time since the last reduction.

use super::api::{AckEvent, CongestionControl, CongestionSign, Window};
use hitless_core::wire::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The time of CUBIC's curve within a stage of congestion avoidance.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(rename_all = "kebab-case")]
pub enum CubicTime {
    /// Time in which the window limits the flow, instead of its application or receiver (RFC 9438, sections 4.2 and
    /// 5.8).
    #[default]
    Rfc9438,
    /// All time with data in flight, as in Linux: after a period with little data the window jumps.
    Linux,
}

/// Settings of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct CubicSettings {
    /// Time of CUBIC's curve.
    pub time: CubicTime,
    /// Grow the window only while it limits the sender (RFC 7661). Otherwise every acknowledgement grows it, even
    /// beyond the receive window (RFC 5681 as written, and INET).
    pub window_validation: bool,
}

impl Default for CubicSettings {
    fn default() -> Self {
        Self { time: CubicTime::Rfc9438, window_validation: true }
    }
}

/// C, in segments per cubic second (RFC 9438, section 5).
const AGGRESSIVENESS: f64 = 0.4;
/// beta_cubic: the part of the window that remains after a reduction (RFC 9438, section 4.6).
const BETA: f64 = 0.7;

/// CUBIC's state; windows in segments.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(in crate::transport::tcp) struct Cubic {
    time: CubicTime,
    /// t_epoch: start of this stage of congestion avoidance plus all excluded time; `None` between a reduction and the
    /// next growth.
    epoch: Option<Time>,
    /// Last acknowledgement of the stage; the time up to it has been classified.
    judged_until: Time,
    /// W_max.
    maximum: f64,
    /// K, in seconds.
    plateau_s: f64,
    /// W_est: the window of Reno.
    reno: f64,
    /// cwnd_prior.
    prior: f64,
    /// Increase of W_est per window of segments acknowledged (alpha_cubic).
    reno_increase: f64,
    /// Growth below a byte, carried over to the next acknowledgement.
    fraction_bytes: f64,
    /// Whether the next stage starts after a timeout (RFC 9438, section 4.8).
    after_timeout: bool,
}

impl Cubic {
    pub fn new(time: CubicTime) -> Self {
        Self { time, ..Self::default() }
    }

    /// Excludes the time since the last acknowledgement.
    fn leave_out_until(&mut self, now: Time) {
        self.epoch = self.epoch.map(|epoch| epoch + now.saturating_since(self.judged_until));
        self.judged_until = now;
    }

    /// Returns W_cubic(t) (RFC 9438, equation 1).
    fn window_at(&self, elapsed_s: f64) -> f64 {
        let offset_s = elapsed_s - self.plateau_s;
        AGGRESSIVENESS * offset_s * offset_s * offset_s + self.maximum
    }

    /// Computes K and W_est at the start of congestion avoidance (RFC 9438, section 4.2).
    fn begin_epoch(&mut self, now: Time, segments: f64) -> Time {
        // A stage after a timeout starts on the plateau (section 4.8), and so does a stage that starts above W_max.
        if self.after_timeout || self.maximum <= segments {
            self.maximum = segments;
            self.plateau_s = 0.0;
        } else {
            self.plateau_s = cube_root((self.maximum - segments) / AGGRESSIVENESS);
        }
        self.after_timeout = false;
        self.reno = segments;
        // Section 4.3: alpha_cubic, until W_est reaches cwnd_prior.
        self.reno_increase = 3.0 * (1.0 - BETA) / (1.0 + BETA);
        self.fraction_bytes = 0.0;
        self.epoch = Some(now);
        now
    }

    /// Returns the window in segments after this acknowledgement.
    fn next_window(&mut self, segments: f64, event: &AckEvent, delivered: f64) -> f64 {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(event.now, segments),
        };
        self.judged_until = event.now;
        let elapsed = event.now.saturating_since(epoch);
        // Acknowledgements of a whole window add up to the increase of a round trip.
        let share = delivered / segments;
        // Section 4.2: the target is W_cubic(t + RTT) within [cwnd, 1.5 cwnd], in the concave region (section 4.4) and
        // in the convex one (section 4.5).
        let target = self.window_at((elapsed + event.rtt).as_seconds()).clamp(segments, 1.5 * segments);
        let cubic = segments + (target - segments) * share;
        // Section 4.3, equation 4.
        if self.reno >= self.prior {
            self.reno_increase = 1.0;
        }
        self.reno += self.reno_increase * share;
        // Section 4.3: below W_est is the Reno-friendly region. The window there follows Reno.
        if self.window_at(elapsed.as_seconds()) < self.reno { self.reno.max(segments) } else { cubic }
    }

    fn avoid_congestion(&mut self, window: &mut Window, event: &AckEvent, bytes: u64) {
        let mss_bytes = window.mss_bytes as f64;
        let segments = (window.cwnd_bytes as f64 + self.fraction_bytes) / mss_bytes;
        let next_bytes = self.next_window(segments, event, bytes as f64 / mss_bytes) * mss_bytes;
        let growth_bytes = (next_bytes - window.cwnd_bytes as f64).max(0.0);
        assert!(growth_bytes.is_finite(), "a window of {next_bytes} bytes");
        self.fraction_bytes = growth_bytes - growth_bytes.floor();
        window.grow(growth_bytes as u64);
    }
}

impl CongestionControl for Cubic {
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        let mut bytes = event.delivered_bytes;
        if window.in_slow_start() {
            bytes = window.slow_start(bytes);
        }
        if bytes > 0 {
            self.avoid_congestion(window, event, bytes);
        }
    }

    /// Handles a reduction (RFC 9438, sections 4.6 to 4.8).
    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64 {
        self.after_timeout |= sign == CongestionSign::Rto;
        let segments = window.segments();
        // Fast convergence (section 4.7): a flow that lost before reaching W_max leaves room for others.
        self.maximum = if segments < self.maximum { segments * (1.0 + BETA) / 2.0 } else { segments };
        self.prior = segments;
        self.epoch = None;
        window.clamp_ssthresh((window.cwnd_bytes as f64 * BETA) as u64)
    }

    fn on_limited(&mut self, now: Time) {
        if self.time == CubicTime::Rfc9438 {
            self.leave_out_until(now);
        }
    }

    fn on_restart(&mut self, _window: &mut Window, now: Time, idle: Duration) {
        match self.time {
            CubicTime::Rfc9438 => self.leave_out_until(now),
            CubicTime::Linux => self.epoch = self.epoch.map(|epoch| epoch + idle),
        }
    }

    fn on_undo(&mut self, _window: &mut Window) {
        // RFC 9438, section 4.9: a spurious reduction must not leave a lower W_max.
        self.maximum = self.maximum.max(self.prior);
        self.epoch = None;
        self.after_timeout = false;
    }
}

/// Returns the cube root of a non-negative number, by Newton's method: the platform's function differs between
/// platforms.
fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    // A third of the exponent: exact to a few percent (Kahan's magic number).
    let mut root = f64::from_bits(value.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..5 {
        root -= (root - value / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::TcpSettings;

    const SEGMENT: f64 = 1_448.0;

    fn event(now: Time, rtt: Duration) -> AckEvent {
        AckEvent { now, delivered_bytes: 1_448, snd_una: 0, snd_nxt: 0, rtt, ece: false }
    }

    #[test]
    fn cube_roots_are_exact_to_rounding() {
        for value in [1e-6, 0.001, 0.3, 1.0, 8.0, 75.0, 1e3, 1e9] {
            let root = cube_root(value);
            assert!((root * root * root / value - 1.0).abs() < 1e-14, "{value}");
        }
        assert_eq!(cube_root(0.0), 0.0);
    }

    /// After a reduction from 100 segments, K = cbrt(100 * 0.3 / 0.4) = 4.217 s, and the window returns to 100 there.
    /// The round trip is long enough to make Reno slower.
    #[test]
    fn the_window_follows_the_curve_of_rfc_9438() {
        let mut cubic = Cubic::default();
        let mut window = TcpSettings::default().window();
        window.cwnd_bytes = 144_800;
        window.ssthresh_bytes = cubic.ssthresh(&window, CongestionSign::Loss);
        assert_eq!(window.ssthresh_bytes, 101_360);
        window.cwnd_bytes = window.ssthresh_bytes;
        let rtt = Duration::from_ms(150);
        let mut now = Time::ZERO;
        while now < Time::ZERO + Duration::from_seconds(6) {
            cubic.increase(&mut window, &event(now, rtt));
            let (segments, offset_s) = (window.cwnd_bytes as f64 / SEGMENT, now.as_seconds() - 4.2172);
            let curve = 100.0 + 0.4 * offset_s * offset_s * offset_s;
            assert!((segments - curve).abs() < 0.7, "{now}: {segments} against {curve}");
            now += rtt / (window.cwnd_bytes / 1_448);
        }
        assert!((cubic.plateau_s - 4.2172).abs() < 1e-4);
    }

    /// Section 4.3: in the Reno-friendly region, 0.53 segments per round trip until W_max, then 1.
    #[test]
    fn a_short_round_trip_grows_like_reno() {
        let mut cubic = Cubic::default();
        let mut window = TcpSettings::default().window();
        window.cwnd_bytes = 1_448 * 20;
        window.ssthresh_bytes = cubic.ssthresh(&window, CongestionSign::Loss);
        window.cwnd_bytes = window.ssthresh_bytes;
        let rtt = Duration::from_us(30);
        let segments = |window: &Window| window.cwnd_bytes as f64 / SEGMENT;
        let mut now = Time::ZERO;
        let mut grow = |window: &mut Window, rounds| {
            for _ in 0..rounds {
                // Exactly one window per round: W_est counts segments over cwnd.
                let mut bytes = window.cwnd_bytes;
                while bytes > 0 {
                    let delivered_bytes = bytes.min(1_448);
                    cubic.increase(window, &AckEvent { delivered_bytes, ..event(now, rtt) });
                    bytes -= delivered_bytes;
                }
                now += rtt;
            }
        };
        grow(&mut window, 8);
        assert!((segments(&window) - (14.0 + 8.0 * 9.0 / 17.0)).abs() < 0.15, "{}", segments(&window));
        grow(&mut window, 4);
        let before = segments(&window);
        assert!(before > 20.0);
        grow(&mut window, 10);
        assert!((segments(&window) - before - 10.0).abs() < 0.3, "{} after {before}", segments(&window));
    }

    #[test]
    fn fast_convergence_remembers_less_when_the_window_shrinks() {
        let mut cubic = Cubic::default();
        let mut window = TcpSettings::default().window();
        window.cwnd_bytes = 144_800;
        cubic.ssthresh(&window, CongestionSign::Loss);
        assert_eq!(cubic.maximum, 100.0);
        window.cwnd_bytes = 72_400;
        cubic.ssthresh(&window, CongestionSign::Loss);
        assert_eq!(cubic.maximum, 42.5);
    }

    #[test]
    fn after_a_timeout_the_curve_starts_on_its_plateau() {
        let mut cubic = Cubic::default();
        let mut window = TcpSettings::default().window();
        window.ssthresh_bytes = cubic.ssthresh(&window, CongestionSign::Rto);
        window.cwnd_bytes = window.ssthresh_bytes;
        cubic.increase(&mut window, &event(Time(1), Duration::from_us(30)));
        assert_eq!((cubic.plateau_s, cubic.maximum), (0.0, 7.0));
    }
}
