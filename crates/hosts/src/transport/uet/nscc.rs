//! NSCC: the sender's window, from queueing delay and marks.
//!
//! An acknowledgement falls into one of four cases by mark and delay: neither means room, so the window grows in
//! proportion to the distance from the target, and faster without any delay for a window; delay without a mark means a
//! queue that drains, and all connections grow by the same; a mark with a short delay changes only the path; both
//! reduce the window. Quick adapt sets the window to the bytes that arrived in a round trip after heavy losses.

use hitless_core::wire::{BitRate, Duration, Time};

use super::settings::UetSettings;

// The authors' values (uet-htsim, revision 40ccb052).
/// Weight of the newest delay in the average.
const DELAY_GAIN: f64 = 0.0125;
/// Strength of the decrease.
const GAMMA: f64 = 0.8;
/// Minimum factor of a decrease.
const DECREASE_MAX: f64 = 0.5;
/// Delay that counts as none.
const NO_DELAY: Duration = Duration::from_us(1);
/// Reference product of rate and round-trip time: 100 Gb/s, 12 us.
const REFERENCE_BYTES: f64 = 150_000.0;
/// Quick adapt needs less than 1/N of the maximum window to have arrived.
const QUICK_ADAPT_SHARE: f64 = 8.0;

/// A sender's window.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct Nscc {
    window: f64,
    window_min: f64,
    window_max: f64,
    rate: BitRate,
    base_rtt: Duration,
    /// Round-trip time of the network, from the settings.
    network_rtt: Duration,
    target: f64,
    /// Bytes squared per byte and picosecond below the target.
    proportional: f64,
    /// Bytes squared per byte.
    fair: f64,
    /// Bytes per byte.
    fast: f64,
    /// Bytes per round trip.
    steady: f64,
    adjust_bytes: f64,
    average_delay: f64,
    /// Growth that is divided by the window at the next adjustment.
    growth: f64,
    received_bytes: f64,
    adjusted_at: Time,
    /// Bytes that arrived without delay.
    undelayed_bytes: f64,
    is_fast: bool,
    decreased_at: Time,
    /// Bytes that arrived since the last check of quick adapt.
    achieved_bytes: f64,
    quick_adapt_at: Option<Time>,
    has_losses: bool,
    /// Acknowledgements of packets sent before quick adapt do not count.
    ignored_bytes: f64,
    bytes_to_ignore: f64,
}

/// The message of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub newly_received: u64,
    /// Measured round-trip time, if the transmission is known.
    pub rtt: Option<Duration>,
    pub is_marked: bool,
    pub in_flight: u64,
}

impl Nscc {
    pub fn new(settings: &UetSettings, rate: BitRate) -> Self {
        let (mss, rtt) = (settings.mtu.0 as f64, settings.base_rtt);
        let scale = rate.bytes_in(rtt).0 as f64 / REFERENCE_BYTES;
        let target = settings.target_delay.unwrap_or(rtt.scaled(0.75)).as_ps() as f64;
        // With A = product / reference product and B = target / 12 us the authors use alpha = 4 mss A B / target, an
        // increase of 5 mss A for fairness, and eta = 0.15 mss A.
        let reference_rtt = Duration::from_us(12).as_ps() as f64;
        let full = f64::from(settings.full_frame_bytes());
        let window_max = settings.window_max(rate, rtt) as f64;
        let window = settings.initial_window.map_or(window_max, |packets| f64::from(packets) * full);
        Self {
            window,
            window_min: full,
            window_max,
            rate,
            base_rtt: rtt,
            network_rtt: rtt,
            target,
            proportional: 4.0 * mss * scale * (target / reference_rtt) / target,
            fair: 5.0 * mss * scale,
            fast: 0.25 * scale,
            steady: 0.15 * mss * scale,
            adjust_bytes: 8.0 * full,
            average_delay: 0.0,
            growth: 0.0,
            received_bytes: 0.0,
            adjusted_at: Time::ZERO,
            undelayed_bytes: 0.0,
            is_fast: false,
            decreased_at: Time::ZERO,
            achieved_bytes: 0.0,
            quick_adapt_at: None,
            has_losses: false,
            ignored_bytes: 0.0,
            bytes_to_ignore: 0.0,
        }
    }

    /// Starts the periods between adjustments and between decreases, with the first packet.
    pub fn start(&mut self, now: Time) {
        self.adjusted_at = now;
        self.decreased_at = now;
    }

    pub fn window(&self) -> u64 {
        self.window as u64
    }

    pub fn window_max(&self) -> u64 {
        self.window_max as u64
    }

    fn note_rtt(&mut self, rtt: Duration) {
        if rtt < self.base_rtt {
            self.base_rtt = rtt;
            self.window_max = (self.rate.bytes_in(rtt).0 as f64 * 1.5).max(self.window_min);
        }
    }

