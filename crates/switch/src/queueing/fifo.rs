//! A FIFO queue with departure times computed at arrival.
//!
//! The line of such a queue never stops, so a packet departs when the packets ahead of it have been sent. One event per
//! hop is enough.

use hitless_core::engine::Ring;
use hitless_core::wire::{Duration, Time};

use super::config::{QueueConfig, QueueLimit};
use super::marking::EcnMarker;
use crate::explore::{Digest, State};

/// Departure time and length of a packet. An entry has 12 bytes, so that five share a cache line.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Departure([u32; 3]);

impl Departure {
    #[inline(always)]
    const fn new(departs_at: Time, frame_bytes: u32) -> Self {
        Self([departs_at.0 as u32, (departs_at.0 >> 32) as u32, frame_bytes])
    }

    #[inline(always)]
    fn departs_at(self) -> Time {
        Time(u64::from(self.0[0]) | u64::from(self.0[1]) << 32)
    }

    #[inline(always)]
    fn frame_bytes(self) -> u64 {
        u64::from(self.0[2])
    }
}

/// One FIFO queue and its server.
///
/// Departed packets are removed only when the exact depth matters. While the queue is below every limit even with them,
/// they make no difference.
///
/// The fields that every packet needs come first, up to and including the mark-free bounds; with the discriminant of
/// the scheduler they fill a cache line.
#[derive(Debug, hitless_core::state::State)]
#[repr(C)]
pub struct FifoScheduler {
    busy_until: Time,
    /// Time of the last offer: no depth is read for an earlier time.
    offered_at: Time,
    waiting: Ring<Departure>,
    bytes: u64,
    /// With fewer packets and bytes than these, a packet is neither dropped nor marked.
    #[configured]
    mark_free_packets: u32,
    #[configured]
    mark_free_bytes: u32,
    #[configured]
    limit: QueueLimit,
    #[part]
    marker: EcnMarker,
}

impl FifoScheduler {
    /// Creates an empty scheduler with the limits of `config`.
    pub fn new(config: &QueueConfig) -> Self {
        let (limit_packets, limit_bytes) = match config.limit {
            QueueLimit::Unlimited => (usize::MAX, u64::MAX),
            QueueLimit::Packets(limit) => (limit as usize, u64::MAX),
            QueueLimit::Bytes(limit) => (usize::MAX, limit),
        };
        let marker = EcnMarker::new(config.ecn);
        let (ecn_packets, ecn_bytes) = marker.mark_free_below();
        Self {
            busy_until: Time::ZERO,
            offered_at: Time::ZERO,
            waiting: Ring::default(),
            bytes: 0,
            // Saturated to 32 bits, to keep the hot fields in one cache line; a lower bound only costs an exact check.
            mark_free_packets: u32::try_from(limit_packets.min(ecn_packets)).unwrap_or(u32::MAX),
            mark_free_bytes: u32::try_from(limit_bytes.min(ecn_bytes)).unwrap_or(u32::MAX),
            limit: config.limit,
            marker,
        }
    }

    /// Offers a frame of `frame_bytes` that reaches the queue at `at` and takes `transmission` to send. Calls `mark` if
    /// the depth requires a congestion mark. Returns when the last bit leaves the server, or `None` without room.
    ///
    /// Calls must be in order of `at`.
    #[inline(always)]
    pub fn offer(&mut self, at: Time, frame_bytes: u32, transmission: Duration, mark: impl FnOnce()) -> Option<Time> {
        debug_assert!(at >= self.offered_at, "packets are offered in the order of time");
        self.offered_at = at;
        let begins_at = if self.busy_until <= at {
            // The server is idle, so everything has departed.
            self.waiting.clear();
            self.bytes = 0;
            at
        } else {
            self.busy_until
        };
        let bytes_with_it = self.bytes + u64::from(frame_bytes);
        let is_mark_free =
            self.waiting.len() < self.mark_free_packets as usize && bytes_with_it < u64::from(self.mark_free_bytes);
        // The counts include departed packets, so they can only overestimate: a pass here is exact, and only a failure
        // needs the exact depth.
        if !is_mark_free && self.judge(at, frame_bytes)? {
            mark();
        }
        let departs_at = begins_at + transmission;
        self.busy_until = departs_at;
        self.waiting.push(Departure::new(departs_at, frame_bytes));
        self.bytes += u64::from(frame_bytes);
        Some(departs_at)
    }

    /// Returns whether a frame that reaches the queue at `at` is marked, or `None` without room.
    #[inline(never)]
    fn judge(&mut self, at: Time, frame_bytes: u32) -> Option<bool> {
        self.release_until(at);
        let packets = self.waiting.len();
        let has_room = self.limit.has_room(packets, self.bytes, frame_bytes);
        has_room.then(|| self.marker.marks(packets, self.bytes))
    }

    /// Returns the bytes in the queue at `at`, or at the last offer if that is later; the frame in transmission is
    /// included.
    pub fn depth_bytes(&mut self, at: Time) -> u64 {
        self.release_until(at.max(self.offered_at));
        self.bytes
    }

