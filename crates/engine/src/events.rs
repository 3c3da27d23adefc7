//! The event queue: a hierarchical timing wheel that pops events in a total order.
//!
//! The order is (time, [`OrderKey`]) and depends on nothing else: not on the order of insertion, not on an address.
//! The wheel has three levels of 4,096 slots; a slot of the lowest level spans 4.096 ns, so that at the event
//! density of a busy fabric it holds one or two events, which are sorted when their slot's turn comes. Insertion
//! and removal cost a handful of instructions however many events are pending. Nothing is allocated once the slab
//! has grown to the largest number of events pending at once.

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

impl<P> Event<P> {
    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.order.0)
    }
}

const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 3;
/// Log2 of the picoseconds that a slot of the lowest level spans.
const RESOLUTION_BITS: u32 = 12;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Node<P> {
    time: Time,
    order: OrderKey,
    payload: P,
    next: u32,
}

impl<P: Copy> Node<P> {
    #[inline]
    fn event(&self) -> Event<P> {
        Event { time: self.time, order: self.order, payload: self.payload }
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

    #[inline]
    fn link(&mut self, slot: usize, node: u32) -> u32 {
        let previous = std::mem::replace(&mut self.heads[slot], node);
        self.words[slot / 64] |= 1 << (slot % 64);
        self.summary |= 1 << (slot / 64);
        previous
    }

    #[inline]
    fn take(&mut self, slot: usize) -> u32 {
        let word = slot / 64;
        self.words[word] &= !(1 << (slot % 64));
        if self.words[word] == 0 {
            self.summary &= !(1 << word);
        }
        std::mem::replace(&mut self.heads[slot], NONE)
    }

    /// The first slot in use at or after `from`.
    #[inline]
    fn first_from(&self, from: usize) -> Option<usize> {
        if from >= SLOTS {
            return None;
        }
        let word = from / 64;
        let here = self.words[word] & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let later = self.summary & u64::MAX.checked_shl(word as u32 + 1).unwrap_or(0);
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

/// Pending events, popped in total order.
///
/// `push` and `pop` may alternate freely; an event may not be pushed before the last one popped.
pub struct EventQueue<P> {
    levels: [Level; LEVELS],
    nodes: Vec<Node<P>>,
    free: u32,
    /// Events of the slot whose turn it is, latest first.
    current: Vec<Event<P>>,
    /// The absolute number of that slot on the lowest level.
    cursor: u64,
    /// Events beyond the highest level (about 280 s ahead).
    far: Vec<Event<P>>,
    last: u128,
    pending: usize,
}

impl<P: Copy> Default for EventQueue<P> {
    fn default() -> Self {
        Self {
            levels: std::array::from_fn(|_| Level::new()),
            nodes: Vec::new(),
            free: NONE,
            current: Vec::new(),
            cursor: 0,
            far: Vec::new(),
            last: 0,
            pending: 0,
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
        Time((self.last >> 64) as u64)
    }

    /// Adds an event.
    ///
    /// # Panics
    /// When its turn, by time and key, was before the last event popped: time never goes back.
    #[inline]
    pub fn push(&mut self, time: Time, order: OrderKey, payload: P) {
        let event = Event { time, order, payload };
        assert!(event.rank() >= self.last, "an event for {time} ({:#x}) was scheduled at {}", order.0, self.now());
        self.pending += 1;
        self.place(event);
    }

    /// Takes the next event.
    ///
    /// # Panics
    /// When two events have the same time and key.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        if self.current.is_empty() && !self.advance() {
            return None;
        }
        let event = self.current.pop()?;
        let rank = event.rank();
        assert!(rank > self.last || self.last == 0, "two events at {} with key {:#x}", event.time, event.order.0);
        self.last = rank;
        self.pending -= 1;
        Some(event)
    }

    /// The time of the next event.
    pub fn next_time(&mut self) -> Option<Time> {
        if self.current.is_empty() && !self.advance() {
            return None;
        }
        self.current.last().map(|event| event.time)
    }

    #[inline]
    fn place(&mut self, event: Event<P>) {
        let slot = event.time.0 >> RESOLUTION_BITS;
        let distance = slot ^ self.cursor;
        // Earlier than the slot whose turn it is: `next_time` has moved on to it, but nothing was popped from it.
        if slot <= self.cursor {
            self.insert_current(event);
        } else if distance < 1 << SLOT_BITS {
            self.link(0, slot, event);
        } else if distance < 1 << (2 * SLOT_BITS) {
            self.link(1, slot >> SLOT_BITS, event);
        } else if distance < 1 << (3 * SLOT_BITS) {
            self.link(2, slot >> (2 * SLOT_BITS), event);
        } else {
            self.far.push(event);
        }
    }

    /// Inserts behind later events of the slot whose turn it is; nearly always at the end.
    #[inline]
    fn insert_current(&mut self, event: Event<P>) {
        let rank = event.rank();
        let mut index = self.current.len();
        while index > 0 && self.current[index - 1].rank() < rank {
            index -= 1;
        }
        self.current.insert(index, event);
    }

    #[inline]
    fn link(&mut self, level: usize, slot: u64, event: Event<P>) {
        let node = self.allocate(event);
        let slot = slot as usize % SLOTS;
        let previous = self.levels[level].link(slot, node);
        self.nodes[node as usize].next = previous;
    }

    #[inline]
    fn allocate(&mut self, event: Event<P>) -> u32 {
        let node = self.free;
        if node != NONE {
            let slot = &mut self.nodes[node as usize];
            self.free = slot.next;
            *slot = Node { time: event.time, order: event.order, payload: event.payload, next: NONE };
            return node;
        }
        self.grow(event)
    }

    #[cold]
    fn grow(&mut self, event: Event<P>) -> u32 {
        let node = self.nodes.len() as u32;
        assert!(node != NONE, "too many events pending");
        self.nodes.push(Node { time: event.time, order: event.order, payload: event.payload, next: NONE });
        node
    }

    /// Frees a node; answers its event and the node that followed it in its list.
    #[inline]
    fn release(&mut self, node: u32) -> (Event<P>, u32) {
        let entry = &mut self.nodes[node as usize];
        let next = std::mem::replace(&mut entry.next, self.free);
        self.free = node;
        (entry.event(), next)
    }

    /// Moves on to the next slot with events and sorts it; false when nothing is pending.
    fn advance(&mut self) -> bool {
        loop {
            let block = self.cursor & !(SLOTS as u64 - 1);
            if let Some(slot) = self.levels[0].first_from(self.cursor as usize % SLOTS) {
                self.cursor = block + slot as u64;
                self.load_current(slot);
                return true;
            }
            if !self.cascade() {
                return false;
            }
        }
    }

    fn load_current(&mut self, slot: usize) {
        let mut node = self.levels[0].take(slot);
        while node != NONE {
            let (event, next) = self.release(node);
            self.current.push(event);
            node = next;
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|event| std::cmp::Reverse(event.rank()));
        }
    }

    /// Spreads the next slot of a higher level over the lower ones; false when nothing is pending.
    fn cascade(&mut self) -> bool {
        for level in 1..LEVELS {
            let shift = level as u32 * SLOT_BITS;
            let position = self.cursor >> shift;
            let Some(slot) = self.levels[level].first_from(position as usize % SLOTS) else { continue };
            self.cursor = ((position & !(SLOTS as u64 - 1)) + slot as u64) << shift;
            let mut node = self.levels[level].take(slot);
            while node != NONE {
                let (event, next) = self.release(node);
                self.place_below(event);
                node = next;
            }
            return true;
        }
        self.cascade_far()
    }

    /// Places an event of the slot that is being spread. The slot that the cursor now names is still to be loaded,
    /// so its events go to the wheel, not to `current`.
    fn place_below(&mut self, event: Event<P>) {
        let slot = event.time.0 >> RESOLUTION_BITS;
        if slot == self.cursor { self.link(0, slot, event) } else { self.place(event) }
    }

    fn cascade_far(&mut self) -> bool {
        let Some(first) = self.far.iter().map(|event| event.time.0 >> RESOLUTION_BITS).min() else { return false };
        self.cursor = first & !((1 << (2 * SLOT_BITS)) - 1);
        for event in std::mem::take(&mut self.far) {
            self.place_below(event);
        }
        true
    }
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
