//! The scoreboard: segments in flight, arrived, or assumed lost.
//!
//! Segments are in a ring in order of sequence, with consecutive numbers. Each keeps the length of its first
//! transmission. `pipe` (RFC 6675) is maintained as a sum: outstanding - sacked - lost + retransmitted.

#[cfg(test)]
mod tests;

use super::delivery::{Delivery, Timestamp};
use super::delivery::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, SACKED, Segment};
use super::rack::Rack;
use super::ring::Ring;
use hitless_core::wire::{Duration, SackBlocks, Time};
use std::collections::VecDeque;

/// The segments in flight, and sums over them. The first 64 bytes are enough for acknowledgements of data in order.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
#[repr(C)]
pub(super) struct Scoreboard {
    segments: Ring<Segment>,
    /// First sequence not acknowledged (SND.UNA).
    snd_una: u64,
    /// Next sequence to send (SND.NXT).
    snd_nxt: u64,
    /// Outstanding - sacked - lost + retransmitted.
    pipe_bytes: u64,
    /// Number of segments with a flag.
    flagged: u32,
    /// Number of lost segments without a retransmission in flight.
    pending_retransmissions: u32,
    sacked_bytes: u64,
    /// Total bytes ever assumed lost, including retransmissions.
    losses_bytes: u64,
    lost_bytes: u64,
    retransmitted_bytes: u64,
    sacked_segments: u32,
    /// Lower bound for the number of the first unrepaired segment.
    retransmit_from: u64,
    /// Segments below this number that were sent once are SACKed or lost, so loss detection skips them.
    decided: u64,
    /// Number of the highest SACKed segment plus one.
    sacked_limit: u64,
    /// Highest sequence acknowledged in any way (RFC 8985: RACK.fack).
    highest_delivered: u64,
    /// Retransmissions in order of time; entries can be outdated.
    retransmissions: VecDeque<(u64, Time)>,
    /// Blocks of the last acknowledgement, so that a growing block costs only its growth.
    known_blocks: [(u64, u64); 3],
}

impl Scoreboard {
    #[inline]
    pub fn snd_una(&self) -> u64 {
        self.snd_una
    }

    #[inline]
    pub fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Bytes sent and not acknowledged in order (FlightSize of RFC 5681).
    #[inline]
    pub fn outstanding_bytes(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// Bytes estimated to be in the network (pipe of RFC 6675).
    #[inline]
    pub fn pipe_bytes(&self) -> u64 {
        debug_assert_eq!(
            self.pipe_bytes + self.sacked_bytes + self.lost_bytes,
            self.outstanding_bytes() + self.retransmitted_bytes
        );
        self.pipe_bytes
    }

    /// Checks that the sums are consistent; free in release builds.
    #[inline]
    fn check_sums(&self) {
        debug_assert!(self.snd_una <= self.snd_nxt, "SND.UNA {} beyond SND.NXT {}", self.snd_una, self.snd_nxt);
        debug_assert!(
            self.sacked_bytes + self.lost_bytes <= self.snd_nxt - self.snd_una,
            "more sacked and lost than sent"
        );
        debug_assert!(u64::from(self.sacked_segments) <= self.segments.len(), "more segments sacked than sent");
        debug_assert!(u64::from(self.pending_retransmissions) <= self.segments.len(), "more lost than sent");
        debug_assert!(u64::from(self.flagged) <= self.segments.len(), "more flagged than sent");
        debug_assert!(
            self.segments.front().is_none_or(|first| first.start() == self.snd_una),
            "the first segment in flight does not begin at SND.UNA"
        );
    }

    /// Returns whether no segment in flight was SACKed, lost or retransmitted.
    pub fn is_in_order(&self) -> bool {
        self.flagged == 0 && self.sacked_bytes == 0
    }

    /// Returns whether no retransmission is recorded, not even an outdated one.
    pub fn never_retransmitted(&self) -> bool {
        self.retransmissions.is_empty()
    }

    /// Returns whether [`Self::detect_by_time`] can find anything while no segment has a flag: the first segment was
    /// sent before the one that arrived last.
    #[inline]
    pub fn may_have_losses(&self, rack: &Rack) -> bool {
        self.segments.front().is_some_and(|first| rack.sent_after(first.sent_at, first.end))
    }

    /// Bytes SACKed; without SACK, bytes assumed delivered because of duplicate acknowledgements.
    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    #[inline]
    pub fn has_pending_retransmissions(&self) -> bool {
        self.pending_retransmissions != 0
    }

    pub fn pending_retransmissions(&self) -> u64 {
        self.pending_retransmissions as u64
    }

    pub fn losses_bytes(&self) -> u64 {
        self.losses_bytes
    }

    /// Number of the first segment in flight, or of the next one.
    pub fn first_number(&self) -> u64 {
        self.segments.first()
    }

    pub fn next_number(&self) -> u64 {
        self.segments.next()
    }

    #[inline]
    pub fn segments(&self) -> u64 {
        self.segments.len()
    }

    /// Returns whether the next segment makes the scoreboard grow.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.segments.is_full()
    }

