//! Several queues before one server: strict priority between levels, deficit round robin within one, pause, and a
//! group of queues with a discipline of its own, which to the others is one queue.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, QueueId, Time};

use super::config::{QueueConfig, QueueLimit, QueueOrder};
use super::deficit::DeficitRoundRobin;
use super::entry::Entry;
use super::group::{Choice, Group, GroupCounters, QueueGroup, Rounds};
use super::marking::EcnMarker;
use super::waiting::Waiting;

pub mod by_rank;
mod state;

#[derive(Debug)]
struct Queue {
    config: QueueConfig,
    marker: EcnMarker,
    marks_at_dequeue: bool,
    waiting: Waiting,
    bytes: u64,
    peak_bytes: u64,
    /// Why it is not served, one bit for each reason: [`PAUSED`], [`CLOSED`], [`HELD`].
    stops: u8,
    /// Packets that are here, and count, but may not be served yet.
    held_packets: usize,
    /// Packets that may still be served; none when the queue is not scheduled by credit.
    credit: Option<u64>,
}

hitless_core::state!(Queue {
    values: waiting, bytes, peak_bytes, stops, held_packets, credit;
    parts: marker;
    configured: config, marks_at_dequeue
});

impl Queue {
    #[inline]
    fn may_be_served(&self) -> bool {
        self.stops == 0 && self.credit != Some(0) && !self.waiting.is_empty()
    }

    /// Whether a packet that has just been taken is marked for what is left.
    #[cold]
    #[inline(never)]
    fn marks_what_left(&mut self) -> bool {
        self.marker.marks(self.waiting.len() + self.held_packets, self.bytes)
    }
}

/// A queue is paused: by the link partner, or because it has nothing to say.
const PAUSED: u8 = 1;
/// A queue is closed by a mechanism that sees to something else first.
const CLOSED: u8 = 2;
/// A mechanism without a path for host packets holds their queue.
const HELD: u8 = 4;

/// Queues of one level of priority.
#[derive(Debug)]
struct Level {
    /// All its queues.
    mask: u64,
    /// They take turns, the first queue of a group for the whole group.
    members: DeficitRoundRobin,
}

hitless_core::state!(Level { values: members; configured: mask });

/// The queues of a port, at most 64.
#[derive(Debug)]
pub struct QueuedScheduler {
    queues: Vec<Queue>,
    /// Highest priority first.
    levels: Vec<Level>,
    /// Queues that have a packet and are not paused.
    ready: u64,
    /// Queues that have a packet.
    occupied: u64,
    /// Queues that are served by rank.
    by_rank: u64,
    /// Packets that had to go since somebody last asked.
    evicted: Vec<Entry>,
    group: Option<Box<Group>>,
    /// Where the frame last served came from, and its length: until `busy_until` it counts as being there.
    serving: (QueueId, u32),
    /// What it left behind asks for a congestion mark on it.
    pub(crate) marks_served: bool,
    /// When the server falls free.
    pub(crate) busy_until: Time,
    /// Whether an event will look after the queues at `busy_until`.
    pub(crate) service_is_due: bool,
}

hitless_core::state!(QueuedScheduler {
    values: ready, occupied, by_rank, evicted, serving, marks_served, busy_until, service_is_due;
    parts: queues, levels, group
});

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
    /// The limit of all queues of the group together is reached.
    GroupFull,
}

/// What a port does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dequeued {
    /// It sends this packet of this queue.
    Packet(QueueId, Entry),
    /// Nothing for so long: its group of queues is on its way to the next one.
    Rotating(Duration),
    /// Nothing.
    Nothing,
}

