//! Several queues before one server: strict priority between levels, deficit round robin within one, pause.

use std::collections::VecDeque;

use hitless_engine::PacketHandle;
use hitless_wire::{QueueId, Time};

use super::QueueConfig;

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The packet.
    pub packet: PacketHandle,
    /// Its length when it was enqueued.
    pub frame_bytes: u32,
    /// When it was enqueued.
    pub enqueued_at: Time,
}

#[derive(Debug)]
struct Queue {
    config: QueueConfig,
    entries: VecDeque<Entry>,
    bytes: u64,
    peak_bytes: u64,
    deficit_bytes: u32,
    is_paused: bool,
    /// Packets that are here, and count, but may not be served yet.
    held_packets: usize,
    /// Packets that may still be served; none when the queue is not scheduled by credit.
    credit: Option<u64>,
}

impl Queue {
    fn may_be_served(&self) -> bool {
        !self.is_paused && self.credit != Some(0) && !self.entries.is_empty()
    }
}

/// Queues of one level of priority.
#[derive(Debug)]
struct Level {
    mask: u64,
    /// The queue whose turn it is.
    turn: u8,
}

/// The queues of a port, at most 64.
#[derive(Debug)]
pub struct ManagedLane {
    queues: Vec<Queue>,
    /// Highest priority first.
    levels: Vec<Level>,
    /// Queues that have a packet and are not paused.
    ready: u64,
    /// Where the frame last served came from, and its length: until `busy_until` it counts as being there.
    serving: (QueueId, u32),
    /// When the server falls free.
    pub(crate) busy_until: Time,
    /// Whether an event will look after the queues at `busy_until`.
    pub(crate) service_is_due: bool,
}

/// What became of a packet offered to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Queued; the flag says whether the depth asks for a congestion mark.
    Queued {
        /// The depth asks for a congestion mark.
        mark: bool,
    },
    /// The queue's own limit is reached.
    Full,
}

impl ManagedLane {
    /// Empty queues.
    ///
    /// # Panics
    /// With no queue or more than 64.
    pub fn new(configs: &[QueueConfig]) -> Self {
        assert!((1..=64).contains(&configs.len()), "a port has between 1 and 64 queues, not {}", configs.len());
        let queues = configs.iter().map(|&config| Queue {
            config,
            entries: VecDeque::new(),
            bytes: 0,
            peak_bytes: 0,
            deficit_bytes: 0,
            is_paused: false,
            held_packets: 0,
            credit: None,
        });
        Self {
            queues: queues.collect(),
            levels: levels_of(configs),
            ready: 0,
            serving: (QueueId(0), 0),
            busy_until: Time::ZERO,
            service_is_due: false,
        }
    }

    /// Puts a packet into `queue`.
    #[inline]
    pub fn offer(&mut self, queue: QueueId, entry: Entry) -> Offer {
        let index = usize::from(queue.0);
        let is_serving_it = self.busy_until > entry.enqueued_at && self.serving.0 == queue;
        let queue = &mut self.queues[index];
        let packets = queue.entries.len() + queue.held_packets + usize::from(is_serving_it);
        let bytes = queue.bytes + if is_serving_it { u64::from(self.serving.1) } else { 0 };
        if !queue.config.limit.has_room(packets, bytes, entry.frame_bytes) {
            return Offer::Full;
        }
        let mark = queue.config.ecn.marks(packets, bytes);
        queue.entries.push_back(entry);
        queue.bytes += u64::from(entry.frame_bytes);
        queue.peak_bytes = queue.peak_bytes.max(queue.bytes);
        if queue.may_be_served() {
            self.ready |= 1 << index;
        }
        Offer::Queued { mark }
    }

    /// Counts a packet in without making it ready; false when the queue's own limit is reached.
    pub fn hold(&mut self, queue: QueueId, entry: Entry) -> bool {
        let queue = &mut self.queues[usize::from(queue.0)];
        let packets = queue.entries.len() + queue.held_packets;
        if !queue.config.limit.has_room(packets, queue.bytes, entry.frame_bytes) {
            return false;
        }
        queue.held_packets += 1;
        queue.bytes += u64::from(entry.frame_bytes);
        queue.peak_bytes = queue.peak_bytes.max(queue.bytes);
        true
    }

    /// Makes a packet ready that [`Self::hold`] counted in.
    pub fn release(&mut self, queue: QueueId, entry: Entry) {
        let held = &mut self.queues[usize::from(queue.0)];
        held.held_packets -= 1;
        held.entries.push_back(entry);
        self.refresh(queue);
    }