    pub fn grow(&mut self) {
        self.segments.grow();
    }

    /// Returns the last transmission of the segment in flight that starts at `sequence`.
    pub fn sent_at(&self, sequence: u64) -> Option<Time> {
        let number = self.segments.partition_point(|segment| segment.start() < sequence);
        self.segments.get(number).filter(|segment| segment.start() == sequence).map(|segment| segment.sent_at)
    }

    /// Appends a segment of `payload_bytes`, sent at `now`.
    #[inline]
    pub fn push(&mut self, payload_bytes: u16, now: Time) {
        debug_assert!(payload_bytes > 0, "a segment of no bytes");
        self.snd_nxt += u64::from(payload_bytes);
        self.pipe_bytes += u64::from(payload_bytes);
        self.segments.push(Segment { end: self.snd_nxt, sent_at: now, payload_bytes, flags: 0 });
    }

    /// Acknowledges everything below `acknowledgement` while no segment has a flag: the fast case of
    /// [`Self::acknowledge`]. Returns the transmission times of the oldest and the newest segment delivered.
    #[inline]
    pub fn acknowledge_in_order(&mut self, acknowledgement: u64) -> Option<(Time, Time)> {
        debug_assert!(
            (self.snd_una..=self.snd_nxt).contains(&acknowledgement),
            "an acknowledgement of what was not sent"
        );
        let oldest_sent_at = self.segments.front()?.sent_at;
        let mut newest_sent_at = None;
        while let Some(&segment) = self.segments.front() {
            if segment.end > acknowledgement {
                break;
            }
            self.segments.pop();
            self.pipe_bytes -= segment.bytes();
            self.snd_una = segment.end;
            newest_sent_at = Some(segment.sent_at);
        }
        self.check_sums();
        Some((oldest_sent_at, newest_sent_at?))
    }

    /// Acknowledges everything below `acknowledgement`.
    pub fn acknowledge(&mut self, acknowledgement: u64, delivery: &mut Delivery) {
        debug_assert!(
            (self.snd_una..=self.snd_nxt).contains(&acknowledgement),
            "an acknowledgement of what was not sent"
        );
        while let Some(&segment) = self.segments.front() {
            if segment.end > acknowledgement {
                break;
            }
            self.remove_first(&segment, delivery);
            self.segments.pop();
            self.snd_una = segment.end;
        }
        self.highest_delivered = self.highest_delivered.max(self.snd_una);
        self.check_sums();
    }

    fn remove_first(&mut self, segment: &Segment, delivery: &mut Delivery) {
        self.flagged -= u32::from(segment.flags != 0);
        delivery.retransmitted |= segment.is(EVER_RETRANSMITTED);
        if segment.is(SACKED) {
            self.sacked_bytes -= segment.bytes();
            self.sacked_segments -= 1;
            return;
        }
        self.count_delivered(self.segments.first(), segment, delivery, true);
        self.clear_in_flight(segment);
    }

    /// Reports a segment that arrives for the first time.
    fn count_delivered(&mut self, number: u64, segment: &Segment, delivery: &mut Delivery, in_order: bool) {
        delivery.note_sent(number, segment.sent_at);
        if segment.is(EVER_RETRANSMITTED) {
            delivery.add_retransmitted(segment, in_order);
        } else {
            delivery.reordering |= segment.end < self.highest_delivered;
            delivery.add_original(segment);
        }
    }

    /// Removes every copy of a segment from the network.
    fn clear_in_flight(&mut self, segment: &Segment) {
        if segment.is(LOST) {
            self.lost_bytes -= segment.bytes();
            self.pending_retransmissions -= u32::from(!segment.is(RETRANSMITTED));
        } else {
            self.pipe_bytes -= segment.bytes();
        }
        if segment.is(RETRANSMITTED) {
            self.retransmitted_bytes -= segment.bytes();
            self.pipe_bytes -= segment.bytes();
        }
    }

