//! Several queues with one server: strict priority between levels, deficit round robin within a level, pause, and a
//! group of queues with a separate discipline, which counts as one queue among the others.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, QueueId, Time};

use super::config::{QueueConfig, QueueLimit, QueueOrder};
use super::deficit::DeficitRoundRobin;
use super::entry::Entry;
use super::group::{Choice, Group, GroupCounters, QueueGroup, Rounds};
use super::marking::EcnMarker;
use super::packet_line::PacketLine;

pub mod by_rank;
mod lossless;
mod pass;
mod state;
mod stops;

#[derive(Debug, hitless_core::state::State)]
struct Queue {
    #[configured]
    config: QueueConfig,
    #[part]
    marker: EcnMarker,
    #[configured]
    marks_at_dequeue: bool,
    /// Whether its packets can be lossless, and are refunded at dequeue.
    #[configured]
    is_lossless: bool,
    /// Whether a packet can leave a duty at dequeue.
    #[configured]
    has_duties: bool,
    /// As [`QueueConfig::passing_bytes`].
    #[configured]
    passing_bytes: u32,
    waiting: PacketLine,
    bytes: u64,
    peak_bytes: u64,
    /// Reasons for not serving it, one bit each: [`PAUSED`], [`CLOSED`], [`HELD`].
    stops: u8,
    /// Packets that count in the depth but may not be served yet.
    held_packets: usize,
    /// Packets that may still be served; `None` if the queue is not scheduled by credit.
    credit: Option<u64>,
}

impl Queue {
    #[inline]
    fn may_be_served(&self) -> bool {
        self.stops == 0 && self.credit != Some(0) && !self.waiting.is_empty()
    }

    /// Returns the duties for the packet just taken; a mark depends on the packets left behind.
    #[cold]
    #[inline(never)]
    fn duties(&mut self) -> u8 {
        let marks = self.marks_at_dequeue && self.marker.marks(self.waiting.len() + self.held_packets, self.bytes);
        let releases = if self.is_lossless { RELEASES } else { 0 };
        if marks { MARKS | releases } else { releases }
    }
}

/// Duty for a served packet: a congestion mark.
const MARKS: u8 = 1;
/// Duty for a served packet: its priority group gets its bytes back.
pub(crate) const RELEASES: u8 = 2;

/// The link partner or a mechanism has paused the queue.
const PAUSED: u8 = 1;
/// A mechanism has closed the queue to serve others first.
const CLOSED: u8 = 2;
/// A mechanism without a path for host packets holds their queue.
const HELD: u8 = 4;

#[derive(Debug, hitless_core::state::State)]
struct Level {
    #[configured]
    mask: u64,
    /// Members that take turns; a group's first queue represents the group.
    members: DeficitRoundRobin,
}

/// The queues of a port, at most 64.
#[derive(Debug, hitless_core::state::State)]
pub struct QueuedScheduler {
    #[part]
    queues: Vec<Queue>,
    /// Levels, highest priority first.
    #[part]
    levels: Vec<Level>,
    /// Queues with a packet that may be served now.
    ready: u64,
    /// Queues with a packet.
    occupied: u64,
    /// Queues served by rank.
    by_rank: u64,
    /// Queues with separate admission: by rank, or with lossless packets.
    #[configured]
    apart: u64,
    /// Packets evicted since the last [`Self::take_evicted`].
    evicted: Vec<Entry>,
    #[part]
    group: Option<Box<Group>>,
    /// Queue and length of the frame served last; until `busy_until` the frame counts as present.
    serving: (QueueId, u32),
    /// Duties for that frame: a congestion mark, a refund.
    pub(crate) duties: u8,
    /// Time when the server becomes free.
    pub(crate) busy_until: Time,
    /// Whether an event will serve the queues at `busy_until`.
    pub(crate) service_is_due: bool,
}

/// The result of offering a packet to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The packet was queued.
    Queued {
        /// Whether the depth requires a congestion mark.
        mark: bool,
    },
    /// The queue's limit is reached.
    Full,
    /// The limit of the whole group is reached.
    GroupFull,
}

/// The next action of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeued {
    /// Send this packet from this queue.
    Packet(QueueId, Entry),
    /// Send nothing for this time: the group is moving to its next queue.
    Rotating(Duration),
    /// Send nothing.
    Nothing,
}

