//! What the receiver tells of segments that came without their payload.

use super::TcpSender;
use crate::transport::tcp::congestion::AckEvent;
use crate::transport::tcp::delivery::Timestamp;
use hitless_wire::{Duration, TcpFlags, TcpHeader, Time};

impl TcpSender {
    /// The segment named is lost, for certain; to congestion control it is a loss like any other, once for each window.
    #[inline]
    pub(super) fn note_loss(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) {
            let bytes = self.scoreboard.mark_named_lost(header.sequence, Timestamp(header.timestamp));
            self.prr.left(bytes);
        }
    }

    /// The same, by an acknowledgement that another has overtaken, which says nothing else of use.
    pub(super) fn note_overtaken_loss(&mut self, now: Time, header: &TcpHeader) {
        self.note_loss(header);
        let acknowledged = self.scoreboard.acknowledged();
        let next = self.scoreboard.next();
        let event = AckEvent { now, delivered_bytes: 0, acknowledged, next, rtt: Duration::ZERO, echo: false };
        self.reduce(&event, 0);
        self.go_on_after_loss(header);
        self.judge_order();
    }

    /// When nothing is left in the network no acknowledgement will come that could open the window.
    pub(super) fn go_on_after_loss(&mut self, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::LOSS) && self.scoreboard.pipe_bytes() == 0 {
            self.window.congestion_bytes = self.window.congestion_bytes.max(self.window.segment_bytes);
        }
    }
}
