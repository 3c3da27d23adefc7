//! The network card: a FIFO at line rate.
//!
//! The departure of a frame is known when it is queued, because the rate is constant, so the queue needs no memory for
//! frames. If the rate changes during the run, frames wait elsewhere (`changing_line`), and the card has one at a time.

use hitless_core::engine::Ring;
use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MINIMUM_FRAME_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration, LineClock, LineTiming, Time};

use super::card_timing::{CardClock, CardTiming};

/// The capacity of a card's queue, including the frame in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueCapacity {
    Unlimited,
    Packets(u32),
    /// Maximum number of bytes, including the overhead on the wire.
    Bytes(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkCardConfig {
    pub rate: BitRate,
    /// Overhead of a frame on the link.
    pub wire_overhead_bytes: u32,
    /// Capacity of the queue; excess frames are dropped and counted. Linux: 1,000 packets (`txqueuelen`).
    pub capacity: QueueCapacity,
    /// Backlog at which senders must wait; they are woken when it has drained to half. Models byte queue limits and TCP
    /// small queues in Linux, and the scheduler of an RDMA card. Senders also wait for a queue without a place.
    pub backlog_limit: Bytes,
    /// Clock of the transmitter; `None` for an ideal one.
    pub clock: Option<CardClock>,
}

impl NetworkCardConfig {
    /// Creates an Ethernet card of `rate` with Linux's queue of 1,000 packets; senders wait at a backlog of 16 kB.
    pub const fn at_rate(rate: BitRate) -> Self {
        Self {
            rate,
            wire_overhead_bytes: ETHERNET_OVERHEAD_BYTES,
            capacity: QueueCapacity::Packets(1_000),
            backlog_limit: Bytes::from_kilobytes(16),
            clock: None,
        }
    }

    /// Returns the backlog at which senders must wait. They do not overflow a short queue with full frames.
    pub fn backlog_limit_bytes(&self) -> u64 {
        let full_frame = u64::from(MTU_FRAME_BYTES + self.wire_overhead_bytes);
        let limit = match self.capacity {
            QueueCapacity::Unlimited => u64::MAX,
            QueueCapacity::Packets(count) => u64::from(count.saturating_sub(1)) * full_frame,
            QueueCapacity::Bytes(bytes) => bytes.0.saturating_sub(full_frame),
        };
        self.backlog_limit.0.min(limit).max(1)
    }
}

/// The capacity check, in the unit with the lowest cost.
#[derive(Clone, Debug, hitless_core::state::Value)]
enum Room {
    /// Departures of the frames before the last one, and their maximum number. Frames that found the card idle are not
    /// included, because all earlier frames had left.
    Departures { times: Ring<Time>, limit: u32 },
    /// Maximum time to drain the queue.
    Backlog(Duration),
}

impl Room {
    fn new(config: &NetworkCardConfig) -> Self {
        match config.capacity {
            QueueCapacity::Unlimited => Room::Backlog(Duration::MAX),
            QueueCapacity::Packets(count) => {
                assert!(count > 0, "a network card whose queue holds no packet");
                // `times` lacks the last frame, which takes one place.
                Room::Departures { times: Ring::default(), limit: count - 1 }
            }
            QueueCapacity::Bytes(bytes) => Room::Backlog(config.rate.time_for(bytes.0)),
        }
    }

    /// Admits a frame that would leave at `departure` after its predecessor at `busy_until`; returns false without
    /// room.
    #[inline]
    fn take(&mut self, now: Time, busy_until: Time, departure: Time) -> bool {
        match self {
            Room::Backlog(limit) => departure - now <= *limit,
            // The card is idle, so the queue is empty.
            Room::Departures { .. } if busy_until <= now => true,
            Room::Departures { times, limit } => {
                // Frees the places of departed frames.
                while times.front().is_some_and(|time| time <= now) {
                    times.pop();
                }
                let has_room = times.len() < *limit as usize;
                if has_room {
                    times.push(busy_until);
                }
                has_room
            }
        }
    }

    /// Returns when the queue has a place for a frame as long as the `largest`; `now` if it has one. An idle card has.
    fn has_place_at(&self, now: Time, busy_until: Time, largest: Duration) -> Time {
        let (times, limit) = match self {
            Room::Departures { times, limit } => (times, limit),
            Room::Backlog(limit) => {
                let fits_at = Time((busy_until + largest).0.saturating_sub(limit.0));
                return fits_at.min(busy_until).max(now);
            }
        };
        let waiting = || times.iter().filter(|&time| time > now);
        // Without places beside the frame on the line, the card must be idle.
        if waiting().count() < *limit as usize { now } else { waiting().next().unwrap_or(busy_until) }
    }
}

/// A network card's transmit side.
///
/// It has two clocks. `busy_until` is the departure of the last frame in the queue. `committed_until` is the same for
/// all frames that transports have sent, including those still in the host's stack; without a stack delay both are
/// equal. Senders wait for the second, so that a stack delay does not let them overrun the queue.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct NetworkCard {
    clock: LineClock,
    busy_until: Time,
    committed_until: Time,
    backlog_limit: Duration,
    room: Room,
    timing: Option<CardTiming>,
    wire_overhead_bytes: u32,
    rate: BitRate,
    /// Whether the queue can be full before its senders have reached the backlog limit.
    is_short: bool,
    /// Time of the longest frame so far, for a short queue.
    largest: Duration,
}