impl QueuedScheduler {
    /// Creates empty queues, and a group with the numbers after them.
    ///
    /// # Panics
    /// With no queue or more than 64, or with a group in order of rank.
    pub fn new(queues: &[QueueConfig], group: Option<QueueGroup>) -> Self {
        let of_group = group.map_or(0, |group| usize::from(group.queues));
        let grouped = group.map(|group| Box::new(Group::new(group, queues.len() as u8)));
        let configs: Vec<_> = queues
            .iter()
            .copied()
            .chain(group.into_iter().flat_map(|group| std::iter::repeat_n(group.queue, of_group)))
            .collect();
        assert!((1..=64).contains(&configs.len()), "a port has between 1 and 64 queues, not {}", configs.len());
        assert!(
            group.is_none_or(|group| group.queue.order == QueueOrder::ByArrival),
            "the queues of a group are served in the order of arrival"
        );
        let of_rank = configs.iter().enumerate().filter(|(_, config)| config.order == QueueOrder::ByRank);
        let by_rank = of_rank.fold(0, |mask, (number, _)| mask | 1 << number);
        let queues = configs.iter().map(|&config| Queue {
            config,
            marker: EcnMarker::new(config.ecn),
            marks_at_dequeue: config.marks_at_dequeue(),
            is_lossless: false,
            has_duties: config.marks_at_dequeue(),
            passing_bytes: config.passing_bytes(),
            waiting: PacketLine::new(config.order),
            bytes: 0,
            peak_bytes: 0,
            stops: 0,
            held_packets: 0,
            credit: None,
        });
        Self {
            queues: queues.collect(),
            levels: levels_of(&configs, grouped.as_deref()),
            ready: 0,
            occupied: 0,
            by_rank,
            apart: by_rank,
            evicted: Vec::new(),
            group: grouped,
            serving: (QueueId(0), 0),
            duties: 0,
            busy_until: Time::ZERO,
            service_is_due: false,
        }
    }

    /// Returns whether `queue` is on the highest priority level.
    #[inline]
    pub fn is_of_highest_level(&self, queue: QueueId) -> bool {
        self.levels[0].mask & 1 << queue.0 != 0
    }

    /// Puts a packet into `queue`, which is served in order of arrival. For a queue of the group, `round` has the low
    /// bits of the packet's round.
    #[inline]
    pub fn offer(&mut self, queue: QueueId, round: u8, entry: Entry) -> Offer {
        match &mut self.group {
            Some(group) if group.contains(queue) => {
                // The limits include the frame in transmission, which has already left its queue.
                let is_serving_it = self.busy_until > entry.enqueued_at && group.contains(self.serving.0);
                let serving_bytes = if is_serving_it { self.serving.1 } else { 0 };
                let Some(queue) = group.admit(queue, round, entry.frame_bytes, serving_bytes) else {
                    return Offer::GroupFull;
                };
                let offer = self.offer_to(queue, entry);
                if let (Offer::Queued { .. }, Some(group)) = (offer, &mut self.group) {
                    group.add(entry.frame_bytes);
                }
                offer
            }
            _ => self.offer_to(queue, entry),
        }
    }

    #[inline(always)]
    fn offer_to(&mut self, queue: QueueId, entry: Entry) -> Offer {
        let (packets, bytes) = self.backlog(queue, entry.enqueued_at);
        if !self.limit(queue).has_room(packets, bytes, entry.frame_bytes) {
            return Offer::Full;
        }
        Offer::Queued { mark: self.put_in(queue, 0, entry, (packets, bytes)) }
    }

    /// Puts an admitted packet into its place. Returns whether the backlog ahead of it, in packets and bytes, requires
    /// a congestion mark.
    #[inline(always)]
    fn put_in(&mut self, queue: QueueId, rank: u32, entry: Entry, (packets, bytes): (usize, u64)) -> bool {
        let index = usize::from(queue.0);
        let queue = &mut self.queues[index];
        let mark = !queue.marks_at_dequeue && queue.marker.marks(packets, bytes);
        let packets_before = queue.waiting.len() as u32;
        queue.waiting.push(Entry { packets_before, ..entry }, rank);
        queue.bytes += u64::from(entry.frame_bytes);
        queue.peak_bytes = queue.peak_bytes.max(queue.bytes);
        self.occupied |= 1 << index;
        if queue.may_be_served() {
            self.ready |= 1 << index;
        }
        mark
    }

    /// Counts a packet without making it ready. Returns false if the queue's limit is reached.
    pub fn hold(&mut self, queue: QueueId, entry: Entry) -> bool {
        assert!(!self.is_grouped(queue), "the queues of a group hold no packet back");
        let queue = &mut self.queues[usize::from(queue.0)];
        // Held packets occupy the buffer like waiting ones.
        let packets = queue.waiting.len() + queue.held_packets;
        if !queue.config.limit.has_room(packets, queue.bytes, entry.frame_bytes) {
            return false;
        }
        queue.held_packets += 1;
        queue.bytes += u64::from(entry.frame_bytes);
        queue.peak_bytes = queue.peak_bytes.max(queue.bytes);
        true
    }