    /// Takes the next packet to serve.
    #[inline]
    pub fn take(&mut self) -> Option<(QueueId, Entry)> {
        if self.ready == 0 {
            return None;
        }
        let level = self.levels.iter().position(|level| level.mask & self.ready != 0)?;
        let ready = self.levels[level].mask & self.ready;
        let index = if ready.is_power_of_two() && self.levels[level].mask.is_power_of_two() {
            ready.trailing_zeros() as usize
        } else {
            self.next_by_deficit(level)
        };
        let entry = self.take_from(index);
        self.serving = (QueueId(index as u8), entry.frame_bytes);
        Some((self.serving.0, entry))
    }

    /// Whether any queue could be served.
    #[inline]
    pub const fn has_ready(&self) -> bool {
        self.ready != 0
    }

    /// Stops serving `queue`.
    pub fn pause(&mut self, queue: QueueId) {
        self.queues[usize::from(queue.0)].is_paused = true;
        self.ready &= !(1 << queue.0);
    }

    /// Serves `queue` again.
    pub fn resume(&mut self, queue: QueueId) {
        self.queues[usize::from(queue.0)].is_paused = false;
        self.refresh(queue);
    }

    /// Serves `queue` by credit from now on, beginning with none.
    pub fn schedule_by_credit(&mut self, queue: QueueId) {
        self.queues[usize::from(queue.0)].credit = Some(0);
        self.ready &= !(1 << queue.0);
    }

    /// Lets `packets` more of a queue that is scheduled by credit be served.
    ///
    /// # Panics
    /// When the queue is not scheduled by credit.
    pub fn grant(&mut self, queue: QueueId, packets: u64) {
        let credit = &mut self.queues[usize::from(queue.0)].credit;
        *credit.as_mut().expect("the queue is scheduled by credit") += packets;
        self.refresh(queue);
    }

    fn refresh(&mut self, queue: QueueId) {
        if self.queues[usize::from(queue.0)].may_be_served() {
            self.ready |= 1 << queue.0;
        }
    }

    /// Whether `queue` is paused.
    pub fn is_paused(&self, queue: QueueId) -> bool {
        self.queues[usize::from(queue.0)].is_paused
    }

    /// Bytes waiting in `queue` (the frame in transmission has left it).
    #[inline]
    pub fn depth_bytes(&self, queue: QueueId) -> u64 {
        self.queues[usize::from(queue.0)].bytes
    }

    /// The most bytes that ever waited in `queue`.
    pub fn peak_bytes(&self, queue: QueueId) -> u64 {
        self.queues[usize::from(queue.0)].peak_bytes
    }

    /// How many queues there are.
    pub fn queue_count(&self) -> usize {
        self.queues.len()
    }

    /// Packets waiting in all queues.
    pub fn packets(&self) -> usize {
        self.queues.iter().map(|queue| queue.entries.len() + queue.held_packets).sum()
    }

    /// Calls `look` for each packet that could be served.
    pub fn each_waiting(&self, look: impl FnMut(PacketHandle)) {
        self.queues.iter().flat_map(|queue| queue.entries.iter().map(|entry| entry.packet)).for_each(look);
    }

    #[inline]
    fn take_from(&mut self, index: usize) -> Entry {
        let queue = &mut self.queues[index];
        let entry = queue.entries.pop_front().expect("a ready queue has a packet");
        queue.bytes -= u64::from(entry.frame_bytes);
        if let Some(credit) = &mut queue.credit {
            *credit -= 1;
        }
        if queue.entries.is_empty() {
            queue.deficit_bytes = 0;
        }
        if !queue.may_be_served() {
            self.ready &= !(1 << index);
        }
        entry
    }

    /// Deficit round robin: the queue whose turn it is sends while its deficit covers its first frame.
    fn next_by_deficit(&mut self, level: usize) -> usize {
        loop {
            let Level { mask, turn } = self.levels[level];
            let index = usize::from(turn);
            let is_ready = self.ready >> index & 1 == 1;
            let queue = &mut self.queues[index];
            let first_bytes = queue.entries.front().map_or(0, |entry| entry.frame_bytes);
            if is_ready && queue.deficit_bytes >= first_bytes {
                queue.deficit_bytes -= first_bytes;
                return index;
            }
            let next = next_set_bit(mask, turn);
            self.levels[level].turn = next;
            if self.ready >> next & 1 == 1 {
                let queue = &mut self.queues[usize::from(next)];
                queue.deficit_bytes = queue.deficit_bytes.saturating_add(queue.config.quantum_bytes);
            }
        }
    }
}

/// The set bit of `mask` that follows `from`, around the end.
fn next_set_bit(mask: u64, from: u8) -> u8 {
    let above = mask & u64::MAX.checked_shl(u32::from(from) + 1).unwrap_or(0);
    if above != 0 { above.trailing_zeros() as u8 } else { mask.trailing_zeros() as u8 }
}

