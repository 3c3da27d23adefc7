//! What the receiver tells of segments that came without their payload.

use super::TcpSender;
use crate::transport::tcp::congestion::AckEvent;
use crate::transport::tcp::delivery::Timestamp;
use hitless_core::wire::{TcpFlags, TcpHeader, Time};

impl TcpSender {
    /// The segment named is lost, for certain; to congestion control it is a loss like any other, once for each window.
    #[inline]
    pub(super) fn note_loss(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) {
            let bytes = self.scoreboard.mark_named_lost(header.sequence, Timestamp(header.timestamp));
            self.reduction.prr.left(bytes);
        }
    }

    /// The same, by an acknowledgement that another has overtaken, which says nothing else of use.
    pub(super) fn note_overtaken_loss(&mut self, now: Time, header: &TcpHeader) {
        self.note_loss(header);
        let (snd_una, snd_nxt) = (self.scoreboard.snd_una(), self.scoreboard.snd_nxt());
        let event = AckEvent { now, snd_una, snd_nxt, ..AckEvent::default() };
        self.reduce(&event, 0);
        self.keep_cwnd_open(header);
        self.reopen_fast_path();
    }

    /// When nothing is left in the network no acknowledgement will come that could open the window.
    pub(super) fn keep_cwnd_open(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) && self.scoreboard.pipe_bytes() == 0 {
            self.congestion.window.cwnd_bytes = self.congestion.window.cwnd_bytes.max(self.congestion.window.mss_bytes);
        }
    }
}