    /// Returns the packets and bytes that will be in the queue at `at` if none is offered until then, including the
    /// frame in transmission. Nothing is offered before `from`, which must not be after `at`.
    pub(crate) fn backlog(&mut self, from: Time, at: Time) -> (usize, u64) {
        // Frames that depart by `at` cannot be removed: an offer between `from` and `at` still needs their depth.
        self.release_until(from.max(self.offered_at));
        let departed = self.waiting.iter().take_while(|waiting| waiting.departs_at() <= at);
        let (packets, bytes) =
            departed.fold((0, 0), |(packets, bytes), waiting| (packets + 1, bytes + waiting.frame_bytes()));
        (self.waiting.len() - packets, self.bytes - bytes)
    }

    /// Returns the packets in the queue at that time, including the one in transmission.
    pub fn packets(&mut self, at: Time) -> usize {
        self.release_until(at.max(self.offered_at));
        self.waiting.len()
    }

    /// Prefetches the state that an offer needs; the result only keeps the loads alive.
    #[inline(always)]
    pub(crate) fn read_ahead(&self) -> u64 {
        self.bytes ^ self.waiting.behind().map_or(0, |waiting| u64::from(waiting.0[0]))
    }

    fn release_until(&mut self, at: Time) {
        while let Some(waiting) = self.waiting.front() {
            if waiting.departs_at() > at {
                break;
            }
            self.bytes -= waiting.frame_bytes();
            self.waiting.pop();
        }
    }
}

impl State for FifoScheduler {
    /// Departed packets are meaningless and are skipped.
    fn tell(&self, digest: &mut Digest<'_>) {
        digest.deadline(self.busy_until);
        digest.deadline(self.offered_at);
        let now = digest.now();
        for waiting in self.waiting.iter().filter(|waiting| waiting.departs_at() > now) {
            digest.time(waiting.departs_at());
            digest.value(waiting.frame_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::EcnThreshold;
    use super::*;

    fn scheduler(limit: QueueLimit, ecn: EcnThreshold) -> FifoScheduler {
        FifoScheduler::new(&QueueConfig::normal(limit).with_ecn(ecn))
    }

    /// Returns the departure time and whether the packet is marked.
    fn offer(scheduler: &mut FifoScheduler, at: Time, frame_bytes: u32, transmission: Duration) -> Option<(u64, bool)> {
        let mut is_marked = false;
        let departs_at = scheduler.offer(at, frame_bytes, transmission, || is_marked = true)?;
        Some((departs_at.as_ps(), is_marked))
    }

    #[test]
    fn departures_follow_each_other_without_gap() {
        let mut scheduler = scheduler(QueueLimit::Unlimited, EcnThreshold::Off);
        let step = Duration(100);
        for expected in [100, 200, 300] {
            assert_eq!(offer(&mut scheduler, Time(0), 1, step), Some((expected, false)));
        }
        assert_eq!(offer(&mut scheduler, Time(1_000), 1, step), Some((1_100, false)));
    }

    #[test]
    fn a_departed_packet_makes_room() {
        let mut scheduler = scheduler(QueueLimit::Packets(1), EcnThreshold::Off);
        offer(&mut scheduler, Time(0), 1, Duration(100));
        assert_eq!(offer(&mut scheduler, Time(99), 1, Duration(100)), None);
        assert_eq!(offer(&mut scheduler, Time(100), 1, Duration(100)), Some((200, false)));
    }

    #[test]
    fn marks_when_the_threshold_is_before_the_packet() {
        let mut scheduler = scheduler(QueueLimit::Bytes(3_000), EcnThreshold::Bytes(1_500));
        let marks: Vec<_> = (0..3).map(|_| offer(&mut scheduler, Time(0), 1_500, Duration(10))).collect();
        assert_eq!(marks, [Some((10, false)), Some((20, true)), None]);
        assert_eq!((scheduler.depth_bytes(Time(0)), scheduler.depth_bytes(Time(10))), (3_000, 1_500));
    }

    #[test]
    fn a_queue_without_a_limit_marks_from_its_threshold_on() {
        for ecn in [EcnThreshold::Bytes(1_500), EcnThreshold::Packets(1)] {
            let mut scheduler = scheduler(QueueLimit::Unlimited, ecn);
            let marks: Vec<_> = (0..3).map(|_| offer(&mut scheduler, Time(0), 1_500, Duration(10))).collect();
            assert_eq!(marks, [Some((10, false)), Some((20, true)), Some((30, true))]);
        }
    }

    #[test]
    fn a_packet_is_in_the_backlog_until_its_last_bit_leaves() {
        let mut scheduler = scheduler(QueueLimit::Unlimited, EcnThreshold::Off);
        (0..2).for_each(|_| assert!(offer(&mut scheduler, Time(0), 1_000, Duration(100)).is_some()));
        let expected = [(99, (2, 2_000)), (100, (1, 1_000)), (199, (1, 1_000)), (200, (0, 0))];
        for (at, backlog) in expected {
            assert_eq!(scheduler.backlog(Time(0), Time(at)), backlog, "at {at} ps");
        }
    }
}