impl NetworkCard {
    /// Creates an idle card.
    pub fn new(config: &NetworkCardConfig) -> Self {
        let offset_ppb = config.clock.map_or(0, |clock| clock.offset_ppb);
        let clock = LineClock::off_by(config.rate, offset_ppb);
        let shortest_frame = u64::from(MINIMUM_FRAME_BYTES + config.wire_overhead_bytes);
        let fills_early = |count| u64::from(count) * shortest_frame < config.backlog_limit.0;
        Self {
            rate: config.rate,
            is_short: match config.capacity {
                QueueCapacity::Unlimited => false,
                QueueCapacity::Packets(count) => fills_early(count),
                QueueCapacity::Bytes(_) => true,
            },
            largest: Duration::ZERO,
            clock,
            timing: config.clock.map(|config| CardTiming::new(config.seed, clock)),
            wire_overhead_bytes: config.wire_overhead_bytes,
            room: Room::new(config),
            backlog_limit: config.rate.time_for(config.backlog_limit_bytes()),
            busy_until: Time::ZERO,
            committed_until: Time::ZERO,
        }
    }

    /// Creates a card that stands for several together: it has the sum of their rates, and never room for a frame.
    pub fn standing_for(configs: impl Iterator<Item = NetworkCardConfig> + Clone) -> Option<Self> {
        let sum_bps = configs.clone().map(|config| config.rate.as_bps()).fold(0, u64::saturating_add);
        let config = NetworkCardConfig { rate: BitRate::from_bps(sum_bps)?, clock: None, ..configs.last()? };
        Some(Self { committed_until: Time::NEVER, ..Self::new(&config) })
    }

    /// Creates an idle card with queues elsewhere: it never has room for a sender.
    pub fn without_queue(config: &NetworkCardConfig) -> Self {
        Self { backlog_limit: Duration::ZERO, ..Self::of_changing_line(config) }
    }

    /// Creates an idle card for one frame at a time, with a queue elsewhere. Senders wait for the backlog of all frames
    /// that they have committed.
    pub fn of_changing_line(config: &NetworkCardConfig) -> Self {
        let backlog_limit = Bytes(config.backlog_limit_bytes());
        Self::new(&NetworkCardConfig { capacity: QueueCapacity::Unlimited, backlog_limit, ..*config })
    }