    /// Makes a packet of this rank ready that [`Self::hold`] has counted.
    pub fn release(&mut self, queue: QueueId, rank: u32, entry: Entry) {
        let held = &mut self.queues[usize::from(queue.0)];
        assert!(held.held_packets > 0 && held.bytes >= u64::from(entry.frame_bytes), "nothing is held");
        held.held_packets -= 1;
        let packets_before = held.waiting.len() as u32;
        held.waiting.push(Entry { packets_before, ..entry }, rank);
        self.occupied |= 1 << queue.0;
        self.refresh(queue);
    }

    /// Takes the next packet to serve.
    #[inline]
    pub fn take(&mut self) -> Dequeued {
        if self.ready == 0 {
            return Dequeued::Nothing;
        }
        // Strict priority: the first level with a ready queue is served.
        let Some(level) = self.levels.iter().position(|level| level.mask & self.ready != 0) else {
            return Dequeued::Nothing;
        };
        let index = match self.choose(level) {
            Choice::Queue(index) => usize::from(index),
            Choice::Rotating(step) => {
                // While the group rotates, no frame is in transmission.
                self.serving = (self.serving.0, 0);
                return Dequeued::Rotating(step);
            }
        };
        let entry = self.take_from(index, level);
        self.serving = (QueueId(index as u8), entry.frame_bytes);
        Dequeued::Packet(self.serving.0, entry)
    }

    /// Returns the queue of `level` to serve next.
    #[inline]
    fn choose(&mut self, level: usize) -> Choice {
        let Level { mask, members } = &mut self.levels[level];
        let mut ready = self.ready & *mask;
        let mut of_group = None;
        if let Some(group) = &mut self.group
            && ready & group.mask() != 0
        {
            let queues = &self.queues;
            match group.choose(ready, |queue| first_bytes(&queues[usize::from(queue)])) {
                Choice::Queue(chosen) => of_group = Some((group.leader(), chosen)),
                rotating => return rotating,
            }
            // Among the other queues of the level, the group's first queue competes for the whole group.
            ready = ready & !group.mask() | 1 << group.leader();
        }
        // A level with a single member needs no round robin.
        let member = if members.members().is_power_of_two() {
            ready.trailing_zeros() as u8
        } else {
            let queues = &self.queues;
            let queue_of = |member| of_group.filter(|group| group.0 == member).map_or(member, |group| group.1);
            members.next_member(ready, |member| first_bytes(&queues[usize::from(queue_of(member))]))
        };
        Choice::Queue(of_group.filter(|group| group.0 == member).map_or(member, |group| group.1))
    }

    /// Returns whether any queue can be served.
    #[inline]
    pub const fn has_ready(&self) -> bool {
        self.ready != 0
    }

    /// Pauses `queue`; a queue of a group pauses the whole group, which counts as one queue.
    pub fn pause(&mut self, queue: QueueId) {
        self.set_paused(queue, true);
    }

    /// Resumes `queue`.
    pub fn resume(&mut self, queue: QueueId) {
        self.set_paused(queue, false);
    }

    fn set_paused(&mut self, queue: QueueId, is_paused: bool) {
        let mut queues =
            self.group.as_ref().filter(|group| group.contains(queue)).map_or(1 << queue.0, |group| group.mask());
        while queues != 0 {
            let queue = QueueId(queues.trailing_zeros() as u8);
            // Clears the lowest bit.
            queues &= queues - 1;
            let stops = &mut self.queues[usize::from(queue.0)].stops;
            *stops = *stops & !PAUSED | if is_paused { PAUSED } else { 0 };
            self.refresh(queue);
        }
    }

    /// Serves only the queues in `open`, whoever pauses or resumes others, until [`Self::open_all`].
    pub fn close_all_but(&mut self, open: &[QueueId]) {
        for index in 0..self.queues.len() as u8 {
            if !open.contains(&QueueId(index)) {
                self.queues[usize::from(index)].stops |= CLOSED;
                self.refresh(QueueId(index));
            }
        }
    }

    /// Undoes [`Self::close_all_but`].
    pub fn open_all(&mut self) {
        for index in 0..self.queues.len() as u8 {
            self.queues[usize::from(index)].stops &= !CLOSED;
            self.refresh(QueueId(index));
        }
    }

