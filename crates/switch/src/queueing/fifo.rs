//! A FIFO queue whose departures are known at arrival.

use hitless_core::engine::Ring;
use hitless_core::wire::{Duration, Time};

use super::config::{QueueConfig, QueueLimit};
use super::marking::EcnMarker;
use crate::explore::{Digest, State};

/// When a packet leaves, and its length. Twelve bytes: five of them share a cache line.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Waiting([u32; 3]);

impl Waiting {
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
/// Packets that have departed are taken out only when somebody must know the exact depth: while the queue is short
/// of every limit even with them, they do not matter.
///
/// What every packet needs comes first, up to and including the calm bounds: with what tells the kind of a scheduler it
/// fills a cache line.
#[derive(Debug)]
#[repr(C)]
pub struct FifoScheduler {
    busy_until: Time,
    /// The last time at which a packet was offered: no depth is asked of before.
    offered_at: Time,
    waiting: Ring<Waiting>,
    bytes: u64,
    /// With fewer packets and bytes than these a packet is neither dropped nor marked.
    mark_free_packets: u32,
    mark_free_bytes: u32,
    limit: QueueLimit,
    marker: EcnMarker,
}

hitless_core::state!(FifoScheduler {
    values: busy_until, offered_at, waiting, bytes;
    parts: marker;
    configured: mark_free_packets, mark_free_bytes, limit
});

impl FifoScheduler {
    /// An empty scheduler with the limits of `config`.
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
            mark_free_packets: u32::try_from(limit_packets.min(ecn_packets)).unwrap_or(u32::MAX),
            mark_free_bytes: u32::try_from(limit_bytes.min(ecn_bytes)).unwrap_or(u32::MAX),
            limit: config.limit,
            marker,
        }
    }

    /// Offers a frame of `frame_bytes` that reaches the queue `at` and takes `transmission` to serve; `mark` is called
    /// if the depth asks for a congestion mark. Answers when its last bit leaves the queue's server; `None`: there is
    /// no room for it.
    ///
    /// Calls must come in the order of `at`.
    #[inline(always)]
    pub fn offer(&mut self, at: Time, frame_bytes: u32, transmission: Duration, mark: impl FnOnce()) -> Option<Time> {
        debug_assert!(at >= self.offered_at, "packets are offered in the order of time");
        self.offered_at = at;
        let begins_at = if self.busy_until <= at {
            self.waiting.clear();
            self.bytes = 0;
            at
        } else {
            self.busy_until
        };
        let bytes_with_it = self.bytes + u64::from(frame_bytes);
        let is_mark_free =
            self.waiting.len() < self.mark_free_packets as usize && bytes_with_it < u64::from(self.mark_free_bytes);
        if !is_mark_free && self.judge(at, frame_bytes)? {
            mark();
        }
        let departs_at = begins_at + transmission;
        self.busy_until = departs_at;
        self.waiting.push(Waiting::new(departs_at, frame_bytes));
        self.bytes += u64::from(frame_bytes);
        Some(departs_at)
    }

    /// Whether a frame that reaches the queue `at` is marked; `None`: there is no room for it.
    #[inline(never)]
    fn judge(&mut self, at: Time, frame_bytes: u32) -> Option<bool> {
        self.release_until(at);
        let packets = self.waiting.len();
        let has_room = self.limit.has_room(packets, self.bytes, frame_bytes);
        has_room.then(|| self.marker.marks(packets, self.bytes))
    }

    /// Bytes in the queue at `at` (or when a packet was last offered, if that is later), the frame in transmission
    /// included.
    pub fn depth_bytes(&mut self, at: Time) -> u64 {
        self.release_until(at.max(self.offered_at));
        self.bytes
    }

    /// Packets and bytes that will be in the queue `at` if none is offered until then, the frame in transmission
    /// included; nothing is offered before `from`, which is not after `at`.
    pub(crate) fn backlog(&mut self, from: Time, at: Time) -> (usize, u64) {
        self.release_until(from.max(self.offered_at));
        let departed = self.waiting.iter().take_while(|waiting| waiting.departs_at() <= at);
        let (packets, bytes) =
            departed.fold((0, 0), |(packets, bytes), waiting| (packets + 1, bytes + waiting.frame_bytes()));
        (self.waiting.len() - packets, self.bytes - bytes)
    }

    /// Packets in the queue at that time, the one in transmission included.
    pub fn packets(&mut self, at: Time) -> usize {
        self.release_until(at.max(self.offered_at));
        self.waiting.len()
    }

    /// Looks at what a packet needs that is offered; the answer means nothing.
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
    /// What has departed means nothing any more.
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

    /// When it leaves, and whether it is marked.
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