    /// Changes the rate of later frames; the frame in transmission ends at the old rate. Only for a card of a changing
    /// line.
    pub fn set_rate(&mut self, now: Time, config: &NetworkCardConfig) {
        let begins_at = self.last_bit_at().max(now);
        let waiting_ps = u128::from(self.committed_until.saturating_since(begins_at).as_ps());
        let longer_ps = waiting_ps * u128::from(self.rate.as_bps()) / u128::from(config.rate.as_bps());
        if waiting_ps > 0 {
            self.committed_until = begins_at + Duration(longer_ps as u64);
        }
        self.rate = config.rate;
        self.clock = LineClock::off_by(config.rate, config.clock.map_or(0, |clock| clock.offset_ppb));
        self.backlog_limit = config.rate.time_for(config.backlog_limit_bytes());
        self.timing.iter_mut().for_each(|timing| timing.set_clock(self.clock));
    }

    /// Keeps the line idle for `longer` after its last frame. Only for a card of a changing line.
    pub fn hold_line(&mut self, longer: Duration) {
        let last_bit_at = self.last_bit_at();
        if last_bit_at > Time::ZERO && longer > Duration::ZERO {
            self.busy_until = last_bit_at + longer;
            self.committed_until += longer;
        }
    }

    /// Returns when the last bit of the last frame leaves; zero before the first frame.
    fn last_bit_at(&self) -> Time {
        self.timing.as_ref().map_or(self.busy_until, |timing| self.busy_until.max(timing.last_bit_at()))
    }

    pub fn rate(&self) -> BitRate {
        self.rate
    }

    /// Returns whether the clock is exact and frames have no small delays.
    pub fn is_ideal(&self) -> bool {
        self.timing.is_none()
    }

    /// Queues a frame; returns when its last bit leaves, or `None` if the queue is full.
    ///
    /// The overhead of a frame (preamble and gap) counts before its last bit.
    #[inline]
    pub fn enqueue(&mut self, now: Time, frame_bytes: u32) -> Option<Time> {
        let serialisation = self.serialisation(frame_bytes);
        self.append(now, serialisation, frame_bytes)
    }

    /// Combines [`Self::commit`] and [`Self::enqueue`]; two calls would cost half as much again.
    #[inline(always)]
    pub fn commit_and_enqueue(&mut self, now: Time, frame_bytes: u32) -> Option<Time> {
        let serialisation = self.serialisation(frame_bytes);
        if self.is_short {
            self.largest = self.largest.max(serialisation);
        }
        let departure = self.append(now, serialisation, frame_bytes)?;
        self.committed_until = self.committed_until.max(now) + serialisation;
        Some(departure)
    }

    #[inline]
    pub fn commit(&mut self, now: Time, frame_bytes: u32) {
        let serialisation = self.serialisation(frame_bytes);
        self.largest = self.largest.max(serialisation);
        self.committed_until = self.committed_until.max(now) + serialisation;
    }

    pub fn line(&self) -> LineTiming {
        LineTiming { clock: self.clock, overhead_bytes: self.wire_overhead_bytes }
    }

    /// Returns the time of a frame on the link.
    #[inline(always)]
    pub fn serialisation(&self, frame_bytes: u32) -> Duration {
        self.clock.time_for(frame_bytes + self.wire_overhead_bytes)
    }

    #[inline(always)]
    fn append(&mut self, now: Time, serialisation: Duration, frame_bytes: u32) -> Option<Time> {
        debug_assert!(serialisation > Duration::ZERO, "a frame that takes no time");
        // With an ideal clock frames leave back to back, without random delays.
        let Some(timing) = &mut self.timing else {
            let departure = self.busy_until.max(now) + serialisation;
            if !self.room.take(now, self.busy_until, departure) {
                return None;
            }
            self.busy_until = departure;
            return Some(departure);
        };
        let ready_at = now + timing.draw_delay(now, self.busy_until, serialisation);
        let due_at = self.busy_until.max(ready_at);
        let starts_at = timing.draw_start(due_at, serialisation, frame_bytes + self.wire_overhead_bytes);
        let departure = due_at + serialisation;
        // The frame's own delay takes no room.
        if !self.room.take(now, self.busy_until, self.busy_until.max(now) + serialisation) {
            return None;
        }
        self.busy_until = departure;
        // `busy_until` keeps the schedule without the slip of this frame, so slips do not add up.
        let last_bit_at = starts_at + serialisation;
        timing.send_until(last_bit_at);
        Some(last_bit_at)
    }