fn levels_of(configs: &[QueueConfig]) -> Vec<Level> {
    let mut priorities: Vec<u8> = configs.iter().map(|config| config.priority).collect();
    priorities.sort_unstable_by(|a, b| b.cmp(a));
    priorities.dedup();
    let mask_of = |priority| {
        let members = configs.iter().enumerate().filter(|(_, config)| config.priority == priority);
        members.fold(0u64, |mask, (index, _)| mask | 1 << index)
    };
    let level = |mask: u64| Level { mask, turn: mask.trailing_zeros() as u8 };
    priorities.into_iter().map(|priority| level(mask_of(priority))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::QueueLimit;
    use super::*;

    fn lane(queues: &[(u8, u32)]) -> ManagedLane {
        let config = |&(priority, quantum_bytes): &(u8, u32)| QueueConfig {
            quantum_bytes,
            ..QueueConfig::normal(QueueLimit::Packets(100)).with_priority(priority)
        };
        ManagedLane::new(&queues.iter().map(config).collect::<Vec<_>>())
    }

    fn fill(lane: &mut ManagedLane, queue: u8, frame_bytes: u32, count: usize) {
        for _ in 0..count {
            let entry = Entry { packet: PacketHandle(0), frame_bytes, enqueued_at: Time::ZERO };
            assert_eq!(lane.offer(QueueId(queue), entry), Offer::Queued { mark: false });
        }
    }

    fn drain(lane: &mut ManagedLane) -> Vec<u8> {
        std::iter::from_fn(|| lane.take().map(|(queue, _)| queue.0)).collect()
    }

    #[test]
    fn a_higher_level_goes_first_whatever_its_number() {
        let mut lane = lane(&[(1, 1_500), (9, 1_500), (5, 1_500)]);
        for queue in 0..3 {
            fill(&mut lane, queue, 100, 2);
        }
        assert_eq!(drain(&mut lane), [1, 1, 2, 2, 0, 0]);
    }

    #[test]
    fn deficit_round_robin_shares_bytes_not_packets() {
        let mut lane = lane(&[(1, 1_500), (1, 1_500)]);
        fill(&mut lane, 0, 1_500, 3);
        fill(&mut lane, 1, 500, 9);
        let order = drain(&mut lane);
        let first_eight = &order[..8];
        assert_eq!(first_eight.iter().filter(|&&queue| queue == 0).count(), 2, "{order:?}");
        assert_eq!(order.len(), 12);
    }

    #[test]
    fn a_paused_queue_waits_and_lets_others_pass() {
        let mut lane = lane(&[(9, 1_500), (1, 1_500)]);
        fill(&mut lane, 0, 100, 1);
        fill(&mut lane, 1, 100, 1);
        lane.pause(QueueId(0));
        assert_eq!(drain(&mut lane), [1]);
        assert!(!lane.has_ready());
        lane.resume(QueueId(0));
        assert_eq!(drain(&mut lane), [0]);
    }

    #[test]
    fn a_queue_scheduled_by_credit_sends_what_was_granted() {
        let mut lane = lane(&[(1, 1_500)]);
        lane.schedule_by_credit(QueueId(0));
        fill(&mut lane, 0, 100, 3);
        assert_eq!(drain(&mut lane), []);
        lane.grant(QueueId(0), 2);
        assert_eq!(drain(&mut lane), [0, 0]);
        lane.grant(QueueId(0), 2);
        assert_eq!(drain(&mut lane), [0]);
        fill(&mut lane, 0, 100, 2);
        assert_eq!(drain(&mut lane), [0]);
    }

    #[test]
    fn a_held_packet_counts_but_is_served_only_when_released() {
        let mut lane = lane(&[(1, 1_500)]);
        let entry = Entry { packet: PacketHandle(7), frame_bytes: 100, enqueued_at: Time::ZERO };
        assert!(lane.hold(QueueId(0), entry));
        assert_eq!((lane.depth_bytes(QueueId(0)), lane.packets(), lane.take()), (100, 1, None));
        fill(&mut lane, 0, 100, 1);
        assert_eq!(drain(&mut lane), [0]);
        lane.release(QueueId(0), entry);
        assert_eq!(lane.take(), Some((QueueId(0), entry)));
        assert_eq!((lane.depth_bytes(QueueId(0)), lane.packets()), (0, 0));
    }

    #[test]
    fn depth_returns_to_zero() {
        let mut lane = lane(&[(1, 1_500)]);
        fill(&mut lane, 0, 700, 3);
        assert_eq!(lane.depth_bytes(QueueId(0)), 2_100);
        drain(&mut lane);
        assert_eq!((lane.depth_bytes(QueueId(0)), lane.peak_bytes(QueueId(0)), lane.packets()), (0, 2_100, 0));
    }
}
