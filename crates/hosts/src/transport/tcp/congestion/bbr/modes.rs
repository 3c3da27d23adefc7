//! The states of BBR and their gains (draft, section 4.3).

use super::state::{Bbr, Mode, STARTUP_GAIN};
use crate::transport::tcp::congestion::api::{AckSample, Window};
use hitless_core::engine::draws;
use hitless_core::wire::{Duration, Time};

/// Window gain once the rate is known (section 4.2.3.2).
const WINDOW_GAIN: f64 = 2.0;
/// Pacing gains, one per round-trip time (draft, section 4.3.4.1).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The rate has stopped growing if three consecutive round trips each add less than a quarter (section 4.3.2.2).
const FULL_PIPE_GROWTH: f64 = 1.25;
const FULL_PIPE_ROUNDS: u32 = 3;

impl Bbr {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => STARTUP_GAIN,
            Mode::Drain => 1.0 / STARTUP_GAIN,
            Mode::ProbeBandwidth { phase, .. } => CYCLE[phase],
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    pub(super) fn window_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => STARTUP_GAIN,
            Mode::ProbeBandwidth { .. } => WINDOW_GAIN,
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    /// Returns whether the current pacing gain probes for more bandwidth.
    pub(super) fn probes_up(&self) -> bool {
        matches!(self.mode, Mode::ProbeBandwidth { phase: 0, .. })
    }

    /// Checks whether the rate has stopped growing (draft, section 4.3.2.2: BBRCheckFullPipe).
    pub(super) fn check_full_pipe(&mut self, event: &AckSample) {
        let says_nothing = event.sample.is_none_or(|sample| sample.app_limited);
        if self.pipe_is_full || !self.bandwidth.round_starts() || says_nothing {
            return;
        }
        if self.bytes_per_second() >= self.full_bytes_per_second * FULL_PIPE_GROWTH {
            self.full_bytes_per_second = self.bytes_per_second();
            self.rounds_without_growth = 0;
            return;
        }
        self.rounds_without_growth += 1;
        self.pipe_is_full = self.rounds_without_growth >= FULL_PIPE_ROUNDS;
    }

    /// Enters and leaves the drain state (draft, section 4.3.3: BBRCheckDrain).
    pub(super) fn check_drain(&mut self, event: &AckSample) {
        if self.mode == Mode::Startup && self.pipe_is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && event.flight_bytes <= self.target_bytes(1.0) {
            self.enter_probe_bandwidth(event.now);
        }
    }

    /// Starts the cycle of gains (draft, section 4.3.4.2: BBREnterProbeBW). Flows start at different phases, but never
    /// by draining.
    fn enter_probe_bandwidth(&mut self, now: Time) {
        let last = CYCLE.len() - 1;
        // 8 - n modulo 8 for n from 0 to 6: every phase but 1, which drains.
        let phase = (last - draws::below(&mut self.stream, last) + 1) % CYCLE.len();
        self.mode = Mode::ProbeBandwidth { phase, since: now };
    }

    /// Advances the cycle of gains (draft, section 4.3.4.3: BBRCheckCyclePhase).
    pub(super) fn update_cycle(&mut self, event: &AckSample) {
        let Mode::ProbeBandwidth { phase, since } = self.mode else { return };
        if self.phase_is_over(CYCLE[phase], event.now.saturating_since(since), event) {
            self.mode = Mode::ProbeBandwidth { phase: (phase + 1) % CYCLE.len(), since: event.now };
        }
    }

    fn phase_is_over(&self, gain: f64, lasted: Duration, event: &AckSample) -> bool {
        // BBRIsNextCyclePhase of the draft, section 4.3.4.3.
        let is_full_length = lasted > self.rtprop;
        if gain > 1.0 {
            // Long enough to fill the flight that the gain requires, unless that causes losses.
            let filled = event.lost_bytes > 0 || event.prior_flight_bytes >= self.target_bytes(gain);
            is_full_length && filled
        } else if gain < 1.0 {
            // The queue of the probing phase is gone once the flight is down to the product.
            is_full_length || event.prior_flight_bytes <= self.target_bytes(1.0)
        } else {
            is_full_length
        }
    }

    /// Updates the round-trip time (draft, sections 4.1.2.3 and 4.3.5: BBRUpdateRTprop and BBRCheckProbeRTT).
    pub(super) fn update_rtprop(&mut self, window: &mut Window, event: &AckSample) {
        let is_known = self.rtprop != Duration::MAX;
        let is_stale = is_known && event.now.saturating_since(self.rtprop_at) > self.rtprop_window;
        if event.rtt > Duration::ZERO && (event.rtt <= self.rtprop || is_stale) {
            // A stale minimum gives way to any sample: the path may have changed.
            (self.rtprop, self.rtprop_at) = (event.rtt, event.now);
        }
        let probes = matches!(self.mode, Mode::ProbeRtt { .. });
        // After an idle period the queue is empty, so the next sample measures the path without draining the flight.
        if is_stale && !self.resumed_from_idle && !probes {
            self.save_window(window);
            self.mode = Mode::ProbeRtt { until: None, round_is_over: false };
        }
        self.hold_flight_down(window, event);
        if event.sample.is_some() {
            self.resumed_from_idle = false;
        }
    }

    /// Handles a drained flight (draft, section 4.3.5: BBRHandleProbeRTT).
    fn hold_flight_down(&mut self, window: &mut Window, event: &AckSample) {
        let Mode::ProbeRtt { until, round_is_over } = &mut self.mode else { return };
        if until.is_none() {
            if event.flight_bytes <= Self::smallest_window(self.mss_bytes) {
                *until = Some(event.now + self.probe_rtt_duration);
                // The small flight must last for at least one round trip too (draft, section 4.3.5).
                self.bandwidth.end_round_after(event.total_delivered_bytes);
            }
            return;
        }
        *round_is_over |= self.bandwidth.round_starts();
        if *round_is_over {
            self.check_probe_rtt_done(window, event.now);
        }
    }

    /// Leaves the state once its time is over (draft, section 4.3.5: BBRExitProbeRTT).
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        let Mode::ProbeRtt { until: Some(until), .. } = self.mode else { return };
        if now <= until {
            return;
        }
        // The minimum was measured just now, so it is valid for another window.
        self.rtprop_at = now;
        window.cwnd_bytes = window.cwnd_bytes.max(self.saved_window_bytes);
        if self.pipe_is_full {
            self.enter_probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }
}
