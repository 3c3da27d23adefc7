//! Loss detection: RACK with its reordering window, tail loss probes, and duplicate acknowledgements.

use crate::transport::tcp::rack::Rack;
use crate::transport::tcp::rto::RttEstimator;
use crate::transport::tcp::scoreboard::Scoreboard;
use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::{Duration, Time};

/// A tail loss probe in flight (RFC 8985, section 7).
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Probe {
    /// Next sequence to send when the probe was sent (TLP.end_seq).
    pub end: u64,
    /// Whether it repeated the last segment instead of sending new data (TLP.is_retrans).
    pub retransmission: bool,
}

#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub(super) struct LossDetection {
    pub probe: Option<Probe>,
    /// End of RACK's reordering window; [`Time::NEVER`] if nothing waits for it.
    pub reordering_ends_at: Time,
    /// Consecutive duplicate acknowledgements, without SACK.
    pub duplicate_acks: u32,
    /// DupThresh.
    pub dupack_threshold: u32,
    /// Whether RACK detects losses, which needs SACK (RFC 8985, section 4).
    pub uses_rack: bool,
    /// Whether a tail loss probe waits to be sent.
    pub probe_due: bool,
    pub rack: Rack,
}

impl LossDetection {
    pub fn new(config: &TcpSettings) -> Self {
        Self {
            rack: Rack::new(),
            uses_rack: config.rack_tlp && config.sack && config.fast_retransmit,
            reordering_ends_at: Time::NEVER,
            probe: None,
            probe_due: false,
            duplicate_acks: 0,
            dupack_threshold: config.duplicate_acks,
        }
    }

    /// Returns RACK if it detects losses.
    pub fn rack_in_use(&self) -> Option<&Rack> {
        self.uses_rack.then_some(&self.rack)
    }

    /// Returns whether there are enough duplicates to imply loss.
    pub fn has_enough_dupacks(&self) -> bool {
        self.duplicate_acks >= self.dupack_threshold
    }

    /// Marks the segments that RACK considers lost (RFC 8985, section 6.2, steps 4 and 5); returns whether the end of
    /// the reordering window has changed.
    pub fn detect_by_rack(
        &mut self,
        scoreboard: &mut Scoreboard,
        rtt: &RttEstimator,
        is_recovering: bool,
        now: Time,
    ) -> bool {
        // RFC 8985, section 6.2, step 4: recovery, or DupThresh SACKed segments.
        let impatient = is_recovering || scoreboard.sacked_segments() >= self.dupack_threshold;
        self.rack.update_window(impatient, rtt.min_rtt(), rtt.srtt());
        let remaining = scoreboard.detect_by_time(&self.rack, now);
        let ends_at = if remaining == Duration::ZERO { Time::NEVER } else { now + remaining };
        let has_moved = ends_at != self.reordering_ends_at;
        self.reordering_ends_at = ends_at;
        has_moved
    }

    /// Resolves the tail loss probe once `snd_una` has reached its end (RFC 8985, section 7.4.2). Returns whether it is
    /// over, and whether it has repaired a loss.
    pub fn resolve_probe(&self, snd_una: u64, both_arrived: bool) -> Option<(bool, bool)> {
        let probe = self.probe.filter(|probe| snd_una >= probe.end)?;
        // An acknowledgement beyond the end of a repeated segment: the receiver needed the repetition.
        let repaired = probe.retransmission && snd_una > probe.end;
        Some((!probe.retransmission || repaired || both_arrived, repaired))
    }

    /// Makes loss detection slower, because a reduction was spurious.
    pub fn tolerate_reordering(&mut self, sacked_segments: u32) {
        self.rack.widen();
        // Above the number of segments that overtook the first one this time.
        self.dupack_threshold = self.dupack_threshold.max(sacked_segments + 1);
        self.duplicate_acks = 0;
    }

    /// Stops waiting for probes and reordering windows at a retransmission timeout.
    pub fn on_rto(&mut self) {
        self.duplicate_acks = 0;
        self.probe = None;
        self.probe_due = false;
        self.reordering_ends_at = Time::NEVER;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985, section 7.4.2. A probe of new data is over with its acknowledgement. A probe that repeated the last
    /// segment has repaired a loss if more than that segment is acknowledged.
    #[test]
    fn a_probe_is_over_from_its_end_on_and_has_repaired_a_loss_beyond_it() {
        // (retransmission, snd_una, both arrived, expected result)
        let table = [
            (false, 999, false, None),
            (false, 1_000, false, Some((true, false))),
            (true, 999, true, None),
            (true, 1_000, false, Some((false, false))),
            (true, 1_000, true, Some((true, false))),
            (true, 1_001, false, Some((true, true))),
        ];
        for (retransmission, snd_una, both_arrived, expected) in table {
            let mut loss = LossDetection::new(&TcpSettings::default());
            assert_eq!(loss.resolve_probe(snd_una, both_arrived), None, "no probe was sent");
            loss.probe = Some(Probe { end: 1_000, retransmission });
            let found = loss.resolve_probe(snd_una, both_arrived);
            assert_eq!(found, expected, "{retransmission} {snd_una} {both_arrived}");
        }
    }

    #[test]
    fn the_threshold_of_duplicates_never_falls() {
        let mut loss = LossDetection::new(&TcpSettings { duplicate_acks: 3, ..TcpSettings::default() });
        for (sacked_segments, threshold) in [(1, 3), (7, 8), (4, 8)] {
            loss.duplicate_acks = 2;
            loss.tolerate_reordering(sacked_segments);
            assert_eq!((loss.dupack_threshold, loss.duplicate_acks), (threshold, 0), "{sacked_segments} were sacked");
        }
    }
}
