//! The event queue: a hierarchical timing wheel that pops events in a total order.
//!
//! The order is (time, [`OrderKey`]) and depends on nothing else: not on the order of insertion, not on an address.
//! The wheel has three levels of 4,096 slots; a slot of the lowest level spans 1.024 ns, so that at the event
//! density of a busy fabric it mostly holds one event; those of one slot are sorted when its turn comes. The lowest
//! level reaches 4.2 us ahead of the slot whose turn it is, wherever that lies; the higher levels are aligned.
//! Events stay where they were stored from insertion to removal, and only lists of their numbers change. Nothing
//! is allocated once the slab has grown to the largest number of events pending at once.
//!
//! What has at most one event pending at a time, always with the same key and payload, may be a [`Source`]: its
//! event is stored once for the whole run.

use hitless_wire::Time;

/// Where an event stands among the events of the same time: kind, then node, then sequence.
///
/// Whoever schedules must make it unique among the events of one time; a tie is a bug and asserted against. For an
/// arrival the sequence is the port (a link delivers one packet at a time), for a timer a count kept by its node;
/// so the key does not depend on how a fabric is partitioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderKey(u64);

impl OrderKey {
    const NODE_BITS: u32 = 24;
    const SEQUENCE_BITS: u32 = 36;

    /// The key of kind `kind` (below 16) at `node` (below 2^24) with `sequence`, of which 36 bits count.
    #[inline]
    pub const fn new(kind: u8, node: u32, sequence: u64) -> Self {
        debug_assert!(kind < 16 && node < 1 << Self::NODE_BITS);
        let sequence = sequence & ((1 << Self::SEQUENCE_BITS) - 1);
        Self((kind as u64) << 60 | (node as u64) << Self::SEQUENCE_BITS | sequence)
    }

    /// The key as one word, for the trace.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<P> {
    /// When.
    pub time: Time,
    /// Where among the events of that time.
    pub order: OrderKey,
    /// What.
    pub payload: P,
}

/// Something that has at most one event pending, always with the same key and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source(u32);

impl Source {
    /// Its number, counted from 0 in the order in which sources were added.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<P> {
    /// That of a source.
    Source(Source),
    /// That of any other event, which had this payload.
    Other(P),
}

const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_MASK: u64 = SLOTS as u64 - 1;
/// Log2 of the picoseconds that a slot of the lowest level spans.
const RESOLUTION_BITS: u32 = 10;
/// The end of a list.
const NONE: u32 = u32::MAX;
/// In place of the next node: the source has no event pending.
const IDLE: u32 = u32::MAX - 1;
/// From so many events on, a list is sorted as an array, and an insertion does not look for its place any further.
const LONG_LIST: usize = 16;

#[derive(Clone, Copy)]
struct Node<P> {
    time: Time,
    order: OrderKey,
    payload: P,
    next: u32,
}

impl<P> Node<P> {
    /// Whether its turn is before that of `other`.
    #[inline(always)]
    fn precedes(&self, other: (Time, OrderKey)) -> bool {
        self.time < other.0 || (self.time == other.0 && self.order < other.1)
    }
}

/// One level of the wheel: the head of a list per slot, and a bitmap of the slots in use.
struct Level {
    heads: Box<[u32; SLOTS]>,
    words: [u64; SLOTS / 64],
    summary: u64,
}

impl Level {
    fn new() -> Self {
        Self { heads: Box::new([NONE; SLOTS]), words: [0; SLOTS / 64], summary: 0 }
    }

