//! Loss recovery of RFC 5681 without RFC 6582, as in RFC 2001.

use super::TcpSender;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::Window;
use crate::transport::tcp::settings::TcpRecovery;
use hitless_core::wire::Time;

impl TcpSender {
    /// Returns whether losses are recovered as in [`TcpRecovery::Reno`].
    #[inline]
    pub(super) fn is_reno(&self) -> bool {
        self.config.recovery == TcpRecovery::Reno && !self.config.sack
    }

    /// Returns whether duplicates inflate the window. For an algorithm that sets the window, they reduce the flight
    /// instead.
    pub(super) fn inflates_cwnd(&self) -> bool {
        self.is_reno() && !self.congestion.sets_cwnd()
    }

    /// Returns whether a fast recovery with an inflated window is in progress.
    pub(super) fn has_inflated_cwnd(&self) -> bool {
        self.reduction.state == CongestionState::Recovery && self.inflates_cwnd()
    }

    /// Returns the window for judging a loss or a timeout: with Reno at most the receive window (RFC 2001, section 3).
    pub(super) fn window_at_loss(&self) -> Window {
        let mut window = self.congestion.window;
        if self.is_reno() {
            window.cwnd_bytes = window.cwnd_bytes.min(self.send_buffer.snd_wnd_bytes.into());
        }
        window
    }

    /// Resets the count of duplicates after an acknowledgement overtaken by another, like 4.4BSD.
    pub(super) fn interrupt_dupacks(&mut self) {
        if self.is_reno() && self.reduction.state != CongestionState::Recovery {
            self.loss.duplicate_acks = 0;
        }
    }

    /// Starts a fast retransmit (RFC 5681, section 3.2, steps 2 and 3) of the first segment, even if it was
    /// retransmitted before: old duplicates cannot be distinguished from new ones.
    pub(super) fn recover_by_dupacks(&mut self, now: Time) {
        if self.reduction.state != CongestionState::Recovery && self.loss.has_enough_dupacks() {
            self.scoreboard.mark_first_lost();
            self.enter_recovery(now, 0);
            self.reduction.retransmit_at_once = true;
        }
    }

    /// Inflates the window by the segments that the duplicates report as having left the network (step 3).
    pub(super) fn inflate_cwnd_at_start(&mut self) {
        let left_bytes = u64::from(self.loss.duplicate_acks) * self.congestion.window.mss_bytes;
        self.congestion.window.cwnd_bytes = self.congestion.window.ssthresh_bytes + left_bytes;
    }

    /// Inflates the window by one more segment (step 4). Its maximum applies again when the recovery ends.
    pub(super) fn inflate_cwnd(&mut self) {
        self.congestion.window.cwnd_bytes += self.congestion.window.mss_bytes;
    }
}