    /// Processes the SACK blocks of an acknowledgement (RFC 2018).
    pub fn sack(&mut self, blocks: &SackBlocks, acknowledgement: u64, delivery: &mut Delivery) {
        let mut seen = [(0, 0); 3];
        for (index, (start, end)) in blocks.absolute(acknowledgement).enumerate() {
            assert!(acknowledgement < start && start < end, "SACK block {start}-{end} at {acknowledgement}");
            debug_assert!(seen.iter().all(|&(from, to)| end <= from || to <= start), "SACK blocks overlap");
            seen[index] = (start, end);
            self.sack_range(start, end.min(self.snd_nxt), delivery);
        }
        self.known_blocks = seen;
        self.check_sums();
    }

    fn sack_range(&mut self, start: u64, end: u64, delivery: &mut Delivery) {
        let (mut start, mut end) = (start.max(self.snd_una), end);
        // Skips the part that the last acknowledgement already reported, at either end of the block.
        for &(known_start, known_end) in &self.known_blocks {
            if (known_start..known_end).contains(&start) {
                start = known_end;
            }
            if known_start < end && end <= known_end {
                end = known_start;
            }
        }
        if start >= end {
            return;
        }
        let mut number = self.segments.partition_point(|segment| segment.start() < start);
        while let Some(&segment) = self.segments.get(number).filter(|segment| segment.end <= end) {
            self.sack_segment(number, segment, delivery);
            number += 1;
        }
    }

    fn sack_segment(&mut self, number: u64, segment: Segment, delivery: &mut Delivery) {
        if segment.is(SACKED) {
            return;
        }
        self.count_delivered(number, &segment, delivery, false);
        self.clear_in_flight(&segment);
        delivery.sacked = true;
        self.flagged += u32::from(segment.flags == 0);
        self.segments.get_mut(number).flags = SACKED | (segment.flags & EVER_RETRANSMITTED);
        self.sacked_bytes += segment.bytes();
        self.sacked_segments += 1;
        self.sacked_limit = self.sacked_limit.max(number + 1);
        self.highest_delivered = self.highest_delivered.max(segment.end);
    }

    /// Assumes the segment lost, including its retransmission.
    fn mark_lost(&mut self, number: u64) {
        let segment = self.segments.get_mut(number);
        assert!(!segment.is(SACKED), "a delivered segment is not lost");
        if segment.is(RETRANSMITTED) {
            self.retransmitted_bytes -= segment.bytes();
            self.pipe_bytes -= segment.bytes();
        } else if segment.is(LOST) {
            return;
        }
        if !segment.is(LOST) {
            self.lost_bytes += segment.bytes();
            self.pipe_bytes -= segment.bytes();
        }
        self.flagged += u32::from(segment.flags == 0);
        // A lost retransmission leaves the segment lost, and due for another one.
        segment.flags = (segment.flags | LOST) & !RETRANSMITTED;
        self.losses_bytes += segment.bytes();
        self.pending_retransmissions += 1;
        self.retransmit_from = self.retransmit_from.min(number);
        self.check_sums();
    }

    /// Assumes the first segment lost if it was sent only once (RFC 6582, section 3.2, step 3: partial ACKs).
    pub fn mark_first_original_lost(&mut self) {
        if self.segments.front().is_some_and(|segment| segment.flags == 0) {
            let sacked_bytes = self.sacked_bytes;
            // The bytes assumed SACKed must leave room for the lost segment.
            self.forget_dupacks();
            self.mark_lost(self.segments.first());
            self.assume_sacked(sacked_bytes);
        }
    }

    /// Assumes the first segment lost, including its retransmission.
    pub fn mark_first_lost(&mut self) {
        if self.segments.len() > 0 {
            self.mark_lost(self.segments.first());
        }
    }

    /// Handles the receiver's notification that the segment starting at `sequence`, sent at `timestamp`, arrived
    /// without its payload. Returns the bytes that left the network: zero if that segment has arrived meanwhile, or
    /// another copy is in flight.
    pub fn mark_named_lost(&mut self, sequence: u64, timestamp: Timestamp) -> u64 {
        let number = self.segments.partition_point(|segment| segment.start() < sequence);
        let Some(&segment) = self.segments.get(number) else { return 0 };
        let is_meant = segment.start() == sequence && Timestamp::at(segment.sent_at) == timestamp;
        let is_in_flight = !segment.is(SACKED) && segment.flags & (LOST | RETRANSMITTED) != LOST;
        if !is_meant || !is_in_flight {
            return 0;
        }
        // Without SACK, the bytes counted for duplicate acknowledgements must fit into the flight minus the lost bytes.
        let counted_bytes = if self.sacked_segments == 0 { self.sacked_bytes } else { 0 };
        if counted_bytes > 0 {
            self.forget_dupacks();
        }
        self.mark_lost(number);
        if counted_bytes > 0 {
            self.assume_sacked(counted_bytes);
        }
        segment.bytes()
    }

