//! A group of queues that one mechanism fills in rounds: the second level of scheduling.
//!
//! To the other queues of the port a group looks like one queue of its level. Queue `round mod count` of the group has
//! the packets of that round. The group's discipline serves the rounds in order and reports the current one.

use hitless_core::wire::{Duration, QueueId, Time};

use super::config::{QueueConfig, QueueLimit};
use super::deficit::DeficitRoundRobin;

/// The order of service among the queues of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupDiscipline {
    /// Rotating strict priority (AFQ, section 3.3.2): a queue is served until it is empty and then becomes the last.
    /// Empty queues are skipped if a later queue has a packet.
    RotatingStrictPriority {
        /// Treatment of packets that arrive after their round.
        late: LatePackets,
        /// Time for moving to the next queue, during which the port sends nothing.
        step: Duration,
    },
    /// Deficit round robin. If the quantum exceeds the bytes of a round, it equals rotating strict priority (AFQ,
    /// section 4).
    DeficitRoundRobin {
        /// Bytes per queue and turn.
        quantum_bytes: u32,
    },
    /// Strict priority within each half, and between the halves; [`super::QueuedScheduler::swap_halves`] exchanges the
    /// halves (AFQ, section 4).
    SwappedHalves,
}

/// The queue for a packet that reaches the traffic manager after its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatePackets {
    /// The queue that ingress named, which now belongs to a later round.
    NamedQueue,
    /// The queue of the round in service.
    ServedQueue,
}

/// The configuration of a group of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueGroup {
    /// Number of queues.
    pub queues: u8,
    /// Configuration of each queue; priority and quantum also apply to the group among the other queues of the port.
    pub queue: QueueConfig,
    /// Order of service.
    pub discipline: GroupDiscipline,
    /// Limit of all queues together.
    pub limit: QueueLimit,
    /// Duration of a round while the port is idle; `None` stops the rounds of an idle port.
    pub idle_round_time: Option<Duration>,
    /// Traffic classes with packets in the group, one bit each: a pause of one of them pauses the group.
    pub classes: u8,
}

/// The position of a group in its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Rounds {
    /// First queue of the group: round r uses queue `first + r mod count`.
    pub first: QueueId,
    /// Round in service, or the next one to serve.
    pub current: u64,
    /// Oldest round with a separate queue; the newest is `oldest` + number of queues - 1.
    pub oldest: u64,
}

