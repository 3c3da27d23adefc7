//! A window that can be less than a segment; packets then leave with a gap of the round-trip time divided by the window
//! (Swift, section 3.4).

use super::api::Window;
use hitless_core::wire::{Duration, Time};

/// The window of Swift and Bolt, and the round-trip time for their gaps.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct FractionalWindow {
    /// cwnd, in segments.
    pub segments: f64,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Duration,
    /// Window before a reduction that may have to be undone.
    undo_segments: f64,
    minimum_segments: f64,
    /// Weight of the newest sample of the round-trip time.
    rtt_gain: f64,
}

impl FractionalWindow {
    /// Creates the window of a new connection, as large as `window` and at least `minimum_segments`.
    pub fn new(window: &Window, minimum_segments: f64, rtt_gain: f64) -> Self {
        Self { segments: window.segments(), rtt: Duration::ZERO, undo_segments: 0.0, minimum_segments, rtt_gain }
    }

    pub fn note_rtt(&mut self, rtt: Duration) {
        self.rtt = if self.rtt == Duration::ZERO {
            rtt
        } else {
            let (old, new) = (self.rtt.as_ps() as f64, rtt.as_ps() as f64);
            Duration((old + self.rtt_gain * (new - old)) as u64)
        };
    }

    /// Returns whether a round-trip time has passed since `last`.
    pub fn is_round_over(&self, last: Option<Time>, now: Time) -> bool {
        last.is_none_or(|last| now.saturating_since(last) >= self.rtt)
    }

    /// Remembers the window at the start of a reduction that may have to be undone.
    pub fn remember(&mut self) {
        self.undo_segments = self.segments;
    }

    /// Undoes the reduction, unless the window has grown beyond the old value.
    pub fn undo(&mut self, window: &mut Window) {
        self.segments = self.segments.max(self.undo_segments);
        self.bound(window);
    }

    /// Limits the window to its bounds, and copies it to `window`, which limits the flight: at least a segment, because
    /// the gap spaces smaller windows.
    pub fn bound(&mut self, window: &mut Window) {
        let most = window.max_cwnd_bytes as f64 / window.mss_bytes as f64;
        self.segments = self.segments.max(self.minimum_segments).min(most);
        debug_assert!(self.segments.is_finite() && self.segments > 0.0, "a window of {} segments", self.segments);
        window.cwnd_bytes = self.whole_bytes(window).max(window.mss_bytes);
    }

    /// Returns the minimum time between packets.
    pub fn packet_gap(&self) -> Option<Duration> {
        (self.segments < 1.0).then(|| Duration((self.rtt.as_ps() as f64 / self.segments) as u64))
    }

    /// Returns the window, even below a segment.
    pub fn bytes(&self, window: &Window) -> u64 {
        if self.segments < 1.0 { self.whole_bytes(window) } else { window.cwnd_bytes }
    }

    fn whole_bytes(&self, window: &Window) -> u64 {
        (self.segments * window.mss_bytes as f64) as u64
    }
}