    /// Handles a retransmission timeout: assumes the first segment lost, and every other that `rack` gives up.
    ///
    /// RFC 8985, section 6.3. Without RACK, everything that was not SACKed is lost (RFC 6675, section 5.1).
    pub fn mark_lost_on_timeout(&mut self, rack: Option<&Rack>, now: Time) {
        let first = self.segments.first();
        for number in first..self.segments.next() {
            let segment = self.segments.get_mut(number);
            // RFC 8985, section 6.3: RACK still waits for segments sent less than a round trip ago.
            let given_up = rack.is_none_or(|rack| rack.remaining(segment.sent_at, now) == Duration::ZERO);
            if !segment.is(SACKED) && (number == first || given_up) {
                self.mark_lost(number);
            }
        }
        // RFC 2018 clears all SACKed bits at a timeout, because a receiver may have discarded reported data. Receivers
        // here never do, so SACKed segments stay delivered.
        //
        // The scan may have skipped segments above the remaining ones.
        self.decided = first;
    }

    /// Undoes every loss without a retransmission: the network only reordered.
    pub fn forget_losses(&mut self) {
        for number in self.segments.first()..self.segments.next() {
            let segment = self.segments.get_mut(number);
            if segment.is(LOST) {
                segment.flags &= !LOST;
                self.flagged -= u32::from(segment.flags == 0);
                self.lost_bytes -= segment.bytes();
                self.pipe_bytes += segment.bytes();
                self.pending_retransmissions -= u32::from(!segment.is(RETRANSMITTED));
            }
        }
        self.decided = self.segments.first();
    }

    /// Detects losses by time (RFC 8985, section 6.2, step 5). Returns the time until more can be found; zero means
    /// never.
    pub fn detect_by_time(&mut self, rack: &Rack, now: Time) -> Duration {
        let originals = self.detect_originals(rack, now);
        originals.max(self.detect_retransmissions(rack, now))
    }

    /// Checks segments sent once. They are in order of transmission, so the scan ends at the first sent after RACK's
    /// newest.
    fn detect_originals(&mut self, rack: &Rack, now: Time) -> Duration {
        let mut timeout = Duration::ZERO;
        let mut number = self.decided.max(self.segments.first());
        while let Some(segment) = self.segments.get(number) {
            if segment.flags == 0 {
                // RFC 8985, section 6.2, step 5: only segments sent before RACK's newest can be lost.
                if !rack.sent_after(segment.sent_at, segment.end) {
                    break;
                }
                let remaining = rack.remaining(segment.sent_at, now);
                if remaining == Duration::ZERO {
                    self.mark_lost(number);
                } else {
                    timeout = timeout.max(remaining);
                }
            }
            number += 1;
            if timeout == Duration::ZERO {
                self.decided = number;
            }
        }
        timeout
    }

    fn detect_retransmissions(&mut self, rack: &Rack, now: Time) -> Duration {
        let mut timeout = Duration::ZERO;
        while let Some(&(number, sent_at)) = self.retransmissions.front() {
            let current =
                self.segments.get(number).filter(|segment| segment.is(RETRANSMITTED) && segment.sent_at == sent_at);
            if let Some(end) = current.map(|segment| segment.end) {
                // Retransmissions are in order of time too, so the rest is newer.
                if !rack.sent_after(sent_at, end) {
                    break;
                }
                timeout = rack.remaining(sent_at, now);
                if timeout > Duration::ZERO {
                    break;
                }
                self.mark_lost(number);
            }
            self.retransmissions.pop_front();
        }
        timeout
    }