    /// Sends a frame that was queued elsewhere at `queued_at`; the line is free. Returns when its last bit leaves.
    ///
    /// A frame that `follows` another without a gap keeps the card's schedule, so that a late card catches up.
    pub fn send_queued(&mut self, now: Time, queued_at: Time, frame_bytes: u32, follows: bool) -> Time {
        if queued_at < now && !follows {
            // The delay of a frame's preparation passes while it waits.
            self.busy_until = self.busy_until.max(now);
        }
        self.append(queued_at, self.serialisation(frame_bytes), frame_bytes).expect("the card's own queue is unlimited")
    }

    /// Sends a signal of the MAC with this many bytes on the line, without the delays of a frame's preparation. The
    /// line is free.
    pub fn send_signal(&mut self, now: Time, line_bytes: u32) -> Time {
        let last_bit_at = self.line_free_at().max(now) + self.clock.time_for(line_bytes);
        self.busy_until = last_bit_at;
        if let Some(timing) = &mut self.timing {
            timing.send_until(last_bit_at);
        }
        last_bit_at
    }

    /// Returns when the line becomes free: later than scheduled if the card is late.
    pub fn line_free_at(&self) -> Time {
        self.timing.as_ref().map_or(self.busy_until, |timing| self.busy_until.max(timing.ready_at()))
    }

    #[inline]
    pub fn has_room(&self, now: Time) -> bool {
        self.committed_until.saturating_since(now) < self.backlog_limit && (!self.is_short || self.has_place(now))
    }

    #[cold]
    fn has_place(&self, now: Time) -> bool {
        self.place_at(now) <= now
    }

    fn place_at(&self, now: Time) -> Time {
        self.room.has_place_at(now, self.busy_until, self.largest)
    }

    /// Returns when the committed frames will have drained to half the limit, and the queue has a place. This can be
    /// before `now`.
    pub fn drained_at(&self, now: Time) -> Time {
        let drained_at = Time(self.committed_until.as_ps().saturating_sub(self.backlog_limit.as_ps() / 2));
        if self.is_short { drained_at.max(self.place_at(now)) } else { drained_at }
    }

