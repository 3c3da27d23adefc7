//! Notifications from the receiver about segments without payload.

use super::TcpSender;
use crate::transport::tcp::congestion::AckEvent;
use crate::transport::tcp::delivery::Timestamp;
use hitless_core::wire::{TcpFlags, TcpHeader, Time};

impl TcpSender {
    /// Marks the named segment as lost. For congestion control it is an ordinary loss, once per window.
    #[inline]
    pub(super) fn note_loss(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) {
            let bytes = self.scoreboard.mark_named_lost(header.sequence, Timestamp(header.timestamp));
            self.reduction.prr.left(bytes);
        }
    }

    /// Does the same for an acknowledgement overtaken by another; the rest of it is outdated.
    pub(super) fn note_overtaken_loss(&mut self, now: Time, header: &TcpHeader) {
        self.note_loss(header);
        let (snd_una, snd_nxt) = (self.scoreboard.snd_una(), self.scoreboard.snd_nxt());
        let event = AckEvent { now, snd_una, snd_nxt, ..AckEvent::default() };
        self.reduce(&event, 0);
        self.keep_cwnd_open(header);
        self.reopen_fast_path();
    }

    /// Keeps the window open if the network is empty: no acknowledgement would arrive to open it.
    pub(super) fn keep_cwnd_open(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) && self.scoreboard.pipe_bytes() == 0 {
            self.congestion.window.cwnd_bytes = self.congestion.window.cwnd_bytes.max(self.congestion.window.mss_bytes);
        }
    }
}