    /// Detects losses by count: a segment is lost if `threshold` segments above it arrived (RFC 6675, IsLost).
    pub fn detect_by_count(&mut self, threshold: u32) {
        if self.sacked_segments < threshold {
            return;
        }
        let mut above = 0;
        let mut limit = self.sacked_limit;
        // RFC 6675, section 4, counts more than (DupThresh - 1) * SMSS SACKed bytes: with full segments, as many as the
        // threshold. Finds the highest segment with that many above it; all below it qualify too.
        while above < threshold && limit > self.segments.first() {
            limit -= 1;
            above += u32::from(self.segments.get(limit).is_some_and(|segment| segment.is(SACKED)));
        }
        for number in self.decided.max(self.segments.first())..limit {
            if self.segments.get(number).is_some_and(|segment| segment.flags == 0) {
                self.mark_lost(number);
            }
        }
        self.decided = self.decided.max(limit);
    }

    /// Returns number and content of the first lost segment without a retransmission in flight.
    pub fn next_retransmission(&mut self) -> Option<(u64, Segment)> {
        if self.pending_retransmissions == 0 {
            self.retransmit_from = u64::MAX;
            return None;
        }
        self.retransmit_from = self.retransmit_from.max(self.segments.first());
        while let Some(&segment) = self.segments.get(self.retransmit_from) {
            if segment.flags & (LOST | RETRANSMITTED) == LOST {
                return Some((self.retransmit_from, segment));
            }
            self.retransmit_from += 1;
        }
        unreachable!("{} lost segments are not in the ring", self.pending_retransmissions)
    }

    /// Returns the last segment with its number, unless it has arrived.
    pub fn last(&self) -> Option<(u64, Segment)> {
        let number = self.segments.next().checked_sub(1)?;
        let segment = *self.segments.get(number)?;
        (!segment.is(SACKED)).then_some((number, segment))
    }

    pub fn is_first(&self, number: u64) -> bool {
        number == self.segments.first()
    }

    pub fn retransmitted(&mut self, number: u64, now: Time) {
        let segment = self.segments.get_mut(number);
        assert!(!segment.is(SACKED), "a delivered segment is not sent again");
        if !segment.is(RETRANSMITTED) {
            self.retransmitted_bytes += segment.bytes();
            self.pipe_bytes += segment.bytes();
            self.pending_retransmissions -= u32::from(segment.is(LOST));
        }
        self.flagged += u32::from(segment.flags == 0);
        segment.flags |= RETRANSMITTED | EVER_RETRANSMITTED;
        segment.sent_at = now;
        assert!(self.retransmissions.back().is_none_or(|&(_, sent_at)| sent_at <= now), "sent again in the past");
        self.retransmissions.push_back((number, now));
        self.check_sums();
    }

    /// Without SACK: a duplicate acknowledgement implies that some segment above the gap arrived.
    ///
    /// Counting it as SACKed has the effect of the inflated window of RFC 6582. Returns the bytes counted.
    pub fn count_dupack(&mut self, mss_bytes: u64) -> u64 {
        let before = self.sacked_bytes;
        self.assume_sacked(before + mss_bytes);
        self.sacked_bytes.saturating_sub(before)
    }

    /// Like [`Self::acknowledge`], without SACK: the first segment filled a gap, and the rest was counted as
    /// duplicates.
    pub fn acknowledge_without_sack(&mut self, acknowledgement: u64, delivery: &mut Delivery) {
        let first_bytes = self.segments.front().map_or(0, Segment::bytes);
        let counted_bytes = self.sacked_bytes;
        self.forget_dupacks();
        self.acknowledge(acknowledgement, delivery);
        // Each duplicate counted as one segment; segments now acknowledged in order leave the count.
        self.assume_sacked(counted_bytes.saturating_sub(delivery.bytes.saturating_sub(first_bytes)));
        // Data counted for duplicates is not delivered a second time.
        let known_bytes = counted_bytes - self.sacked_bytes.min(counted_bytes);
        delivery.bytes = delivery.bytes.saturating_sub(known_bytes).max(first_bytes);
    }

    /// Without SACK: resets the count of duplicate acknowledgements.
    pub fn forget_dupacks(&mut self) {
        self.assume_sacked(0);
    }

    /// Sets the sum of SACKed bytes. Lost bytes, or at least the first segment, cannot have arrived.
    fn assume_sacked(&mut self, bytes: u64) {
        let first_bytes = self.segments.front().map_or(0, Segment::bytes);
        assert!(self.lost_bytes.max(first_bytes) <= self.outstanding_bytes(), "more lost than sent");
        let room = self.outstanding_bytes() - self.lost_bytes.max(first_bytes);
        self.sacked_bytes = bytes.min(room);
        self.pipe_bytes = self.outstanding_bytes() + self.retransmitted_bytes - self.lost_bytes - self.sacked_bytes;
    }
}
