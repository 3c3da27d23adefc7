//! BBR's implementation of the congestion control interface.

use super::state::{Bbr, Mode};
use crate::transport::tcp::congestion::api::{
    AckEvent, AckSample, CongestionControl, CongestionSign, CongestionState, Window,
};
use hitless_core::wire::{BitRate, Duration, Time};

impl CongestionControl for Bbr {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    /// Handles an acknowledgement (draft, section 4.4: BBRUpdateModelAndState and BBRUpdateControlParameters).
    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
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
