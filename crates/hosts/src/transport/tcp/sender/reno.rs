//! Loss recovery of RFC 5681 without RFC 6582, as RFC 2001 has it.

use super::{CongestionState, TcpSender};
use crate::transport::tcp::config::Recovery;
use crate::transport::tcp::congestion::Window;
use hitless_wire::Time;

impl TcpSender {
    /// Whether losses are recovered as in [`Recovery::Reno`].
    #[inline]
    pub(super) fn is_reno(&self) -> bool {
        self.config.recovery == Recovery::Reno && !self.config.sack
    }

    /// Whether duplicates grow the window while they last. An algorithm that sets the window by itself has them taken off
    /// the flight instead.
    pub(super) fn inflates_window(&self) -> bool {
        self.is_reno() && !self.algorithm_sets_window()
    }

    /// Whether a fast recovery is under way in which duplicates grow the window.
    pub(super) fn is_inflated(&self) -> bool {
        self.state == CongestionState::Recovery && self.inflates_window()
    }

    /// The window that a loss or a timeout is judged by: with Reno not more than the receiver's (RFC 2001, section 3).
    pub(super) fn window_at_loss(&self) -> Window {
        let mut window = self.window;
        if self.is_reno() {
            window.congestion_bytes = window.congestion_bytes.min(self.peer_window_bytes.into());
        }
        window
    }

    /// An acknowledgement that another has overtaken stands between duplicates: the count begins anew, as in 4.4BSD.
    pub(super) fn interrupt_duplicates(&mut self) {
        if self.is_reno() && self.state != CongestionState::Recovery {
            self.duplicate_acks = 0;
        }
    }

    /// RFC 5681, section 3.2, steps 2 and 3: the first segment goes again, even if it did so before; nothing tells old
    /// duplicates from new ones.
    pub(super) fn recover_by_duplicates(&mut self, now: Time) {
        if self.state != CongestionState::Recovery && self.duplicate_acks >= self.dupack_threshold {
            self.scoreboard.mark_first_lost();
            self.enter_recovery(now, 0);
            self.repair_at_once = true;
        }
    }

    /// Step 3: room for the segments that the duplicates say have left the network.
    pub(super) fn inflate_at_start(&mut self) {
        let left_bytes = u64::from(self.duplicate_acks) * self.window.segment_bytes;
        self.window.congestion_bytes = self.window.threshold_bytes + left_bytes;
    }

    /// Step 4: one more has left. The bound of the window holds again when the recovery ends.
    pub(super) fn inflate(&mut self) {
        self.window.congestion_bytes += self.window.segment_bytes;
    }
}
