//! A FIFO queue whose departures are known at arrival.

use std::collections::VecDeque;

use hitless_wire::{Duration, Time};

use super::{EcnThreshold, QueueConfig, QueueLimit};

/// What became of a packet that was offered to a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Its last bit leaves the queue's server at `departs_at`.
    Accepted {
        /// End of its transmission.
        departs_at: Time,
        /// The depth asks for a congestion mark.
        mark: bool,
    },
    /// No room.
    Full,
}

/// One FIFO queue and its server.
#[derive(Debug)]
pub struct FifoLane {
    busy_until: Time,
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
    limit: QueueLimit,
    ecn: EcnThreshold,
}

impl FifoLane {
    /// An empty lane with the limits of `config`.
    pub fn new(config: &QueueConfig) -> Self {
        Self { busy_until: Time::ZERO, waiting: VecDeque::new(), bytes: 0, limit: config.limit, ecn: config.ecn }
    }

    /// Offers a frame of `frame_bytes` that reaches the queue `at` and takes `transmission` to serve.
    ///
    /// Calls must come in the order of `at`.
    #[inline]
    pub fn offer(&mut self, at: Time, frame_bytes: u32, transmission: Duration) -> Admission {
        self.release_until(at);
        if !self.limit.has_room(self.waiting.len(), self.bytes, frame_bytes) {
            return Admission::Full;
        }
        let mark = self.ecn.marks(self.waiting.len(), self.bytes);
        let departs_at = self.busy_until.max(at) + transmission;
        self.busy_until = departs_at;
        self.waiting.push_back((departs_at, frame_bytes));
        self.bytes += u64::from(frame_bytes);
        Admission::Accepted { departs_at, mark }
    }

    /// Bytes in the queue at `at`, the frame in transmission included.
    pub fn depth_bytes(&mut self, at: Time) -> u64 {
        self.release_until(at);
        self.bytes
    }

    #[inline]
    fn release_until(&mut self, at: Time) {
        while let Some(&(departs_at, frame_bytes)) = self.waiting.front() {
            if departs_at > at {
                break;
            }
            self.bytes -= u64::from(frame_bytes);
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(limit: QueueLimit, ecn: EcnThreshold) -> FifoLane {
        FifoLane::new(&QueueConfig::normal(limit).with_ecn(ecn))
    }

    #[test]
    fn departures_follow_each_other_without_gap() {
        let mut lane = lane(QueueLimit::Unlimited, EcnThreshold::Off);
        let step = Duration(100);
        for expected in [100, 200, 300] {
            assert_eq!(lane.offer(Time(0), 1, step), Admission::Accepted { departs_at: Time(expected), mark: false });
        }
        assert_eq!(lane.offer(Time(1_000), 1, step), Admission::Accepted { departs_at: Time(1_100), mark: false });
    }

    #[test]
    fn a_departed_packet_makes_room() {
        let mut lane = lane(QueueLimit::Packets(1), EcnThreshold::Off);
        lane.offer(Time(0), 1, Duration(100));
        assert_eq!(lane.offer(Time(99), 1, Duration(100)), Admission::Full);
        assert!(matches!(lane.offer(Time(100), 1, Duration(100)), Admission::Accepted { .. }));
    }

    #[test]
    fn marks_when_the_threshold_is_before_the_packet() {
        let mut lane = lane(QueueLimit::Bytes(3_000), EcnThreshold::Bytes(1_500));
        let marks: Vec<_> = (0..3).map(|_| lane.offer(Time(0), 1_500, Duration(10))).collect();
        assert!(matches!(marks[0], Admission::Accepted { mark: false, .. }));
        assert!(matches!(marks[1], Admission::Accepted { mark: true, .. }));
        assert_eq!(marks[2], Admission::Full);
        assert_eq!((lane.depth_bytes(Time(0)), lane.depth_bytes(Time(10))), (3_000, 1_500));
    }
}