    fn average(&mut self, delay: f64, is_marked: bool) {
        // A long delay without a mark belongs to a queue that drains, so a quarter of the round-trip time counts.
        let sample = if !is_marked && delay > self.target { self.base_rtt.as_ps() as f64 * 0.25 } else { delay };
        self.average_delay += DELAY_GAIN * (sample - self.average_delay);
    }

    pub fn acknowledged(&mut self, now: Time, sample: &Sample) {
        let bytes = sample.newly_received as f64;
        self.achieved_bytes += bytes;
        self.received_bytes += bytes;
        self.ignored_bytes += bytes;
        let delay = match sample.rtt {
            Some(rtt) => {
                self.note_rtt(rtt);
                let delay = rtt.saturating_sub(self.base_rtt).as_ps() as f64;
                self.average(delay, sample.is_marked);
                delay
            }
            None => self.average_delay,
        };
        if self.adapt_quickly(now, false, sample.is_marked, delay, sample.in_flight) {
            return;
        }
        match (sample.is_marked, delay >= self.target) {
            (false, true) => self.growth += self.fair * bytes,
            (false, false) => self.grow(bytes, delay),
            (true, true) => self.decrease(now),
            (true, false) => {}
        }
        self.bound();
        let since_adjustment = now.saturating_since(self.adjusted_at);
        if self.received_bytes > self.adjust_bytes || since_adjustment > self.network_rtt {
            self.adjust(now, since_adjustment);
        }
        self.bound();
    }

    fn grow(&mut self, bytes: f64, delay: f64) {
        if delay >= NO_DELAY.as_ps() as f64 {
            self.undelayed_bytes = 0.0;
            self.is_fast = false;
        } else {
            self.undelayed_bytes += bytes;
            self.is_fast |= self.undelayed_bytes > self.window;
        }
        if self.is_fast {
            self.window += bytes * self.fast;
        } else {
            self.growth += self.proportional * bytes * (self.target - delay);
        }
    }

    fn decrease(&mut self, now: Time) {
        self.is_fast = false;
        self.undelayed_bytes = 0.0;
        // Once per round trip: the effect of a decrease is visible only in the acknowledgements after it.
        let is_due = now.saturating_since(self.decreased_at) > self.base_rtt;
        if self.average_delay > self.target && is_due {
            let excess = (self.average_delay - self.target) / self.average_delay;
            self.window = (self.window * (1.0 - GAMMA * excess).max(DECREASE_MAX)).max(self.window_min);
            self.decreased_at = now;
        }
    }

    fn adjust(&mut self, now: Time, since_adjustment: Duration) {
        // A round trip acknowledges a window of bytes. So its growth does not depend on the window, and connections
        // converge.
        self.window += self.growth / self.window;
        if since_adjustment >= self.network_rtt {
            self.window += self.steady;
            self.adjusted_at = now;
        }
        self.growth = 0.0;
        self.received_bytes = 0.0;
    }

    fn bound(&mut self) {
        self.window = self.window.max(self.window_min).min(self.window_max);
    }

    /// Sets the window to the bytes achieved, once per round trip, if losses or a long delay call for it. Returns
    /// whether the rest of the acknowledgement is ignored.
    fn adapt_quickly(&mut self, now: Time, is_loss: bool, is_marked: bool, delay: f64, in_flight: u64) -> bool {
        let mut is_done = false;
        if self.ignored_bytes < self.bytes_to_ignore && is_marked {
            is_done = true;
        } else if self.quick_adapt_at.is_none_or(|at| now > at) {
            let is_bad = self.has_losses || is_loss || delay > 4.0 * self.target;
            let is_starved = self.achieved_bytes < self.window_max / QUICK_ADAPT_SHARE;
            if self.quick_adapt_at.is_some() && is_bad && is_starved {
                self.window = self.achieved_bytes.max(self.window_min);
                self.bytes_to_ignore = in_flight as f64;
                self.ignored_bytes = 0.0;
                self.has_losses = false;
                is_done = true;
            }
            self.achieved_bytes = 0.0;
            self.quick_adapt_at = Some(now + self.base_rtt + Duration::from_ps(self.target as u64));
        }
        if is_done {
            self.growth = 0.0;
            self.received_bytes = 0.0;
        }
        is_done
    }

    /// Handles a trimmed packet. With credit the receiver's port is taken for the bottleneck, and only quick adapt
    /// changes the window.
    pub fn trimmed(&mut self, now: Time, frame_bytes: u32, rtt: Duration, in_flight: u64, has_credit: bool) {
        self.ignored_bytes += f64::from(frame_bytes);
        self.note_rtt(rtt);
        // A full queue delays by about a round trip.
        self.average(self.network_rtt.as_ps() as f64, true);
        self.has_losses = true;
        if !self.adapt_quickly(now, true, true, 0.0, in_flight) && !has_credit {
            self.window -= f64::from(frame_bytes);
            self.bound();
        }
    }

    pub fn timed_out(&mut self, frame_bytes: u32) {
        self.window = (self.window - f64::from(frame_bytes)).max(self.window_min);
    }
}