    /// Serves, of the queues with packets of hosts, only those in `open`, whoever pauses or resumes others, until
    /// [`Self::release_hosts`].
    pub fn hold_hosts_but(&mut self, open: &[QueueId]) {
        for index in 0..self.queues.len() as u8 {
            let queue = &mut self.queues[usize::from(index)];
            let is_held = queue.config.of_hosts && !open.contains(&QueueId(index));
            queue.stops = queue.stops & !HELD | if is_held { HELD } else { 0 };
            self.refresh(QueueId(index));
        }
    }

    /// Undoes [`Self::hold_hosts_but`].
    pub fn release_hosts(&mut self) {
        for index in 0..self.queues.len() as u8 {
            self.queues[usize::from(index)].stops &= !HELD;
            self.refresh(QueueId(index));
        }
    }

    /// Pauses or resumes queues with packets of several classes: the group, and queues with packets of hosts that are
    /// not the queue of a class. `is_paused` says whether any of some classes, one bit each, is paused.
    pub fn set_mixed_paused(&mut self, class_queues: &[QueueId], is_paused: impl Fn(u8) -> bool) {
        if let Some((first, classes)) = self.group.as_ref().map(|group| (group.leader(), group.config.classes)) {
            self.set_paused(QueueId(first), is_paused(classes));
        }
        let is_paused = is_paused(u8::MAX);
        for index in 0..self.queues.len() as u8 {
            let queue = QueueId(index);
            let is_mixed = self.queues[usize::from(index)].config.of_hosts && !class_queues.contains(&queue);
            if is_mixed && !self.is_grouped(queue) {
                self.set_paused(queue, is_paused);
            }
        }
    }

    /// Serves `queue` by credit, starting with a credit of zero.
    pub fn schedule_by_credit(&mut self, queue: QueueId) {
        self.queues[usize::from(queue.0)].credit = Some(0);
        self.ready &= !(1 << queue.0);
    }

    /// Adds credit for `packets` to a queue that is scheduled by credit.
    ///
    /// # Panics
    /// If the queue is not scheduled by credit.
    pub fn grant(&mut self, queue: QueueId, packets: u64) {
        let credit = &mut self.queues[usize::from(queue.0)].credit;
        *credit.as_mut().expect("the queue is scheduled by credit") += packets;
        self.refresh(queue);
    }

    fn refresh(&mut self, queue: QueueId) {
        let may_be_served = self.queues[usize::from(queue.0)].may_be_served();
        self.ready = self.ready & !(1 << queue.0) | u64::from(may_be_served) << queue.0;
    }

    fn is_grouped(&self, queue: QueueId) -> bool {
        self.group.as_ref().is_some_and(|group| group.contains(queue))
    }

    /// Returns the group's position in its rounds, or `None` without a group.
    #[inline]
    pub fn rounds(&mut self, now: Time) -> Option<Rounds> {
        let busy_until = self.busy_until;
        self.group.as_mut().map(|group| group.rounds(now, busy_until))
    }

    /// Returns the group's first queue, or `None` without a group.
    pub fn first_of_group(&self) -> Option<QueueId> {
        self.group.as_ref().map(|group| QueueId(group.leader()))
    }