    /// Puts `node` before the list of `slot` (modulo the number of slots); answers what was first there.
    #[inline(always)]
    fn link(&mut self, slot: u64, node: u32) -> u32 {
        let slot = (slot & SLOT_MASK) as usize;
        self.words[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
        std::mem::replace(&mut self.heads[slot], node)
    }

    /// Takes the whole list of `slot` (modulo the number of slots).
    #[inline(always)]
    fn take(&mut self, slot: u64) -> u32 {
        let slot = (slot & SLOT_MASK) as usize;
        let word = &mut self.words[slot / 64];
        *word &= !(1 << (slot % 64));
        if *word == 0 {
            self.summary &= !(1 << (slot / 64));
        }
        std::mem::replace(&mut self.heads[slot], NONE)
    }

    /// The first slot in use at or after `from`, both absolute; not beyond the turn of the level that `from` is in.
    #[inline(always)]
    fn first_from(&self, from: u64) -> Option<u64> {
        let position = (from & SLOT_MASK) as usize;
        let here = self.words[position / 64] >> (position % 64);
        if here != 0 {
            return Some(from + u64::from(here.trailing_zeros()));
        }
        let word = position / 64;
        // Two shifts, because the last word leaves nothing to look at.
        let later = self.summary & (u64::MAX << word << 1);
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros() as usize % (SLOTS / 64);
        Some((from & !SLOT_MASK) + (word * 64) as u64 + u64::from(self.words[word].trailing_zeros()))
    }
}

/// Pending events, popped in total order.
///
/// `push` and `pop` may alternate freely; an event may not be pushed before the last one popped.
pub struct EventQueue<P> {
    /// The list of the slot whose turn it is, earliest first.
    ///
    /// What is found to belong far behind its first events may wait in the slot itself, where it is found again.
    current: u32,
    free: u32,
    /// Nodes below belong to sources and are never freed.
    sources: u32,
    /// The absolute number of the slot whose turn it is, on the lowest level.
    cursor: u64,
    last: (Time, OrderKey),
    pending: usize,
    nodes: Vec<Node<P>>,
    /// Any slot less than [`SLOTS`] after the cursor.
    near: Level,
    /// Other slots of the cursor's 4,096 blocks of 4,096 slots, by block; that of the cursor is always empty.
    blocks: Level,
    /// The same one level up.
    superblocks: Level,
    /// Events beyond the highest level (about 70 s ahead).
    far: Vec<u32>,
}

impl<P: Copy> Default for EventQueue<P> {
    fn default() -> Self {
        Self {
            current: NONE,
            free: NONE,
            sources: 0,
            cursor: 0,
            last: (Time::ZERO, OrderKey(0)),
            pending: 0,
            nodes: Vec::new(),
            near: Level::new(),
            blocks: Level::new(),
            superblocks: Level::new(),
            far: Vec::new(),
        }
    }
}

impl<P: Copy> EventQueue<P> {
    /// Events pending.
    pub const fn len(&self) -> usize {
        self.pending
    }

    /// Whether nothing is pending.
    pub const fn is_empty(&self) -> bool {
        self.pending == 0
    }

    /// The time of the last event popped.
    pub const fn now(&self) -> Time {
        self.last.0
    }

    /// Adds a source, whose event will always have this key and payload.
    ///
    /// # Panics
    /// When an event was already pushed.
    pub fn add_source(&mut self, order: OrderKey, payload: P) -> Source {
        assert!(self.nodes.len() == self.sources as usize, "sources are added before the first event");
        self.nodes.push(Node { time: Time::ZERO, order, payload, next: IDLE });
        self.sources += 1;
        Source(self.sources - 1)
    }

    /// Adds an event.
    ///
    /// # Panics
    /// When its turn, by time and key, was before the last event popped: time never goes back.
    #[inline]
    pub fn push(&mut self, time: Time, order: OrderKey, payload: P) {
        self.check_turn(time, order);
        let node = self.allocate(Node { time, order, payload, next: NONE });
        self.pending += 1;
        self.place(time, node);
    }

    /// Adds the event of a source.
    ///
    /// # Panics
    /// When the source already has one pending, or its turn was before the last event popped.
    #[inline(always)]
    pub fn push_source(&mut self, time: Time, source: Source) {
        let node = &mut self.nodes[source.0 as usize];
        assert!(node.next == IDLE, "a source has one event pending at most");
        node.time = time;
        let order = node.order;
        self.check_turn(time, order);
        self.pending += 1;
        self.place(time, source.0);
    }

    #[inline(always)]
    fn check_turn(&self, time: Time, order: OrderKey) {
        if time <= self.last.0 {
            self.check_turn_at_same_time(time, order);
        }
    }

    #[inline(never)]
    fn check_turn_at_same_time(&self, time: Time, order: OrderKey) {
        assert!((time, order) >= self.last, "an event for {time} ({:#x}) was scheduled at {}", order.0, self.now());
    }

    /// Takes the next event.
    ///
    /// # Panics
    /// When two events have the same time and key.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        let Event { time, order, payload } = self.pop_turn()?;
        let payload = match payload {
            Turn::Source(source) => self.nodes[source.index()].payload,
            Turn::Other(payload) => payload,
        };
        Some(Event { time, order, payload })
    }

