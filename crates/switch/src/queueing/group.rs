//! A group of queues that one mechanism fills in rounds: the second level of scheduling.
//!
//! To the other queues of its port a group is like one queue of its level. Queue `round mod count` of a group is for
//! the packets of that round; the discipline of the group serves one round after the other and tells which it is at.

use hitless_core::wire::{Duration, QueueId, Time};

use super::config::{QueueConfig, QueueLimit};
use super::deficit::DeficitRoundRobin;

/// How the queues of a group take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupDiscipline {
    /// Rotating strict priority (AFQ, section 3.3.2): a queue is served until it is empty, and is then the last. Empty
    /// queues are passed when there is a packet behind them.
    RotatingStrictPriority {
        /// What becomes of a packet whose round is over when it comes.
        late: LatePackets,
        /// How long it takes to go on to the next queue, during which the port sends nothing.
        step: Duration,
    },
    /// Deficit round robin. With a quantum above what a round can hold it is the rotating strict priority (AFQ,
    /// section 4).
    DeficitRoundRobin {
        /// Bytes for a queue in each turn.
        quantum_bytes: u32,
    },
    /// Strict priority among the queues of either half, and of one half over the other, which
    /// [`super::QueuedScheduler::swap_halves`] exchanges (AFQ, section 4).
    SwappedHalves,
}

/// Where a packet goes whose round is over when it reaches the traffic manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatePackets {
    /// Into the queue that ingress named, which by now is that of a later round.
    NamedQueue,
    /// Into the queue of the round that is being served.
    ServedQueue,
}

/// What a group of queues is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueGroup {
    /// How many queues.
    pub queues: u8,
    /// Each of them; priority and quantum are also those of the group among the other queues of the port.
    pub queue: QueueConfig,
    /// How they take turns.
    pub discipline: GroupDiscipline,
    /// What all of them together may hold.
    pub limit: QueueLimit,
    /// While the port has nothing to send, the round goes on by one in this time; none: it stands still.
    pub idle_round_time: Option<Duration>,
}

/// Where a group is in its rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Rounds {
    /// The first queue of the group: that of round r is `first + r mod count`.
    pub first: QueueId,
    /// The round that is being served, or is the next to be.
    pub current: u64,
    /// The oldest round that still has a queue of its own; that of `oldest` + number of queues has none yet.
    pub oldest: u64,
}

crate::counters! {
    /// What a group counts.
    pub struct GroupCounters {
        queued = "packets queued",
        served = "packets served",
        /// For want of room within the limit of the group.
        refused = "packets refused by the port's buffer",
        late = "packets late for their round",
        /// Of a round that had no queue of its own yet.
        early = "packets in a queue of an earlier round",
        /// Times that the next round was begun.
        rotations = "rotations",
        /// They were in the half which a swap took the priority from.
        left_behind = "packets left behind by a swap",
        peak_bytes = "most bytes queued",
    }
}

/// The state of a group.
#[derive(Debug)]
pub(super) struct Group {
    config: QueueGroup,
    first: u8,
    /// The queue, from the first, that the current turn is of, and its round.
    turn: u8,
    turn_round: u64,
    /// The queue of the turn has been emptied: the next round has begun.
    is_served_out: bool,
    /// Of swapped halves: the first round of the half that goes first.
    first_round: u64,
    /// Of swapped halves: the queues that held packets when their half lost the priority, until they are empty. What is
    /// in them is older than the round that they are of by now.
    left_over: u64,
    deficits: DeficitRoundRobin,
    /// The queue that goes next, until a packet is taken from it.
    choice: Option<u8>,
    packets: usize,
    bytes: u64,
    idle_since: Time,
    pub counters: GroupCounters,
}

hitless_core::state!(Group {
    values: turn, turn_round, is_served_out, first_round, left_over, deficits, choice, packets, bytes, idle_since,
        counters;
    configured: config, first
});

/// What a group's discipline decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// This queue of the port is next.
    Queue(u8),
    /// The group is on its way to the next queue for so long.
    Rotating(Duration),
}

impl Group {
    /// An empty group whose first queue is the port's queue of number `first`.
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

    /// The port's queues that belong to it, one bit each.
    pub const fn mask(&self) -> u64 {
        (u64::MAX >> (64 - self.config.queues)) << self.first
    }

    /// Its first queue, which stands for the group among the others.
    pub const fn leader(&self) -> u8 {
        self.first
    }

    /// Whether a queue of the port belongs to it.
    #[inline]
    pub const fn contains(&self, queue: QueueId) -> bool {
        queue.0.wrapping_sub(self.first) < self.config.queues
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where the group is in its rounds. The port has nothing to send since `idle_since`, if it has nothing.
    #[inline]
    pub fn rounds(&mut self, now: Time, idle_since: Time) -> Rounds {
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
            // The round that has begun counts among those of its half.
            self.turn_round = self.reached();
            self.is_served_out = false;
            let half = count / 2;
            self.first_round += (self.turn_round + passed - self.first_round) / half * half;
        }
        self.turn_round += passed;
        self.turn = (self.turn_round % count) as u8;
        self.counters.rotations += passed;
    }