    /// Returns the time until which frames are committed.
    pub fn committed_until(&self) -> Time {
        self.committed_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const RATE: BitRate = BitRate::from_gbps(100);

    fn card(capacity: QueueCapacity) -> NetworkCard {
        NetworkCard::new(&NetworkCardConfig { capacity, ..NetworkCardConfig::at_rate(RATE) })
    }

    #[test]
    fn frames_leave_back_to_back_to_the_picosecond() {
        let mut card = card(QueueCapacity::Unlimited);
        let table = [(1_518, 1_000 + 123_040), (64, 1_000 + 129_760), (1_518, 1_000 + 252_800)];
        for (frame_bytes, departure) in table {
            assert_eq!(card.enqueue(Time(1_000), frame_bytes), Some(Time(departure)));
        }
        assert_eq!(card.enqueue(Time(1_000_000), 64), Some(Time(1_006_720)));
    }

    #[test]
    fn a_queue_of_packets_frees_a_place_when_a_last_bit_leaves() {
        let mut card = card(QueueCapacity::Packets(2));
        assert_eq!(card.enqueue(Time(0), 64), Some(Time(6_720)));
        assert_eq!(card.enqueue(Time(0), 64), Some(Time(13_440)));
        assert_eq!(card.enqueue(Time(6_719), 64), None);
        assert_eq!(card.enqueue(Time(6_720), 64), Some(Time(20_160)));
        assert_eq!(card.enqueue(Time(6_720), 64), None);
    }

    proptest! {
        #[test]
        fn a_queue_of_packets_holds_as_many_as_a_queue_in_memory_does(
            count in 1u32..6,
            frames in proptest::collection::vec((0u64..20_000, 64u32..256), 1..200),
        ) {
            let mut card = card(QueueCapacity::Packets(count));
            let (mut departures, mut now) = (VecDeque::new(), Time(0));
            for (gap, frame_bytes) in frames {
                now += Duration(gap);
                departures.retain(|&departure| departure > now);
                let departure = card.enqueue(now, frame_bytes);
                prop_assert_eq!(departure.is_some(), departures.len() < count as usize);
                departures.extend(departure);
            }
        }
    }

    #[test]
    fn frames_that_a_full_card_drops_do_not_narrow_the_gap_of_the_next() {
        let clock = Some(CardClock { offset_ppb: 0, seed: 1 });
        let capacity = QueueCapacity::Packets(2);
        let mut card = NetworkCard::new(&NetworkCardConfig { capacity, clock, ..NetworkCardConfig::at_rate(RATE) });
        // 84 bytes on the wire; a late card saves 7 of them.
        let spacing = Duration(77 * 80);
        let (mut last, mut dropped) = (None, 0);
        for number in 0..100_000 {
            let Some(at) = card.enqueue(Time(number * 1_000), 64) else {
                dropped += 1;
                continue;
            };
            if let Some(last) = last.replace(at) {
                assert!(at - last >= spacing, "frame {number} leaves at {at}, the one before at {last}");
            }
        }
        assert!(dropped > 80_000, "{dropped} dropped");
    }

    #[test]
    fn a_late_card_takes_its_next_frame_when_the_line_is_free_and_keeps_the_rate() {
        let clock = Some(CardClock { offset_ppb: 0, seed: 1 });
        let mut card = NetworkCard::without_queue(&NetworkCardConfig { clock, ..NetworkCardConfig::at_rate(RATE) });
        let (mut now, mut last_bit_at) = (Time(1), Time(1));
        for number in 0..10_000 {
            // A late card saves 7 bytes of each gap.
            assert!(last_bit_at <= now + Duration(7 * 80), "frame {number} is taken at {now}, before {last_bit_at}");
            last_bit_at = card.send_queued(now, Time(1), 1_518, number > 0);
            now = card.line_free_at();
        }
        // The first frame's delay and the lag of the last are each below a frame.
        assert!(last_bit_at < Time(10_002 * 123_040), "{last_bit_at}");
    }

    #[test]
    fn a_queue_of_bytes_counts_what_remains_to_be_sent() {
        let mut card = card(QueueCapacity::Bytes(Bytes(168)));
        assert_eq!(card.enqueue(Time(0), 64), Some(Time(6_720)));
        assert_eq!(card.enqueue(Time(0), 64), Some(Time(13_440)));
        assert_eq!(card.enqueue(Time(6_719), 64), None);
        assert_eq!(card.enqueue(Time(6_720), 64), Some(Time(20_160)));
    }

    #[test]
    fn senders_wait_for_half_of_the_backlog_to_drain() {
        let config = NetworkCardConfig { backlog_limit: Bytes(168), ..NetworkCardConfig::at_rate(RATE) };
        let mut card = NetworkCard::new(&config);
        card.commit(Time(0), 64);
        assert!(card.has_room(Time(0)));
        card.commit(Time(0), 64);
        assert!(!card.has_room(Time(0)));
        assert_eq!(card.drained_at(Time(0)), Time(6_720));
        assert!(card.has_room(Time(6_720)));
    }
}
