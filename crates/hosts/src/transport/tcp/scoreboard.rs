//! The scoreboard: what is in flight, what of it arrived, and what is believed lost.
//!
//! Segments lie in a ring in order of sequence and carry running numbers. Each keeps the length it was first sent
//! with. `pipe` (RFC 6675) is kept as a sum: outstanding - sacked - lost + retransmitted.

#[cfg(test)]
mod tests;

use super::delivery::{Delivery, Timestamp};
use super::rack::Rack;
use super::ring::Ring;
use super::segment::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, SACKED, Segment};
use hitless_core::wire::{Duration, SackBlocks, Time};
use std::collections::VecDeque;

/// The segments in flight and their sums.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Scoreboard {
    segments: Ring<Segment>,
    /// First sequence not acknowledged (SND.UNA).
    snd_una: u64,
    /// Next sequence to send (SND.NXT).
    snd_nxt: u64,
    /// Outstanding - sacked - lost + retransmitted.
    pipe_bytes: u64,
    /// Segments with a flag.
    flagged: u32,
    sacked_bytes: u64,
    /// What was ever believed lost, retransmissions included.
    losses_bytes: u64,
    lost_bytes: u64,
    retransmitted_bytes: u64,
    sacked_segments: u32,
    /// Segments lost of which no retransmission is in flight.
    pending_retransmissions: u32,
    /// No unrepaired segment has a smaller number.
    retransmit_from: u64,
    /// Segments below this number that were sent once are sacked or lost: loss detection need not look at them.
    decided: u64,
    /// Number after the highest sacked segment.
    sacked_limit: u64,
    /// Highest sequence acknowledged in any way (RFC 8985: RACK.fack).
    highest_delivered: u64,
    /// Retransmissions in the order they were sent; entries may be out of date.
    retransmissions: VecDeque<(u64, Time)>,
    /// The blocks of the last acknowledgement, so that a growing block costs only its growth.
    known_blocks: [(u64, u64); 3],
}

impl Scoreboard {
    /// First sequence not acknowledged (SND.UNA).
    #[inline]
    pub fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Next sequence to send (SND.NXT).
    #[inline]
    pub fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Bytes sent and not acknowledged in order (FlightSize of RFC 5681).
    #[inline]
    pub fn outstanding_bytes(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// Bytes believed to be in the network (pipe of RFC 6675).
    #[inline]
    pub fn pipe_bytes(&self) -> u64 {
        debug_assert_eq!(
            self.pipe_bytes + self.sacked_bytes + self.lost_bytes,
            self.outstanding_bytes() + self.retransmitted_bytes
        );
        self.pipe_bytes
    }

    /// The sums fit one another; costs nothing in a release build.
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

    /// Whether no segment in flight was sacked, lost or sent again.
    pub fn is_in_order(&self) -> bool {
        self.flagged == 0 && self.sacked_bytes == 0
    }

    /// Whether no retransmission is remembered, be it out of date.
    pub fn never_retransmitted(&self) -> bool {
        self.retransmissions.is_empty()
    }

    /// Whether [`Self::detect_by_time`] might find anything while nothing has a flag: the first segment was sent
    /// before the one that arrived last.
    #[inline]
    pub fn may_have_losses(&self, rack: &Rack) -> bool {
        self.segments.front().is_some_and(|first| rack.sent_after(first.sent_at, first.end))
    }

    /// Bytes selectively acknowledged (without SACK: believed delivered for the duplicate acknowledgements).
    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked_bytes
    }

    /// Segments selectively acknowledged.
    pub fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Whether a lost segment waits to be sent again.
    #[inline]
    pub fn has_pending_retransmissions(&self) -> bool {
        self.pending_retransmissions != 0
    }

    /// Lost segments that wait to be sent again.
    pub fn pending_retransmissions(&self) -> u64 {
        self.pending_retransmissions as u64
    }

    /// Bytes ever believed lost, retransmissions included.
    pub fn losses_bytes(&self) -> u64 {
        self.losses_bytes
    }

    /// Number of the first segment in flight, or of the next to come.
    pub fn first_number(&self) -> u64 {
        self.segments.first()
    }

    /// Number of the next segment to come.
    pub fn next_number(&self) -> u64 {
        self.segments.next()
    }

    /// Segments in flight.
    #[inline]
    pub fn segments(&self) -> u64 {
        self.segments.len()
    }