impl QueuedScheduler {
    /// Empty queues, and a group of more that are numbered after them.
    ///
    /// # Panics
    /// With no queue or more than 64, or a group whose queues are served by rank.
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
            waiting: Waiting::new(config.order),
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
            evicted: Vec::new(),
            group: grouped,
            serving: (QueueId(0), 0),
            marks_served: false,
            busy_until: Time::ZERO,
            service_is_due: false,
        }
    }

    /// Whether no queue is served before `queue`.
    #[inline]
    pub fn is_of_highest_level(&self, queue: QueueId) -> bool {
        self.levels[0].mask & 1 << queue.0 != 0
    }

    /// Puts a packet into `queue`, which is served in the order of arrival; `round` has the low bits of the round that
    /// it is meant for, if the queue is one of the group.
    #[inline]
    pub fn offer(&mut self, queue: QueueId, round: u8, entry: Entry) -> Offer {
        match &mut self.group {
            Some(group) if group.contains(queue) => {
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

    /// Puts a packet that has been admitted into its place; whether the backlog before it, in packets and bytes, asks
    /// for a congestion mark.
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

    /// Counts a packet in without making it ready; false when the queue's own limit is reached.
    ///
    /// # Panics
    /// When the queue is one of a group.
    pub fn hold(&mut self, queue: QueueId, entry: Entry) -> bool {
        assert!(!self.is_grouped(queue), "the queues of a group hold no packet back");
        let queue = &mut self.queues[usize::from(queue.0)];
        let packets = queue.waiting.len() + queue.held_packets;
        if !queue.config.limit.has_room(packets, queue.bytes, entry.frame_bytes) {
            return false;
        }
        queue.held_packets += 1;
        queue.bytes += u64::from(entry.frame_bytes);
        queue.peak_bytes = queue.peak_bytes.max(queue.bytes);
        true
    }

    /// Makes a packet of that rank ready that [`Self::hold`] counted in.
    pub fn release(&mut self, queue: QueueId, rank: u32, entry: Entry) {
        let held = &mut self.queues[usize::from(queue.0)];
        debug_assert!(held.held_packets > 0 && held.bytes >= u64::from(entry.frame_bytes), "nothing is held");
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
        let Some(level) = self.levels.iter().position(|level| level.mask & self.ready != 0) else {
            return Dequeued::Nothing;
        };
        let index = match self.choose(level) {
            Choice::Queue(index) => usize::from(index),
            Choice::Rotating(step) => {
                self.serving = (self.serving.0, 0);
                return Dequeued::Rotating(step);
            }
        };
        let entry = self.take_from(index, level);
        self.serving = (QueueId(index as u8), entry.frame_bytes);
        Dequeued::Packet(self.serving.0, entry)
    }

    /// The queue of `level` to serve next.
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
            ready = ready & !group.mask() | 1 << group.leader();
        }
        let member = if members.members().is_power_of_two() {
            ready.trailing_zeros() as u8
        } else {
            let queues = &self.queues;
            let queue_of = |member| of_group.filter(|group| group.0 == member).map_or(member, |group| group.1);
            members.next_member(ready, |member| first_bytes(&queues[usize::from(queue_of(member))]))
        };
        Choice::Queue(of_group.filter(|group| group.0 == member).map_or(member, |group| group.1))
    }

    /// Whether any queue could be served.
    #[inline]
    pub const fn has_ready(&self) -> bool {
        self.ready != 0
    }

    /// Stops serving `queue`; with one of a group the whole group, which is one queue to the others.
    pub fn pause(&mut self, queue: QueueId) {
        self.set_paused(queue, true);
    }

    /// Serves `queue` again.
    pub fn resume(&mut self, queue: QueueId) {
        self.set_paused(queue, false);
    }

    /// As [`Self::pause`] or [`Self::resume`], for the group of queues, if there is one.
    pub fn set_group_paused(&mut self, is_paused: bool) {
        if let Some(first) = self.first_of_group() {
            self.set_paused(first, is_paused);
        }
    }

    fn set_paused(&mut self, queue: QueueId, is_paused: bool) {
        let mut queues =
            self.group.as_ref().filter(|group| group.contains(queue)).map_or(1 << queue.0, |group| group.mask());
        while queues != 0 {
            let queue = QueueId(queues.trailing_zeros() as u8);
            queues &= queues - 1;
            let stops = &mut self.queues[usize::from(queue.0)].stops;
            *stops = *stops & !PAUSED | if is_paused { PAUSED } else { 0 };
            self.refresh(queue);
        }
    }

    /// Serves none of the queues but `open`, whoever else pauses or resumes them, until [`Self::open_all`].
    pub fn close_all_but(&mut self, open: &[QueueId]) {
        for index in 0..self.queues.len() as u8 {
            if !open.contains(&QueueId(index)) {
                self.queues[usize::from(index)].stops |= CLOSED;
                self.refresh(QueueId(index));
            }
        }
    }

    /// Takes [`Self::close_all_but`] back.
    pub fn open_all(&mut self) {
        for index in 0..self.queues.len() as u8 {
            self.queues[usize::from(index)].stops &= !CLOSED;
            self.refresh(QueueId(index));
        }
    }

    /// Serves no queue of packets of hosts but `open`, whoever else pauses or resumes them, until
    /// [`Self::release_hosts`].
    pub fn hold_hosts_but(&mut self, open: &[QueueId]) {
        for index in 0..self.queues.len() as u8 {
            let queue = &mut self.queues[usize::from(index)];
            let is_held = queue.config.of_hosts && !open.contains(&QueueId(index));
            queue.stops = queue.stops & !HELD | if is_held { HELD } else { 0 };
            self.refresh(QueueId(index));
        }
    }

    /// Takes [`Self::hold_hosts_but`] back.
    pub fn release_hosts(&mut self) {
        for index in 0..self.queues.len() as u8 {
            self.queues[usize::from(index)].stops &= !HELD;
            self.refresh(QueueId(index));
        }
    }

    /// Pauses or resumes what is of several classes: the group of queues, and the queues of packets of hosts that are
    /// not the queue of one class.
    pub fn set_mixed_paused(&mut self, class_queues: &[QueueId], is_paused: bool) {
        self.set_group_paused(is_paused);
        for index in 0..self.queues.len() as u8 {
            let queue = QueueId(index);
            let is_mixed = self.queues[usize::from(index)].config.of_hosts && !class_queues.contains(&queue);
            if is_mixed && !self.is_grouped(queue) {
                self.set_paused(queue, is_paused);
            }
        }
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
        let may_be_served = self.queues[usize::from(queue.0)].may_be_served();
        self.ready = self.ready & !(1 << queue.0) | u64::from(may_be_served) << queue.0;
    }

    fn is_grouped(&self, queue: QueueId) -> bool {
        self.group.as_ref().is_some_and(|group| group.contains(queue))
    }

    /// Where the group of queues is in its rounds; none: there is no group.
    #[inline]
    pub fn rounds(&mut self, now: Time) -> Option<Rounds> {
        let busy_until = self.busy_until;
        self.group.as_mut().map(|group| group.rounds(now, busy_until))
    }

    /// The number of the first queue of the group; none: there is no group.
    pub fn first_of_group(&self) -> Option<QueueId> {
        self.group.as_ref().map(|group| QueueId(group.leader()))
    }

    /// Packets waiting in all queues of the group, counted one queue after the other.
    pub fn group_packets(&self) -> usize {
        let mask = self.group.as_ref().map_or(0, |group| group.mask());
        let of_group = self.queues.iter().enumerate().filter(|(index, _)| mask >> index & 1 == 1);
        of_group.map(|(_, queue)| queue.waiting.len()).sum()
    }

    /// Bytes waiting in all queues of the group.
    pub fn group_bytes(&self) -> u64 {
        self.group.as_ref().map_or(0, |group| group.bytes())
    }

    /// What the group has counted; none: there is no group.
    pub fn group_counters(&self) -> Option<GroupCounters> {
        self.group.as_ref().map(|group| group.counters)
    }

    /// One bit for each queue that has a packet.
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Whether the half of the group that goes first is empty, and its rounds are over: all that comes belongs to the
    /// other, whose queues are all that is left until they are swapped. So it may be when the group is empty.
    pub fn waits_for_swap(&self) -> bool {
        self.group.as_deref().is_some_and(|group| group.first_half_is_over(self.occupied))
    }

    /// Exchanges the priorities of the two halves of a group. Returns the packets left behind in the half that went
    /// first.
    pub fn swap_halves(&mut self) -> usize {
        let Some(group) = &mut self.group else { return 0 };
        let left_over = group.first_half() & self.occupied;
        let of_half = self.queues.iter().enumerate().filter(|(index, _)| left_over >> index & 1 == 1);
        let left_behind = of_half.map(|(_, queue)| queue.waiting.len()).sum();
        group.swap_halves(left_behind, left_over);
        left_behind
    }

    /// Whether nothing of the group is here or on the line.
    pub fn group_is_idle(&self, now: Time) -> bool {
        let is_empty = self.group.as_ref().is_some_and(|group| group.is_empty());
        is_empty && self.busy_until <= now
    }

    /// Whether `queue` is paused.
    pub fn is_paused(&self, queue: QueueId) -> bool {
        self.queues[usize::from(queue.0)].stops & PAUSED != 0
    }

    /// Bytes waiting in `queue` (the frame in transmission has left it).
    #[inline]
    pub fn depth_bytes(&self, queue: QueueId) -> u64 {
        self.queues[usize::from(queue.0)].bytes
    }

    /// Packets waiting in `queue` (the frame in transmission has left it).
    #[inline]
    pub fn waiting_packets(&self, queue: QueueId) -> usize {
        self.queues[usize::from(queue.0)].waiting.len()
    }

    /// Packets and bytes in `queue`, the frame of it that is in transmission included.
    #[inline]
    pub(crate) fn backlog(&self, queue: QueueId, now: Time) -> (usize, u64) {
        let is_serving_it = self.busy_until > now && self.serving.0 == queue;
        let serving_bytes = if is_serving_it { u64::from(self.serving.1) } else { 0 };
        let queue = &self.queues[usize::from(queue.0)];
        let packets = queue.waiting.len() + queue.held_packets + usize::from(is_serving_it);
        (packets, queue.bytes + serving_bytes)
    }

    /// What `queue` may hold for itself.
    pub(crate) fn limit(&self, queue: QueueId) -> QueueLimit {
        self.queues[usize::from(queue.0)].config.limit
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
        self.marks_served = queue.marks_at_dequeue && queue.marks_what_left();
        let is_empty = queue.waiting.is_empty();
        debug_assert!(!is_empty || queue.held_packets > 0 || queue.bytes == 0, "an empty queue has bytes");
        if !queue.may_be_served() {
            self.ready &= !(1 << index);
        }
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
