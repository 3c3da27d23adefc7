//! The response to congestion, and the state to restore if it was wrong.

use crate::transport::tcp::congestion::{CongestionState, Window};
use crate::transport::tcp::delivery::Segment;
use crate::transport::tcp::delivery::Timestamp;
use crate::transport::tcp::prr::{Pipe, ProportionalRateReduction};
use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::{TcpFlags, TcpHeader, Time};

/// The state to restore after a spurious reduction (RFC 4015).
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Undo {
    pub cwnd_bytes: u64,
    pub ssthresh_bytes: u64,
    /// Time of the first retransmission, and the end of its segment.
    retransmission: Option<(Timestamp, u64)>,
    /// Retransmitted bytes not yet reported by DSACK.
    unreported_bytes: u64,
    /// Set when the reduction is over: no report is expected once more than this is acknowledged.
    until: Option<u64>,
}

/// A reduction of the window.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub(super) struct Reduction {
    undo: Option<Undo>,
    by_timestamps: bool,
    by_dsack: bool,
    /// Whether the first lost segment is retransmitted regardless of the window.
    pub retransmit_at_once: bool,
    /// Whether the next new data segment carries CWR (RFC 3168, section 6.1.2).
    pub cwr_due: bool,
    pub state: CongestionState,
    /// End of the state: everything below this is acknowledged (RecoveryPoint of RFC 6675).
    pub recovery_point: u64,
    pub prr: ProportionalRateReduction,
}

impl Reduction {
    pub fn new(config: &TcpSettings) -> Self {
        Self {
            state: CongestionState::Open,
            recovery_point: 0,
            prr: ProportionalRateReduction::default(),
            undo: None,
            by_timestamps: config.eifel_undo,
            by_dsack: config.dsack_undo,
            retransmit_at_once: false,
            cwr_due: false,
        }
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.state == CongestionState::Open
    }

    /// Returns whether lost segments are being retransmitted.
    #[inline]
    pub fn is_recovering(&self) -> bool {
        matches!(self.state, CongestionState::Recovery | CongestionState::Loss)
    }

    /// Returns whether nothing remains that may have to be undone.
    #[inline]
    pub fn is_final(&self) -> bool {
        self.undo.is_none()
    }

    /// Enters `state` with `flight_bytes` in the network; it lasts until `snd_nxt` is acknowledged.
    pub fn begin(&mut self, state: CongestionState, snd_nxt: u64, flight_bytes: u64) {
        assert!(snd_nxt >= self.recovery_point, "a recovery point moves back");
        self.state = state;
        self.recovery_point = snd_nxt;
        self.prr = ProportionalRateReduction::start(flight_bytes);
    }

    /// Lowers the window by one step towards the threshold.
    #[inline]
    pub fn shrink(&mut self, window: &mut Window, pipe: Pipe, delivered_bytes: u64, safe: bool) {
        let ssthresh_bytes = window.ssthresh_bytes;
        let bytes = self.prr.window_bytes(delivered_bytes, pipe, ssthresh_bytes, safe, window.mss_bytes);
        window.cwnd_bytes = bytes.min(window.max_cwnd_bytes);
    }

    /// Remembers `window` at the start of a reduction that may have to be undone.
    pub fn remember(&mut self, window: &Window) {
        self.undo = (self.by_timestamps || self.by_dsack).then_some(Undo {
            cwnd_bytes: window.cwnd_bytes,
            ssthresh_bytes: window.ssthresh_bytes,
            retransmission: None,
            unreported_bytes: 0,
            until: None,
        });
    }

    pub fn forget(&mut self) {
        self.undo = None;
    }

    pub fn note_retransmission(&mut self, segment: &Segment, now: Time) {
        if let Some(undo) = &mut self.undo {
            // RFC 3522 compares the echo with the first retransmission only.
            undo.retransmission.get_or_insert((Timestamp::at(now), segment.end));
            undo.unreported_bytes += segment.bytes();
        }
    }

    /// Ends the reduction; retransmissions can still be reported as duplicates.
    pub fn await_reports(&mut self, snd_nxt: u64) {
        // After the end of the reduction, only DSACKs can still show that it was wrong.
        self.undo = self.undo.filter(|undo| self.by_dsack && undo.retransmission.is_some());
        if let Some(undo) = &mut self.undo {
            undo.until.get_or_insert(snd_nxt);
        }
    }

    /// Returns the state to restore if all retransmissions have arrived twice: then nothing was lost (RFC 2883; RFC
    /// 3708 describes this use).
    #[inline]
    pub fn take_if_all_came_twice(&mut self, header: &TcpHeader) -> Option<Undo> {
        let undo = self.undo.as_mut()?;
        if undo.until.is_some_and(|until| header.acknowledgement > until) {
            self.undo = None;
        } else if header.flags.contains(TcpFlags::DSACK) && undo.retransmission.is_some() {
            // In a DSACK report the timestamp field has the length of the duplicate.
            undo.unreported_bytes = undo.unreported_bytes.saturating_sub(u64::from(header.timestamp));
            if undo.unreported_bytes == 0 {
                return self.undo.take();
            }
        }
        None
    }

    /// Returns the state to restore if the acknowledgement of the first retransmission echoes a timestamp from before
    /// it: then the original had arrived (RFC 3522).
    pub fn take_if_original_came(&mut self, snd_una: u64, echo: Timestamp) -> Option<Undo> {
        let undo = self.undo.filter(|_| self.by_timestamps)?;
        let (sent_at, _) = undo.retransmission.filter(|&(_, end)| snd_una >= end)?;
        self.undo = None;
        echo.is_before(sent_at).then_some(undo)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_on_its_way_down_is_the_pipe_and_what_may_go_and_never_above_its_bound() {
        for (pipe_bytes, max_cwnd_bytes, expected) in
            [(5_000, 100_000, 6_000), (5_000, 5_500, 5_500), (20_000, 10_000, 10_000)]
        {
            let config = TcpSettings::default();
            let mut window = Window { ssthresh_bytes: 8_000, mss_bytes: 1_000, max_cwnd_bytes, ..config.window() };
            let mut reduction = Reduction::new(&config);
            reduction.begin(CongestionState::Recovery, 30_000, 8_000);
            reduction.shrink(&mut window, Pipe { bytes: pipe_bytes, held_bytes: 0 }, 1_000, false);
            assert_eq!(window.cwnd_bytes, expected, "{pipe_bytes} in flight, at most {max_cwnd_bytes}");
        }
    }
}