    /// Whether the next segment makes the scoreboard grow.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.segments.is_full()
    }

    /// Makes room for more segments.
    pub fn grow(&mut self) {
        self.segments.grow();
    }

    /// When the segment in flight that begins at `sequence` was last sent.
    pub fn sent_at(&self, sequence: u64) -> Option<Time> {
        let number = self.segments.partition_point(|segment| segment.start() < sequence);
        self.segments.get(number).filter(|segment| segment.start() == sequence).map(|segment| segment.sent_at)
    }

    /// Adds a segment of `payload_bytes` at the end, sent at `now`.
    #[inline]
    pub fn push(&mut self, payload_bytes: u16, now: Time) {
        debug_assert!(payload_bytes > 0, "a segment of no bytes");
        self.snd_nxt += u64::from(payload_bytes);
        self.pipe_bytes += u64::from(payload_bytes);
        self.segments.push(Segment { end: self.snd_nxt, sent_at: now, payload_bytes, flags: 0 });
    }

    /// Everything below `acknowledgement` arrived, and no segment has a flag: the short way of [`Self::acknowledge`].
    /// Returns when the oldest and the newest segment delivered had been sent.
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

    /// Everything below `acknowledgement` arrived.
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

    /// Takes every copy of a segment out of the network.
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

    /// Takes the SACK blocks of an acknowledgement (RFC 2018).
    pub fn sack(&mut self, blocks: &SackBlocks, acknowledgement: u64, delivery: &mut Delivery) {
        let mut seen = [(0, 0); 3];
        for (index, (start, end)) in blocks.absolute(acknowledgement).enumerate() {
            debug_assert!(acknowledgement < start && start < end, "SACK block {start}-{end} at {acknowledgement}");
            debug_assert!(seen.iter().all(|&(from, to)| end <= from || to <= start), "SACK blocks overlap");
            seen[index] = (start, end);
            self.sack_range(start, end.min(self.snd_nxt), delivery);
        }
        self.known_blocks = seen;
        self.check_sums();
    }

    fn sack_range(&mut self, start: u64, end: u64, delivery: &mut Delivery) {
        let (mut start, mut end) = (start.max(self.snd_una), end);
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

    /// Believes the segment lost, retransmission included.
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
        segment.flags = (segment.flags | LOST) & !RETRANSMITTED;
        self.losses_bytes += segment.bytes();
        self.pending_retransmissions += 1;
        self.retransmit_from = self.retransmit_from.min(number);
        self.check_sums();
    }

    /// Believes the first segment lost, if it was sent only once (RFC 6582, section 3.2, step 3: partial ACKs).
    pub fn mark_first_original_lost(&mut self) {
        if self.segments.front().is_some_and(|segment| segment.flags == 0) {
            let sacked_bytes = self.sacked_bytes;
            self.forget_dupacks();
            self.mark_lost(self.segments.first());
            self.assume_sacked(sacked_bytes);
        }
    }

    /// Believes the first segment lost, retransmission included.
    pub fn mark_first_lost(&mut self) {
        if self.segments.len() > 0 {
            self.mark_lost(self.segments.first());
        }
    }

    /// The receiver says that the segment which begins at `sequence` and was sent at `timestamp` came without its
    /// payload. Returns the bytes that left the network by it: none if that segment has arrived meanwhile, or another
    /// copy of it is on its way.
    pub fn mark_named_lost(&mut self, sequence: u64, timestamp: Timestamp) -> u64 {
        let number = self.segments.partition_point(|segment| segment.start() < sequence);
        let Some(&segment) = self.segments.get(number) else { return 0 };
        let is_meant = segment.start() == sequence && Timestamp::at(segment.sent_at) == timestamp;
        let is_in_flight = !segment.is(SACKED) && segment.flags & (LOST | RETRANSMITTED) != LOST;
        if !is_meant || !is_in_flight {
            return 0;
        }
        // What was counted for duplicate acknowledgements, without SACK, is no more than fits beside what is lost.
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

    /// A retransmission timeout: believes lost the first segment and every other that `rack` gives up.
    ///
    /// RFC 8985, section 6.3. Without RACK all that was not sacked is lost (RFC 6675, section 5.1).
    pub fn mark_lost_on_timeout(&mut self, rack: Option<&Rack>, now: Time) {
        let first = self.segments.first();
        for number in first..self.segments.next() {
            let segment = self.segments.get_mut(number);
            let given_up = rack.is_none_or(|rack| rack.remaining(segment.sent_at, now) == Duration::ZERO);
            if !segment.is(SACKED) && (number == first || given_up) {
                self.mark_lost(number);
            }
        }
        // The scan may have passed over segments above the ones it left.
        self.decided = first;
    }

    /// Takes back every loss whose retransmission was not sent: the network only reordered.
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

    /// Finds losses by time (RFC 8985, section 6.2, step 5). Returns how long until more may be found; zero: never.
    pub fn detect_by_time(&mut self, rack: &Rack, now: Time) -> Duration {
        let originals = self.detect_originals(rack, now);
        originals.max(self.detect_retransmissions(rack, now))
    }

    /// Segments sent once lie in the order they were sent: the scan ends at the first sent after RACK's newest.
    fn detect_originals(&mut self, rack: &Rack, now: Time) -> Duration {
        let mut timeout = Duration::ZERO;
        let mut number = self.decided.max(self.segments.first());
        while let Some(segment) = self.segments.get(number) {
            if segment.flags == 0 {
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

    /// Finds losses by count: a segment is lost when `threshold` segments above it arrived (RFC 6675, IsLost).
    pub fn detect_by_count(&mut self, threshold: u32) {
        if self.sacked_segments < threshold {
            return;
        }
        let mut above = 0;
        let mut limit = self.sacked_limit;
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

    /// The first lost segment of which no retransmission is in flight: its number and itself.
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

    /// The last segment and its number, unless it has arrived.
    pub fn last(&self) -> Option<(u64, Segment)> {
        let number = self.segments.next().checked_sub(1)?;
        let segment = *self.segments.get(number)?;
        (!segment.is(SACKED)).then_some((number, segment))
    }

    /// Whether this is the number of the first segment in flight.
    pub fn is_first(&self, number: u64) -> bool {
        number == self.segments.first()
    }

    /// The segment was sent again at `now`.
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
        debug_assert!(self.retransmissions.back().is_none_or(|&(_, sent_at)| sent_at <= now), "sent again in the past");
        self.retransmissions.push_back((number, now));
        self.check_sums();
    }

    /// Without SACK: a duplicate acknowledgement says that some segment above the gap arrived.
    ///
    /// Counting it as sacked does what the inflated window of RFC 6582 does. Returns the bytes counted.
    pub fn count_dupack(&mut self, mss_bytes: u64) -> u64 {
        let before = self.sacked_bytes;
        self.assume_sacked(before + mss_bytes);
        self.sacked_bytes.saturating_sub(before)
    }

    /// Without SACK: [`Self::acknowledge`]; the first segment filled a gap, the rest had been counted as duplicates.
    pub fn acknowledge_without_sack(&mut self, acknowledgement: u64, delivery: &mut Delivery) {
        let first_bytes = self.segments.front().map_or(0, Segment::bytes);
        let counted_bytes = self.sacked_bytes;
        self.forget_dupacks();
        self.acknowledge(acknowledgement, delivery);
        self.assume_sacked(counted_bytes.saturating_sub(delivery.bytes.saturating_sub(first_bytes)));
        // What the duplicates stood for is not delivered once more.
        let known_bytes = counted_bytes - self.sacked_bytes.min(counted_bytes);
        delivery.bytes = delivery.bytes.saturating_sub(known_bytes).max(first_bytes);
    }

    /// Without SACK: forgets the duplicate acknowledgements.
    pub fn forget_dupacks(&mut self) {
        self.assume_sacked(0);
    }

    /// Sets the sum of sacked bytes; what is lost, or at least the first segment, cannot have arrived.
    fn assume_sacked(&mut self, bytes: u64) {
        let first_bytes = self.segments.front().map_or(0, Segment::bytes);
        debug_assert!(self.lost_bytes.max(first_bytes) <= self.outstanding_bytes(), "more lost than sent");
        let room = self.outstanding_bytes() - self.lost_bytes.max(first_bytes);
        self.sacked_bytes = bytes.min(room);
        self.pipe_bytes = self.outstanding_bytes() + self.retransmitted_bytes - self.lost_bytes - self.sacked_bytes;
    }
}