    /// Counts the packets waiting in all queues of the group.
    pub fn group_packets(&self) -> usize {
        let mask = self.group.as_ref().map_or(0, |group| group.mask());
        let of_group = self.queues.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1);
        of_group.map(|(_, queue)| queue.waiting.len()).sum()
    }

    /// Returns the bytes waiting in all queues of the group.
    pub fn group_bytes(&self) -> u64 {
        self.group.as_ref().map_or(0, |group| group.bytes())
    }

    /// Returns the group's counters, or `None` without a group.
    pub fn group_counters(&self) -> Option<GroupCounters> {
        self.group.as_ref().map(|group| group.counters)
    }

    /// One bit for each queue with a packet.
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Returns whether the half with priority is empty and its rounds are over. New packets then belong to the other
    /// half, which is the only one in use until the swap. This can also be true for an empty group.
    pub fn waits_for_swap(&self) -> bool {
        self.group.as_deref().is_some_and(|group| group.first_half_is_over(self.occupied))
    }

    /// Exchanges the priorities of a group's halves. Returns the number of packets left in the half that had priority.
    pub fn swap_halves(&mut self) -> usize {
        let Some(group) = &mut self.group else { return 0 };
        let left_over = group.first_half() & self.occupied;
        let of_half = self.queues.iter().enumerate().filter(|(index, _)| left_over >> index & 1 == 1);
        let left_behind = of_half.map(|(_, queue)| queue.waiting.len()).sum();
        group.swap_halves(left_behind, left_over);
        left_behind
    }

    /// Returns whether no packet of the group is queued or on the line.
    pub fn group_is_idle(&self, now: Time) -> bool {
        let is_on_line = self.busy_until > now && self.is_grouped(self.serving.0);
        !is_on_line && self.group.as_ref().is_some_and(|group| group.is_empty())
    }

    /// Returns whether `queue` is paused.
    pub fn is_paused(&self, queue: QueueId) -> bool {
        self.queues[usize::from(queue.0)].stops & PAUSED != 0
    }

    /// Returns the bytes waiting in `queue`, without the frame in transmission.
    #[inline]
    pub fn depth_bytes(&self, queue: QueueId) -> u64 {
        self.queues[usize::from(queue.0)].bytes
    }

    /// Returns the packets waiting in `queue`, without the frame in transmission.
    #[inline]
    pub fn waiting_packets(&self, queue: QueueId) -> usize {
        self.queues[usize::from(queue.0)].waiting.len()
    }

    /// Returns the packets and bytes in `queue`, including its frame in transmission.
    #[inline]
    pub(crate) fn backlog(&self, queue: QueueId, now: Time) -> (usize, u64) {
        let is_serving_it = self.busy_until > now && self.serving.0 == queue;
        // The frame in transmission has left the queue but still occupies its buffer.
        let serving_bytes = if is_serving_it { u64::from(self.serving.1) } else { 0 };
        let queue = &self.queues[usize::from(queue.0)];
        let packets = queue.waiting.len() + queue.held_packets + usize::from(is_serving_it);
        (packets, queue.bytes + serving_bytes)
    }

    /// Returns the limit of `queue`.
    pub(crate) fn limit(&self, queue: QueueId) -> QueueLimit {
        self.queues[usize::from(queue.0)].config.limit
    }

    /// Returns the maximum number of bytes that ever waited in `queue`.
    pub fn peak_bytes(&self, queue: QueueId) -> u64 {
        self.queues[usize::from(queue.0)].peak_bytes
    }

    /// Returns the number of queues.
    pub fn queue_count(&self) -> usize {
        self.queues.len()
    }

    /// Returns the number of packets waiting in all queues.
    pub fn packets(&self) -> usize {
        self.queues.iter().map(|queue| queue.waiting.len() + queue.held_packets).sum()
    }

    /// Calls `look` for each packet that could be served.
    pub fn each_waiting(&self, look: impl FnMut(PacketHandle)) {
        self.queues.iter().flat_map(|queue| queue.waiting.iter().map(|entry| entry.packet)).for_each(look);
    }

    #[inline]
    fn take_from(&mut self, index: usize, level: usize) -> Entry {
        let queue = &mut self.queues[index];
        let entry = queue.waiting.pop_first().expect("a ready queue has a packet");
        queue.bytes -= u64::from(entry.frame_bytes);
        if let Some(credit) = &mut queue.credit {
            *credit -= 1;
        }
        self.duties = if queue.has_duties { queue.duties() } else { 0 };
        let is_empty = queue.waiting.is_empty();
        debug_assert!(!is_empty || queue.held_packets > 0 || queue.bytes == 0, "an empty queue has bytes");
        if !queue.may_be_served() {
            self.ready &= !(1 << index);
        }
        // A deficit ends with the backlog; for a group that is the backlog of the whole group.
        let mut member = Some(index as u8).filter(|_| is_empty);
        self.occupied &= !(u64::from(is_empty) << index);
        if let Some(group) = &mut self.group
            && group.contains(QueueId(index as u8))
        {
            group.taken(index as u8, entry.frame_bytes, is_empty);
            member = Some(group.leader()).filter(|_| group.is_empty());
        }
        if let Some(member) = member {
            self.levels[level].members.emptied(member);
        }
        entry
    }
}

#[inline]
fn first_bytes(queue: &Queue) -> u32 {
    queue.waiting.first().map_or(0, |entry| entry.frame_bytes)
}

fn levels_of(configs: &[QueueConfig], group: Option<&Group>) -> Vec<Level> {
    let mut priorities: Vec<u8> = configs.iter().map(|config| config.priority).collect();
    priorities.sort_unstable_by(|a, b| b.cmp(a));
    priorities.dedup();
    let level = |priority| {
        let mut level = Level { mask: 0, members: DeficitRoundRobin::new() };
        for (index, config) in configs.iter().enumerate().filter(|(_, config)| config.priority == priority) {
            level.mask |= 1 << index;
            let queue = QueueId(index as u8);
            if group.is_none_or(|group| !group.contains(queue) || group.leader() == queue.0) {
                level.members.add(queue.0, config.quantum_bytes);
            }
        }
        level
    };
    priorities.into_iter().map(level).collect()
}

#[cfg(test)]
mod tests;