    /// [`Self::pop`] for whoever knows what to do for a source by its number, and can spare the look at its payload.
    ///
    /// # Panics
    /// When two events have the same time and key.
    #[inline(always)]
    pub fn pop_turn(&mut self) -> Option<Event<Turn<P>>> {
        if self.current == NONE && !self.advance() {
            return None;
        }
        let number = self.current;
        let node = &mut self.nodes[number as usize];
        let (time, order) = (node.time, node.order);
        self.current = node.next;
        if time <= self.last.0 {
            check_no_tie(self.last, time, order);
        }
        self.last = (time, order);
        self.pending -= 1;
        if number < self.sources {
            node.next = IDLE;
            return Some(Event { time, order, payload: Turn::Source(Source(number)) });
        }
        node.next = self.free;
        self.free = number;
        Some(Event { time, order, payload: Turn::Other(node.payload) })
    }

    /// The time of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        if self.current == NONE && !self.advance() {
            return None;
        }
        Some(self.nodes[self.current as usize].time)
    }

    /// Puts a node into the list of its slot.
    #[inline(always)]
    fn place(&mut self, time: Time, node: u32) {
        let slot = time.0 >> RESOLUTION_BITS;
        // A slot up to the cursor wraps around to a distance beyond every level.
        if slot.wrapping_sub(self.cursor).wrapping_sub(1) < SLOT_MASK {
            let next = self.near.link(slot, node);
            self.nodes[node as usize].next = next;
        } else {
            self.place_elsewhere(slot, node);
        }
    }

    #[inline(never)]
    fn place_elsewhere(&mut self, slot: u64, node: u32) {
        // Earlier than the slot whose turn it is: `next_time` has moved on to it, but nothing was popped from it.
        if slot <= self.cursor {
            self.insert_current(node);
        } else {
            self.place_ahead(slot, node);
        }
    }

    /// Places an event of a slot that is still to be loaded, the cursor's own included.
    fn place_ahead(&mut self, slot: u64, node: u32) {
        let next = if slot - self.cursor < SLOTS as u64 {
            self.near.link(slot, node)
        } else if slot >> (2 * SLOT_BITS) == self.cursor >> (2 * SLOT_BITS) {
            self.blocks.link(slot >> SLOT_BITS, node)
        } else if slot >> (3 * SLOT_BITS) == self.cursor >> (3 * SLOT_BITS) {
            self.superblocks.link(slot >> (2 * SLOT_BITS), node)
        } else {
            self.far.push(node);
            NONE
        };
        self.nodes[node as usize].next = next;
    }

    /// Inserts into the list of the slot whose turn it is; the place is nearly always among the first.
    fn insert_current(&mut self, node: u32) {
        let rank = self.rank(node);
        let (mut previous, mut next) = (NONE, self.current);
        let mut steps = 0;
        while next != NONE && self.nodes[next as usize].precedes(rank) && steps < LONG_LIST {
            (previous, next) = (next, self.nodes[next as usize].next);
            steps += 1;
        }
        let is_beyond = next == NONE || self.nodes[next as usize].precedes(rank);
        if is_beyond && (next != NONE || self.near.heads[(self.cursor & SLOT_MASK) as usize] != NONE) {
            self.set_next(previous, NONE);
            self.defer(next);
            self.nodes[node as usize].next = NONE;
            return self.defer(node);
        }
        self.nodes[node as usize].next = next;
        self.set_next(previous, node);
    }

    /// Puts a list back into the slot whose turn it is, to be sorted again when the current list is empty.
    fn defer(&mut self, mut list: u32) {
        while list != NONE {
            let next = self.near.link(self.cursor, list);
            list = std::mem::replace(&mut self.nodes[list as usize].next, next);
        }
    }

    /// Lets `node` follow `previous`, or begin the current list.
    #[inline(always)]
    fn set_next(&mut self, previous: u32, node: u32) {
        if previous == NONE {
            self.current = node;
        } else {
            self.nodes[previous as usize].next = node;
        }
    }

    #[inline(always)]
    fn rank(&self, node: u32) -> (Time, OrderKey) {
        let node = &self.nodes[node as usize];
        (node.time, node.order)
    }

    #[inline(always)]
    fn allocate(&mut self, node: Node<P>) -> u32 {
        let number = self.free;
        if number == NONE {
            return self.grow(node);
        }
        let slot = &mut self.nodes[number as usize];
        self.free = slot.next;
        *slot = node;
        number
    }

    #[cold]
    fn grow(&mut self, node: Node<P>) -> u32 {
        let number = self.nodes.len() as u32;
        assert!(number < IDLE, "too many events pending");
        self.nodes.push(node);
        number
    }

    /// Moves on to the next slot with events and sorts it; false when nothing is pending.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        loop {
            if let Some(slot) = self.near.first_from(self.cursor) {
                self.cursor = slot;
                let head = self.near.take(slot);
                let is_alone = self.nodes[head as usize].next == NONE;
                self.current = if is_alone { head } else { self.sorted(head) };
                return true;
            }
            if !self.enter_next_block() {
                return false;
            }
        }
    }

    /// Sorts a list.
    #[inline(never)]
    fn sorted(&mut self, mut list: u32) -> u32 {
        let mut first = NONE;
        let mut count = 0;
        while list != NONE {
            if count == LONG_LIST {
                return self.sorted_long(first, list);
            }
            count += 1;
            let following = self.nodes[list as usize].next;
            first = self.insert_sorted(first, list);
            list = following;
        }
        first
    }

    /// Inserts a node into a sorted list.
    #[inline(always)]
    fn insert_sorted(&mut self, first: u32, node: u32) -> u32 {
        let rank = self.rank(node);
        let (mut previous, mut next) = (NONE, first);
        while next != NONE && self.nodes[next as usize].precedes(rank) {
            (previous, next) = (next, self.nodes[next as usize].next);
        }
        self.nodes[node as usize].next = next;
        if previous == NONE {
            return node;
        }
        self.nodes[previous as usize].next = node;
        first
    }

    /// Sorts two lists into one, as an array.
    #[cold]
    fn sorted_long(&mut self, first: u32, second: u32) -> u32 {
        let mut numbers = Vec::new();
        for mut list in [first, second] {
            while list != NONE {
                numbers.push(list);
                list = self.nodes[list as usize].next;
            }
        }
        numbers.sort_unstable_by_key(|&number| std::cmp::Reverse(self.rank(number)));
        let mut next = NONE;
        for number in numbers {
            self.nodes[number as usize].next = next;
            next = number;
        }
        next
    }

    /// Moves the cursor to the start of the next block that may have events; false when nothing is pending.
    #[cold]
    fn enter_next_block(&mut self) -> bool {
        let block = self.cursor >> SLOT_BITS;
        let Some(next) = self.next_block(block) else { return false };
        let left = std::mem::replace(&mut self.cursor, next << SLOT_BITS);
        let crossed = left ^ self.cursor;
        if crossed >> (3 * SLOT_BITS) != 0 {
            std::mem::take(&mut self.far).into_iter().for_each(|node| self.place_again(node));
        }
        if crossed >> (2 * SLOT_BITS) != 0 {
            let list = self.superblocks.take(next >> SLOT_BITS);
            self.spread(list);
        }
        let list = self.blocks.take(next);
        self.spread(list);
        true
    }

    /// The next block that may have events: the first of a superblock stands for all of it.
    fn next_block(&self, block: u64) -> Option<u64> {
        if self.near.summary != 0 {
            return Some(block + 1);
        }
        let later = |level: &Level, slot: u64| {
            let is_last = slot & SLOT_MASK == SLOT_MASK;
            if is_last { None } else { level.first_from(slot + 1) }
        };
        if let Some(block) = later(&self.blocks, block) {
            return Some(block);
        }
        if let Some(superblock) = later(&self.superblocks, block >> SLOT_BITS) {
            return Some(superblock << SLOT_BITS);
        }
        let first = self.far.iter().map(|&node| self.nodes[node as usize].time.0).min()?;
        Some(first >> RESOLUTION_BITS >> (2 * SLOT_BITS) << SLOT_BITS)
    }

    fn spread(&mut self, mut list: u32) {
        while list != NONE {
            let next = self.nodes[list as usize].next;
            self.place_again(list);
            list = next;
        }
    }

    fn place_again(&mut self, node: u32) {
        let slot = self.nodes[node as usize].time.0 >> RESOLUTION_BITS;
        self.place_ahead(slot, node);
    }
}

