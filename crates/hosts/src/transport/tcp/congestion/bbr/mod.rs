//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Linux's tcp_bbr.c if it is newer).
//!
//! Two numbers describe the path: the delivery rate of its bottleneck ([`bandwidth`], the maximum sample of ten round
//! trips) and its round-trip time without queues (the minimum of ten seconds). The sender paces at a multiple of the
//! rate and limits the flight to a multiple of their product. [`modes`] selects the multiples, [`window`] follows the
//! product and responds to losses, and [`aggregation`] adds room for bursts of acknowledgements.
//!
//! # Exceptions
//! - The estimate of a token-bucket policer's rate (long-term sampling in Linux) is omitted.
//! - The maximum sample of ten round trips is exact; Linux keeps the best three of ten.
//! - Round-trip times are never discounted as delayed by the receiver.
//! - Packets waiting in the network card count as in flight; Linux subtracts the data that pacing will have sent by the
//!   time they leave.

mod aggregation;
mod bandwidth;
mod modes;
mod state;
mod window;

#[cfg(test)]
mod tests;

use super::api::{AckEvent, AckSample, CongestionControl, CongestionSign, CongestionState, Window};
use hitless_core::wire::{BitRate, Duration, Time};
use state::Mode;

pub(super) use state::Bbr;
pub use state::{BbrSettings, PathModel};

impl CongestionControl for Bbr {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    /// Handles an acknowledgement (draft, section 4.4: BBRUpdateModelAndState and BBRUpdateControlParameters).
    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        // The model comes first: the states compare with it, and the rate and the window follow from both.
        self.update_bandwidth(event);
        self.update_aggregation(window, event);
        self.update_cycle(event);
        self.check_full_pipe(event);
        self.check_drain(event);
        self.update_rtprop(window, event);
        if let (false, Some(rtt)) = (self.has_seen_rtt, event.smoothed_rtt) {
            self.set_pacing_rate_from_rtt(window, rtt);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.set_window(window, event);
    }

    fn on_established(&mut self, window: &Window, rtt: Duration) {
        self.set_pacing_rate_from_rtt(window, rtt);
    }

    /// Only remembers the window; a loss or an echo alone does not change it.
    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        self.save_window(window);
        window.ssthresh_bytes
    }

    fn on_recovery(&mut self, _window: &mut Window, sign: CongestionSign, _now: Time) {
        if sign == CongestionSign::Rto {
            self.previous_state = CongestionState::Loss;
            // As in Linux (bbr_set_state): growth of the rate is measured again.
            self.full_bytes_per_second = 0.0;
        }
    }

    /// Handles a restart (draft, section 4.3.4.4: BBRHandleRestartFromIdle).
    fn on_restart(&mut self, window: &mut Window, now: Time, _idle: Duration) {
        self.resumed_from_idle = true;
        self.aggregation.begin_epoch(now);
        match self.mode {
            Mode::ProbeBandwidth { .. } => self.set_pacing_rate(1.0),
            Mode::ProbeRtt { .. } => self.check_probe_rtt_done(window, now),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn on_undo(&mut self, _window: &mut Window) {
        self.full_bytes_per_second = 0.0;
        self.rounds_without_growth = 0;
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(self.pacing_rate)
    }

    fn is_app_limited(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }
}