crate::counters! {
    /// Counters of a group.
    pub struct GroupCounters {
        queued as packets_queued = "packets queued",
        served as packets_served = "packets served",
        /// Refused because the group's limit was reached.
        refused as packets_refused_by_buffer = "packets refused by the port's buffer",
        late as packets_late_for_round = "packets late for their round",
        /// Their round had no separate queue yet.
        early as packets_in_earlier_queue = "packets in a queue of an earlier round",
        /// Number of times that the next round began.
        rotations = "rotations",
        /// Packets in the half that lost its priority by a swap.
        left_behind as packets_left_behind = "packets left behind by a swap",
        peak_bytes as queued_peak_bytes = "most bytes queued",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub(super) struct Group {
    #[configured]
    pub config: QueueGroup,
    #[configured]
    first: u8,
    /// Queue of the current turn, counted from the first, and its round.
    turn: u8,
    turn_round: u64,
    /// Whether the queue of the turn has been emptied; then the next round has begun.
    is_served_out: bool,
    /// Swapped halves only: first round of the half with priority.
    first_round: u64,
    /// Swapped halves only: queues that held packets when their half lost priority, until they are empty. Their packets
    /// are older than the round that the queue now belongs to.
    left_over: u64,
    deficits: DeficitRoundRobin,
    /// Queue to serve next, until a packet is taken from it.
    choice: Option<u8>,
    packets: usize,
    bytes: u64,
    idle_since: Time,
    pub counters: GroupCounters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Queue(u8),
    /// The group needs this time to move to the next queue.
    Rotating(Duration),
}

impl Group {
    /// Creates an empty group; its first queue is the port's queue number `first`.
    pub fn new(config: QueueGroup, first: u8) -> Self {
        let mut deficits = DeficitRoundRobin::new();
        let quantum_bytes = match config.discipline {
            GroupDiscipline::DeficitRoundRobin { quantum_bytes } => quantum_bytes,
            _ => config.queue.quantum_bytes,
        };
        (0..config.queues).for_each(|queue| deficits.add(queue, quantum_bytes));
        deficits.begin();
        Self {
            config,
            first,
            turn: 0,
            turn_round: 0,
            is_served_out: false,
            first_round: 0,
            left_over: 0,
            deficits,
            choice: None,
            packets: 0,
            bytes: 0,
            idle_since: Time::ZERO,
            counters: GroupCounters::default(),
        }
    }

    /// Returns the port's queues in the group, one bit each.
    pub const fn mask(&self) -> u64 {
        (u64::MAX >> (64 - self.config.queues)) << self.first
    }

    /// Returns the group's first queue, which represents the group among the other queues.
    pub const fn leader(&self) -> u8 {
        self.first
    }

    /// Returns whether a queue of the port belongs to the group.
    #[inline]
    pub const fn contains(&self, queue: QueueId) -> bool {
        queue.0.wrapping_sub(self.first) < self.config.queues
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the position in the rounds. An idle port has been idle since `idle_since`.
    #[inline]
    pub fn rounds(&mut self, now: Time, idle_since: Time) -> Rounds {
        // Rounds of an idle port pass lazily, when they are read.
        if self.packets == 0 && self.config.idle_round_time.is_some() {
            self.pass_idle_rounds(now, idle_since);
        }
        let current = self.reached();
        let oldest = if self.config.discipline == GroupDiscipline::SwappedHalves { self.first_round } else { current };
        Rounds { first: QueueId(self.first), current, oldest }
    }

    fn pass_idle_rounds(&mut self, now: Time, idle_since: Time) {
        let Some(round_time) = self.config.idle_round_time else { return };
        self.idle_since = self.idle_since.max(idle_since);
        let passed = now.saturating_since(self.idle_since).as_ps() / round_time.as_ps();
        if passed == 0 {
            return;
        }
        self.idle_since += round_time * passed;
        let count = u64::from(self.config.queues);
        if self.config.discipline == GroupDiscipline::SwappedHalves {
            // The round that has already begun counts as one of its half.
            self.turn_round = self.reached();
            self.is_served_out = false;
            let half = count / 2;
            // A swap happens at the end of a half, so only whole halves pass.
            self.first_round += (self.turn_round + passed - self.first_round) / half * half;
        }
        self.turn_round += passed;
        self.turn = (self.turn_round % count) as u8;
        self.counters.rotations += passed;
    }

    /// Returns the queue for a packet, or `None` if the group is full. `round` has the low bits of the packet's round,
    /// and ingress named `queue`. `serving_bytes` is the length of the group's frame in transmission.
    #[inline]
    pub fn admit(&mut self, queue: QueueId, round: u8, frame_bytes: u32, serving_bytes: u32) -> Option<QueueId> {
        // The limit includes the frame in transmission.
        let packets = self.packets + usize::from(serving_bytes != 0);
        if !self.config.limit.has_room(packets, self.bytes + u64::from(serving_bytes), frame_bytes) {
            self.counters.refused += 1;
            return None;
        }
        let queue = self.queue_in_time(queue, round);
        Some(queue)
    }

    #[inline]
    fn queue_in_time(&mut self, queue: QueueId, round: u8) -> QueueId {
        let (oldest, served) = match self.config.discipline {
            GroupDiscipline::SwappedHalves => (self.first_round, self.turn),
            _ => (self.reached(), self.next_turn()),
        };
        // Only 8 bits of the round travel with the packet; the difference has the right sign for up to 127 rounds.
        let ahead = round.wrapping_sub(oldest as u8) as i8;
        if (0..self.config.queues as i8).contains(&ahead) {
            return queue;
        }
        // Beyond the last queue: the named queue still belongs to an earlier round.
        if ahead >= 0 {
            self.counters.early += 1;
            return queue;
        }
        self.counters.late += 1;
        match self.config.discipline {
            GroupDiscipline::RotatingStrictPriority { late: LatePackets::ServedQueue, .. } => {
                QueueId(self.first + served)
            }
            _ => queue,
        }
    }

    fn next_turn(&self) -> u8 {
        let next = self.turn + u8::from(self.is_served_out);
        if next == self.config.queues { 0 } else { next }
    }

    /// Accounts for a queued packet.
    #[inline]
    pub fn add(&mut self, frame_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(frame_bytes);
        self.counters.queued += 1;
        self.counters.peak_bytes = self.counters.peak_bytes.max(self.bytes);
    }

    /// Returns whether the empty group takes a frame and can serve it at once.
    #[inline]
    pub fn lets_pass(&self, frame_bytes: u32) -> bool {
        let steps = matches!(self.config.discipline, GroupDiscipline::RotatingStrictPriority { step, .. }
            if step > Duration::ZERO);
        !steps && self.config.limit.has_room(0, 0, frame_bytes)
    }

    /// Returns the queue to serve next. `ready` has a bit for each queue of the port; a bit of the group must be set.
    #[inline]
    pub fn choose(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32) -> Choice {
        if let Some(chosen) = self.choice {
            return Choice::Queue(self.first + chosen);
        }
        let ready = (ready & self.mask()) >> self.first;
        let chosen = match self.config.discipline {
            GroupDiscipline::RotatingStrictPriority { step, .. } => {
                let passed = self.queues_to_pass(ready);
                // The hardware moves one queue per step, so an empty queue costs time too.
                if passed > 0 && step > Duration::ZERO {
                    self.pass(1);
                    return Choice::Rotating(step);
                }
                self.pass(passed);
                self.turn
            }
            GroupDiscipline::DeficitRoundRobin { .. } => {
                let first = self.first;
                let (chosen, passed) = self.deficits.next(ready, |queue| first_bytes(first + queue));
                self.pass(passed);
                assert_eq!(chosen, self.turn, "the rounds follow the turn");
                chosen
            }
            GroupDiscipline::SwappedHalves => self.choose_by_halves(ready),
        };
        self.choice = Some(chosen);
        Choice::Queue(self.first + chosen)
    }

    /// Returns how many queues are skipped to reach a ready one.
    #[inline]
    fn queues_to_pass(&self, ready: u64) -> u32 {
        let start = self.next_turn();
        let above = ready >> start;
        let distance = if above != 0 {
            above.trailing_zeros()
        } else {
            u32::from(self.config.queues - start) + ready.trailing_zeros()
        };
        distance + u32::from(self.is_served_out)
    }

    #[inline]
    fn pass(&mut self, queues: u32) {
        if queues == 0 {
            return;
        }
        // If the queue of the turn was emptied, its next round was already counted.
        self.counters.rotations += u64::from(queues) - u64::from(self.is_served_out);
        self.is_served_out = false;
        self.turn_round += u64::from(queues);
        let turn = u32::from(self.turn) + queues;
        let count = u32::from(self.config.queues);
        self.turn = (if turn < count { turn } else { turn % count }) as u8;
    }

    /// Returns a queue of the half with priority or, if that is empty, of the other half; the rounds of that half then
    /// begin. The priorities are strict; the round follows the queue in service.
    fn choose_by_halves(&mut self, ready: u64) -> u8 {
        let goes_first = self.mask_of_first_half();
        let urgent = if ready & goes_first != 0 { ready & goes_first } else { ready };
        let chosen = urgent.trailing_zeros() as u8;
        let round = self.first_round + self.rounds_from_first(chosen);
        let is_of_its_round = goes_first >> chosen & 1 == 1 || self.left_over >> chosen & 1 == 0;
        // Packets left behind by a swap belong to an old round; serving them must not advance the rounds.
        if round > self.turn_round && is_of_its_round {
            self.counters.rotations += round - self.turn_round - u64::from(self.is_served_out);
            (self.turn_round, self.turn, self.is_served_out) = (round, chosen, false);
        }
        chosen
    }

    /// Swapped halves only: returns how many rounds after the first one `queue` belongs to.
    fn rounds_from_first(&self, queue: u8) -> u64 {
        let count = u64::from(self.config.queues);
        (u64::from(queue) + count - self.first_round % count) % count
    }

    /// Returns the half with priority, counted from the group's first queue.
    fn mask_of_first_half(&self) -> u64 {
        let half = self.config.queues / 2;
        let lower = (1 << half) - 1;
        if (self.first_round / u64::from(half)).is_multiple_of(2) { lower } else { lower << half }
    }

    /// Returns whether the rounds of the half with priority are over and none of its queues is among `occupied`.
    pub fn first_half_is_over(&self, occupied: u64) -> bool {
        self.config.discipline == GroupDiscipline::SwappedHalves
            && self.reached() >= self.first_round + u64::from(self.config.queues / 2)
            && (occupied >> self.first) & self.mask_of_first_half() == 0
    }

    /// Returns the round in service, or the next one to serve.
    fn reached(&self) -> u64 {
        self.turn_round + u64::from(self.is_served_out)
    }

    /// Gives the other half priority. The half that had it still has `left_behind` packets in the queues `left_over`,
    /// numbered as at the port. Does nothing for other disciplines.
    pub fn swap_halves(&mut self, left_behind: usize, left_over: u64) {
        if self.config.discipline != GroupDiscipline::SwappedHalves {
            return;
        }
        self.counters.left_behind += left_behind as u64;
        self.left_over |= left_over >> self.first;
        let reached = self.reached();
        self.first_round += u64::from(self.config.queues / 2);
        // The swap skips the rounds that the old half had left.
        if self.first_round >= reached {
            self.counters.rotations += self.first_round - reached;
            self.turn_round = self.first_round;
            self.turn = (self.turn_round % u64::from(self.config.queues)) as u8;
            self.is_served_out = false;
        }
        self.choice = None;
    }

    /// Returns the queues of the half with priority, numbered as at the port.
    pub fn first_half(&self) -> u64 {
        self.mask_of_first_half() << self.first
    }

    /// Accounts for a packet taken from the chosen queue, and for the queue becoming empty.
    #[inline]
    pub fn taken(&mut self, queue: u8, frame_bytes: u32, is_empty: bool) {
        let queue = queue - self.first;
        self.choice = None;
        self.packets -= 1;
        self.bytes -= u64::from(frame_bytes);
        self.counters.served += 1;
        if !is_empty {
            return;
        }
        self.left_over &= !(1 << queue);
        match self.config.discipline {
            GroupDiscipline::DeficitRoundRobin { .. } => self.deficits.emptied(queue),
            // Strict priority can empty a queue of an earlier round; the round in service is not over by that.
            GroupDiscipline::SwappedHalves if queue != self.turn => return,
            _ => {}
        }
        self.counters.rotations += u64::from(!self.is_served_out);
        self.is_served_out = true;
    }

    /// Returns whether the group is empty.
    pub const fn is_empty(&self) -> bool {
        self.packets == 0
    }
}
