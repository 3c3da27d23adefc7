//! Loss recovery of RFC 5681 without RFC 6582, as RFC 2001 has it.

use super::TcpSender;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::Window;
use crate::transport::tcp::settings::TcpRecovery;
use hitless_core::wire::Time;

impl TcpSender {
    /// Whether losses are recovered as in [`TcpRecovery::Reno`].
    #[inline]
    pub(super) fn is_reno(&self) -> bool {
        self.config.recovery == TcpRecovery::Reno && !self.config.sack
    }

    /// Whether duplicates grow the window while they last. An algorithm that sets the window by itself has them taken
    /// off the flight instead.
    pub(super) fn inflates_cwnd(&self) -> bool {
        self.is_reno() && !self.congestion.sets_cwnd()
    }

    /// Whether a fast recovery is under way in which duplicates grow the window.
    pub(super) fn has_inflated_cwnd(&self) -> bool {
        self.reduction.state == CongestionState::Recovery && self.inflates_cwnd()
    }

    /// The window that a loss or a timeout is judged by: with Reno not more than the receiver's (RFC 2001, section 3).
    pub(super) fn window_at_loss(&self) -> Window {
        let mut window = self.congestion.window;
        if self.is_reno() {
            window.cwnd_bytes = window.cwnd_bytes.min(self.send_buffer.snd_wnd_bytes.into());
        }
        window
    }

    /// An acknowledgement that another has overtaken stands between duplicates: the count begins anew, as in 4.4BSD.
    pub(super) fn interrupt_dupacks(&mut self) {
        if self.is_reno() && self.reduction.state != CongestionState::Recovery {
            self.loss.duplicate_acks = 0;
        }
    }

    /// RFC 5681, section 3.2, steps 2 and 3: the first segment goes again, even if it did so before; nothing tells old
    /// duplicates from new ones.
    pub(super) fn recover_by_dupacks(&mut self, now: Time) {
        if self.reduction.state != CongestionState::Recovery && self.loss.has_enough_dupacks() {
            self.scoreboard.mark_first_lost();
            self.enter_recovery(now, 0);
            self.reduction.retransmit_at_once = true;
        }
    }

    /// Step 3: room for the segments that the duplicates say have left the network.
    pub(super) fn inflate_cwnd_at_start(&mut self) {
        let left_bytes = u64::from(self.loss.duplicate_acks) * self.congestion.window.mss_bytes;
        self.congestion.window.cwnd_bytes = self.congestion.window.ssthresh_bytes + left_bytes;
    }

    /// Step 4: one more has left. The bound of the window holds again when the recovery ends.
    pub(super) fn inflate_cwnd(&mut self) {
        self.congestion.window.cwnd_bytes += self.congestion.window.mss_bytes;
    }
}