    /// The queue that a packet of the round with the low bits `round`, for which ingress named `queue`, goes to; none:
    /// the group is full. `serving_bytes` are those of its frame that is being sent.
    #[inline]
    pub fn admit(&mut self, queue: QueueId, round: u8, frame_bytes: u32, serving_bytes: u32) -> Option<QueueId> {
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
        let ahead = round.wrapping_sub(oldest as u8) as i8;
        if (0..self.config.queues as i8).contains(&ahead) {
            return queue;
        }
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

    /// The queue of the current round.
    fn next_turn(&self) -> u8 {
        let next = self.turn + u8::from(self.is_served_out);
        if next == self.config.queues { 0 } else { next }
    }

    /// A packet has been queued.
    #[inline]
    pub fn add(&mut self, frame_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(frame_bytes);
        self.counters.queued += 1;
        self.counters.peak_bytes = self.counters.peak_bytes.max(self.bytes);
    }

    /// The queue to serve next. `ready` has a bit for each queue of the port; one of the group's must be set.
    #[inline]
    pub fn choose(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32) -> Choice {
        if let Some(chosen) = self.choice {
            return Choice::Queue(self.first + chosen);
        }
        let ready = (ready & self.mask()) >> self.first;
        let chosen = match self.config.discipline {
            GroupDiscipline::RotatingStrictPriority { step, .. } => {
                let passed = self.queues_to_pass(ready);
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
                debug_assert_eq!(chosen, self.turn, "the rounds follow the turn");
                chosen
            }
            GroupDiscipline::SwappedHalves => self.choose_by_halves(ready),
        };
        self.choice = Some(chosen);
        Choice::Queue(self.first + chosen)
    }

    /// How many queues are passed to get to one that is ready.
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
        // What was emptied began the next round already.
        self.counters.rotations += u64::from(queues) - u64::from(self.is_served_out);
        self.is_served_out = false;
        self.turn_round += u64::from(queues);
        let turn = u32::from(self.turn) + queues;
        let count = u32::from(self.config.queues);
        self.turn = (if turn < count { turn } else { turn % count }) as u8;
    }

    /// A queue of the half that goes first, or if that has nothing one of the other, whose rounds are then begun: the
    /// priorities are strict, and the round follows what is served.
    fn choose_by_halves(&mut self, ready: u64) -> u8 {
        let goes_first = self.mask_of_first_half();
        let urgent = if ready & goes_first != 0 { ready & goes_first } else { ready };
        let chosen = urgent.trailing_zeros() as u8;
        let round = self.first_round + self.rounds_from_first(chosen);
        let is_of_its_round = goes_first >> chosen & 1 == 1 || self.left_over >> chosen & 1 == 0;
        if round > self.turn_round && is_of_its_round {
            self.counters.rotations += round - self.turn_round - u64::from(self.is_served_out);
            (self.turn_round, self.turn, self.is_served_out) = (round, chosen, false);
        }
        chosen
    }

    /// Of swapped halves: how many rounds after the first that has a queue the one of `queue` is.
    fn rounds_from_first(&self, queue: u8) -> u64 {
        let count = u64::from(self.config.queues);
        (u64::from(queue) + count - self.first_round % count) % count
    }

    /// The half that goes first, from the first queue of the group.
    fn mask_of_first_half(&self) -> u64 {
        let half = self.config.queues / 2;
        let lower = (1 << half) - 1;
        if (self.first_round / u64::from(half)).is_multiple_of(2) { lower } else { lower << half }
    }

    /// Whether the rounds of the half that goes first are over, and none of its queues is among those `occupied`.
    pub fn first_half_is_over(&self, occupied: u64) -> bool {
        self.config.discipline == GroupDiscipline::SwappedHalves
            && self.reached() >= self.first_round + u64::from(self.config.queues / 2)
            && (occupied >> self.first) & self.mask_of_first_half() == 0
    }

    /// The round that is being served, or is the next to be.
    fn reached(&self) -> u64 {
        self.turn_round + u64::from(self.is_served_out)
    }

    /// The other half goes first from now on. In the one that did, `left_behind` packets are in the queues `left_over`,
    /// by their numbers at the port. Nothing where queues do not come in halves.
    pub fn swap_halves(&mut self, left_behind: usize, left_over: u64) {
        if self.config.discipline != GroupDiscipline::SwappedHalves {
            return;
        }
        self.counters.left_behind += left_behind as u64;
        self.left_over |= left_over >> self.first;
        let reached = self.reached();
        self.first_round += u64::from(self.config.queues / 2);
        if self.first_round >= reached {
            self.counters.rotations += self.first_round - reached;
            self.turn_round = self.first_round;
            self.turn = (self.turn_round % u64::from(self.config.queues)) as u8;
            self.is_served_out = false;
        }
        self.choice = None;
    }

    /// The queues of the half that goes first, by their numbers at the port.
    pub fn first_half(&self) -> u64 {
        self.mask_of_first_half() << self.first
    }

    /// A packet has been taken from the queue chosen, and whether that emptied it.
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
            GroupDiscipline::SwappedHalves if queue != self.turn => return,
            _ => {}
        }
        self.counters.rotations += u64::from(!self.is_served_out);
        self.is_served_out = true;
    }

    /// Whether it holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.packets == 0
    }
}