#[inline(never)]
fn check_no_tie(last: (Time, OrderKey), time: Time, order: OrderKey) {
    let is_first = last == (Time::ZERO, OrderKey(0));
    assert!((time, order) > last || is_first, "two events at {time} with key {:#x}", order.0);
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    fn key(sequence: u64) -> OrderKey {
        OrderKey::new(1, 0, sequence)
    }

    #[test]
    fn an_event_is_small_and_keys_order_by_kind_then_node_then_sequence() {
        assert_eq!(size_of::<Node<[u32; 3]>>(), 32);
        assert!(OrderKey::new(0, 9, 9) < OrderKey::new(1, 0, 0));
        assert!(OrderKey::new(1, 1, 9) < OrderKey::new(1, 2, 0));
        assert!(OrderKey::new(1, 1, 1) < OrderKey::new(1, 1, 2));
    }

    #[test]
    #[should_panic(expected = "was scheduled at")]
    fn time_never_goes_back() {
        let mut queue = EventQueue::default();
        queue.push(Time(5_000), key(0), ());
        queue.pop();
        queue.push(Time(4_999), key(1), ());
    }

    #[test]
    #[should_panic(expected = "two events at")]
    fn a_tie_is_a_bug() {
        let mut queue = EventQueue::default();
        queue.push(Time(5_000), key(3), 'a');
        queue.push(Time(5_000), key(3), 'b');
        queue.pop();
        queue.pop();
    }

    #[test]
    fn the_event_of_a_source_is_used_again() {
        let mut queue = EventQueue::default();
        let sources = [1, 2].map(|number| queue.add_source(key(number), number));
        for time in [Time(5), Time(5_000), Time(5_000_000_000_000)] {
            sources.iter().rev().for_each(|&source| queue.push_source(time, source));
            let popped = [queue.pop(), queue.pop()].map(|event| event.map(|event| (event.time, event.payload)));
            assert_eq!(popped, [Some((time, 1)), Some((time, 2))]);
        }
        assert!(queue.is_empty());
    }

    #[test]
    #[should_panic(expected = "one event pending at most")]
    fn a_source_has_one_event_pending_at_most() {
        let mut queue = EventQueue::default();
        let source = queue.add_source(key(1), ());
        queue.push_source(Time(1), source);
        queue.push_source(Time(2), source);
    }

    /// Many events of one slot, pushed before and while it is its turn, far behind and right before what is there.
    #[test]
    fn a_crowded_slot_stays_in_order() {
        const START: u64 = 1 << 20;
        let mut queue = EventQueue::default();
        let mut oracle = BinaryHeap::new();
        let push = |queue: &mut EventQueue<()>, oracle: &mut BinaryHeap<_>, time: u64, number: u64| {
            let (time, order) = (Time(START + time), key(number * 7_919 % 1_000_003));
            queue.push(time, order, ());
            oracle.push(Reverse((time, order)));
        };
        (0..100).for_each(|number| push(&mut queue, &mut oracle, number * 37 % 1_000, number));
        let mut number = 100;
        while let Some(Reverse((time, order))) = oracle.pop() {
            assert_eq!(queue.pop().map(|event| (event.time, event.order)), Some((time, order)));
            number += 1;
            let later = time.0 - START + 1 + number * 37 % 200;
            if later < 1_000 && number < 3_000 {
                push(&mut queue, &mut oracle, later, number);
            }
        }
        assert!(queue.is_empty() && number > 200);
    }

    /// Distances that reach every level of the wheel, its edges and the far list.
    fn distance() -> impl Strategy<Value = u64> {
        prop_oneof![
            0u64..10_000,
            0u64..20_000_000,
            0u64..80_000_000_000,
            0u64..400_000_000_000_000,
            Just(1 << 24),
            Just(1 << 36),
            Just(1 << 48),
        ]
    }

    proptest! {
        #[test]
        fn pops_in_the_order_of_a_binary_heap(steps in prop::collection::vec((distance(), 0u8..3), 1..400)) {
            let mut queue = EventQueue::default();
            let mut oracle = BinaryHeap::new();
            let (mut now, mut sequence) = (0, 0);
            for (distance, pops) in steps {
                for round in 0..=pops {
                    // The first round pushes at a distance, the others between a look ahead and a pop.
                    let time = Time(now + if round == 0 { distance } else { 0 });
                    sequence += 1;
                    queue.push(time, key(sequence), sequence);
                    oracle.push(Reverse((time, key(sequence), sequence)));
                    prop_assert_eq!(queue.next_time(), oracle.peek().map(|Reverse((time, ..))| *time));
                    if round > 0 {
                        let popped = queue.pop().map(|event| (event.time, event.order, event.payload));
                        prop_assert_eq!(popped, oracle.pop().map(|Reverse(expected)| expected));
                        now = popped.map_or(now, |(time, ..)| time.0);
                    }
                }
                prop_assert_eq!(queue.len(), oracle.len());
            }
            while let Some(Reverse((time, order, _))) = oracle.pop() {
                prop_assert_eq!(queue.pop().map(|event| (event.time, event.order)), Some((time, order)));
            }
            prop_assert!(queue.is_empty() && queue.pop().is_none());
        }
    }
}
