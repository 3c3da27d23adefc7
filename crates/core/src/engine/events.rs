//! The event queue: a hierarchical timing wheel that pops events in a total order.
//!
//! The order is (time, [`OrderKey`]). It does not depend on the order of insertion or on addresses. The wheel has three
//! levels of 4,096 slots. A slot of the lowest level spans 1.024 ns, so at the event density of a busy fabric it
//! usually holds one event; the events of a slot are sorted when the cursor reaches it. The lowest level covers 4.2 us
//! from the cursor; the higher levels are aligned. An event stays at one address from insertion to removal, and only
//! lists of node numbers change. The queue stops allocating once its slab has reached the maximum number of pending
//! events.
//!
//! An event that always has the same key and payload, and is pending at most once, can be a [`Source`]: it is stored
//! once for the whole run.
//!
//! Read this file first, then `level.rs` (one level of the wheel) and `order.rs` (keys and ties).

mod ahead;
mod level;
mod order;
mod state;
#[cfg(test)]
mod tests;

use crate::wire::Time;

pub use order::{OrderKey, Ties};

use level::{Level, NONE, SLOT_BITS, SLOT_MASK, SLOTS};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<P> {
    pub time: Time,
    /// Position among the events of that time.
    pub order: OrderKey,
    pub payload: P,
}

/// An event that is pending at most once at a time, always with the same key and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct Source(u32);

impl Source {
    /// Returns the source with this number, counted from 0 in the order of addition.
    #[inline(always)]
    pub const fn of(number: u32) -> Self {
        Self(number)
    }

    /// The source's number, counted from 0 in the order of addition.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The event to be handled now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<P, T> {
    /// The event of a source, and the value taken from it.
    Source(Source, T),
    /// Any other event, with its payload.
    Other(P),
}

/// Log2 of the picoseconds that a slot of the lowest level spans.
const RESOLUTION_BITS: u32 = 10;
/// Value of `next` in a source's node while no event is pending.
const IDLE: u32 = u32::MAX - 1;
/// Length above which a list is sorted as an array, and maximum number of nodes that an insertion passes.
const LONG_LIST: usize = 16;

/// Aligned, so that no node lies in two cache lines.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Node<P> {
    time: Time,
    order: OrderKey,
    payload: P,
    next: u32,
}

impl<P> Node<P> {
    #[inline(always)]
    fn turn(&self) -> (Time, OrderKey) {
        (self.time, self.order)
    }
}

/// Pending events, popped in total order.
///
/// `push` and `pop` can alternate freely, but an event must not be pushed before the last one popped.
pub struct EventQueue<P> {
    /// The list of the cursor's slot, earliest first.
    ///
    /// Events far behind the head can stay in the slot itself, and are sorted later.
    current: u32,
    free: u32,
    /// Nodes with lower numbers belong to sources and are never freed.
    sources: u32,
    /// The absolute number of the current slot on the lowest level.
    cursor: u64,
    ties: Ties,
    /// The time and key of the last event popped; [`OrderKey::NONE`] before the first.
    last: Time,
    last_order: OrderKey,
    nodes: Vec<Node<P>>,
    /// Slots less than [`SLOTS`] after the cursor.
    near: Level,
    /// Other slots of the cursor's 4,096 blocks of 4,096 slots, by block; the cursor's own block is always empty.
    blocks: Level,
    /// The same one level up.
    superblocks: Level,
    /// Events beyond the highest level (about 70 s ahead).
    far: Vec<u32>,
    /// Range of slots with lists that [`Self::read_slots_ahead`] has already read.
    read_from: u64,
    read_until: u64,
    /// Scratch space for sorting.
    ranked: Vec<(Time, OrderKey, u32)>,
}

impl<P: Copy> Default for EventQueue<P> {
    fn default() -> Self {
        Self {
            current: NONE,
            free: NONE,
            sources: 0,
            cursor: 0,
            ties: Ties::default(),
            last: Time::ZERO,
            last_order: OrderKey::NONE,
            nodes: Vec::new(),
            near: Level::new(),
            blocks: Level::new(),
            superblocks: Level::new(),
            far: Vec::new(),
            read_from: 0,
            read_until: 0,
            ranked: Vec::new(),
        }
    }
}

impl<P: Copy> EventQueue<P> {
    /// Makes a queue that orders events of the same time by `ties`.
    pub fn with_ties(ties: Ties) -> Self {
        Self { ties, ..Self::default() }
    }

    /// Counts the pending events (linear time).
    pub fn len(&self) -> usize {
        let idle = self.nodes[..self.sources as usize].iter().filter(|node| node.next == IDLE).count();
        let number = |node: u32| (node != NONE).then_some(node as usize);
        let free = std::iter::successors(number(self.free), |&node| number(self.nodes[node].next));
        self.nodes.len() - idle - free.count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub const fn now(&self) -> Time {
        self.last
    }

    /// Adds a source with a constant key and payload.
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
        let slot = time.0 >> RESOLUTION_BITS;
        // The slot is later than the cursor's, so the event is later than the last one popped.
        if is_near(slot, self.cursor) {
            node.next = self.near.link(slot, source.0);
            return;
        }
        let order = node.order;
        self.check_turn(time, order);
        self.place_elsewhere(slot, source.0);
    }

    /// Returns whether an event of this time and key should have come before the last event popped.
    pub fn has_passed(&self, time: Time, order: OrderKey) -> bool {
        self.ties.compare_to_last((time, order), (self.last, self.last_order)).is_lt()
    }

    #[inline(always)]
    fn check_turn(&self, time: Time, order: OrderKey) {
        if time <= self.last {
            self.check_turn_at_same_time(time, order);
        }
    }

    #[inline(never)]
    fn check_turn_at_same_time(&self, time: Time, order: OrderKey) {
        assert!(
            !self.has_passed(time, order),
            "an event for {time} ({:#x}) was scheduled at {}",
            order.as_u64(),
            self.now()
        );
    }

    /// Takes the next event.
    ///
    /// # Panics
    /// When two events have the same time and key.
    #[inline]
    pub fn pop(&mut self) -> Option<Event<P>> {
        // A vector of `()` allocates nothing.
        let mut sources = vec![(); self.sources as usize];
        let Event { time, order, payload } = self.pop_turn_before(Time::NEVER, &mut sources, |_, _, _| ((), None))?;
        let payload = match payload {
            Turn::Source(source, ()) => self.nodes[source.index()].payload,
            Turn::Other(payload) => payload,
        };
        Some(Event { time, order, payload })
    }

    /// Takes the next event if it is due before `end`. The caller keeps an entry for each source in `sources`, which
    /// spares the queue a look at the source's payload. `take` handles the entry of the source whose event is due, with
    /// the event's time and key; it returns a result and, if known, the time of the source's next event. The queue
    /// pushes that event here, while the node is in the cache.
    ///
    /// `sources` is not a slice, because pointer and length would occupy two registers during the search for a slot.
    ///
    /// # Panics
    /// When two events have the same time and key, or the next event of a source is due before this one.
    #[inline(always)]
    pub fn pop_turn_before<'s, S: 's, T>(
        &mut self,
        end: Time,
        sources: &'s mut impl AsMut<[S]>,
        take: impl FnOnce(&'s mut S, Time, OrderKey) -> (T, Option<Time>),
    ) -> Option<Event<Turn<P, T>>> {
        debug_assert!(sources.as_mut().len() == self.sources as usize, "something stands for each source");
        // `NONE` is larger than any node number, so this comparison also makes the bounds check below unnecessary.
        let is_of_next_slot = self.current as usize >= self.nodes.len();
        let mut number = if is_of_next_slot { self.take_next_slot()? } else { self.current };
        let count = self.nodes.len();
        let mut node = &mut self.nodes[number as usize];
        if is_of_next_slot && (node.next as usize) < count {
            let second = node.next;
            number = self.sorted_from_two(number, second);
            node = &mut self.nodes[number as usize];
        }
        let (time, order, following) = (node.time, node.order, node.next);
        if time >= end {
            self.current = number;
            return None;
        }
        self.current = following;
        if time <= self.last {
            check_order(self.ties, (self.last, self.last_order), (time, order));
        }
        self.last = time;
        self.last_order = order;
        // The nodes of the sources come first.
        let Some(source) = sources.as_mut().get_mut(number as usize) else {
            node.next = self.free;
            self.free = number;
            return Some(Event { time, order, payload: Turn::Other(node.payload) });
        };
        let (taken, next) = take(source, time, order);
        let payload = Turn::Source(Source(number), taken);
        let Some(next) = next else {
            node.next = IDLE;
            return Some(Event { time, order, payload });
        };
        node.time = next;
        let slot = next.0 >> RESOLUTION_BITS;
        if is_near(slot, self.cursor) {
            node.next = self.near.link(slot, number);
        } else {
            self.check_turn(next, order);
            self.place_elsewhere(slot, number);
        }
        Some(Event { time, order, payload })
    }

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
        if is_near(slot, self.cursor) {
            let next = self.near.link(slot, node);
            self.nodes[node as usize].next = next;
        } else {
            self.place_elsewhere(slot, node);
        }
    }

    #[inline(never)]
    fn place_elsewhere(&mut self, slot: u64, node: u32) {
        // Earlier than the cursor's slot: `next_time` has moved the cursor ahead, but nothing was popped from there.
        if slot <= self.cursor {
            self.insert_current(node);
        } else {
            self.place_ahead(slot, node);
        }
    }

    /// Places an event in a slot that is not loaded yet, possibly the cursor's own.
    fn place_ahead(&mut self, slot: u64, node: u32) {
        let next = if slot - self.cursor < SLOTS as u64 {
            self.near.link(slot, node)
        } else if slot >> (2 * SLOT_BITS) == self.cursor >> (2 * SLOT_BITS) {
            self.blocks.link(slot >> SLOT_BITS, node)
        } else if slot >> (3 * SLOT_BITS) == self.cursor >> (3 * SLOT_BITS) {
            self.superblocks.link(slot >> (2 * SLOT_BITS), node)
        } else {
            self.far.push(node);
            // The node has no successor; `next` only shows that the source's event is pending.
            NONE
        };
        self.nodes[node as usize].next = next;
    }

    /// Inserts into the list of the cursor's slot; the position is nearly always among the first.
    fn insert_current(&mut self, node: u32) {
        let turn = self.nodes[node as usize].turn();
        let (mut previous, mut next) = (NONE, self.current);
        let mut steps = 0;
        while next != NONE && self.precedes(next, turn) && steps < LONG_LIST {
            (previous, next) = (next, self.nodes[next as usize].next);
            steps += 1;
        }
        let is_beyond = next == NONE || self.precedes(next, turn);
        if is_beyond && (next != NONE || self.near.heads[(self.cursor & SLOT_MASK) as usize] != NONE) {
            self.set_next(previous, NONE);
            self.defer(next);
            self.nodes[node as usize].next = NONE;
            return self.defer(node);
        }
        self.nodes[node as usize].next = next;
        self.set_next(previous, node);
    }

    /// Puts a list back into the cursor's slot, to be sorted again when the current list is empty.
    fn defer(&mut self, mut list: u32) {
        while list != NONE {
            let next = self.near.link(self.cursor, list);
            list = std::mem::replace(&mut self.nodes[list as usize].next, next);
        }
    }

    /// Links `node` behind `previous`, or puts it at the head of the current list.
    #[inline(always)]
    fn set_next(&mut self, previous: u32, node: u32) {
        if previous == NONE {
            self.current = node;
        } else {
            self.nodes[previous as usize].next = node;
        }
    }

    #[inline(always)]
    fn precedes(&self, node: u32, turn: (Time, OrderKey)) -> bool {
        self.ties.precedes(self.nodes[node as usize].turn(), turn)
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

    /// Moves on to the next slot with events and sorts it; false if no event is pending.
    fn advance(&mut self) -> bool {
        let Some(head) = self.take_next_slot() else { return false };
        self.current = self.sorted(head);
        true
    }

    /// Moves on to the next slot with events; returns its list, unsorted.
    #[inline(always)]
    fn take_next_slot(&mut self) -> Option<u32> {
        loop {
            if let Some((slot, list)) = self.near.take_first_from(self.cursor) {
                self.cursor = slot;
                return Some(list);
            }
            if !self.enter_next_block() {
                return None;
            }
        }
    }

    /// Sorts a list that begins with these two nodes and usually has no more.
    #[inline(always)]
    fn sorted_from_two(&mut self, first: u32, second: u32) -> u32 {
        let nodes = self.nodes.as_mut_slice();
        let follower = &nodes[second as usize];
        if follower.next != NONE {
            return self.sorted(first);
        }
        if self.ties.precedes(nodes[first as usize].turn(), follower.turn()) {
            return first;
        }
        nodes[first as usize].next = NONE;
        nodes[second as usize].next = first;
        second
    }

    #[inline(never)]
    fn sorted(&mut self, mut list: u32) -> u32 {
        // A slice keeps its pointer in a register; through `self`, each write to a node would reload it.
        let nodes = self.nodes.as_mut_slice();
        let mut first = NONE;
        for _ in 0..LONG_LIST {
            let Some(node) = nodes.get(list as usize) else { return first };
            let following = node.next;
            first = insert_sorted(nodes, &self.ties, first, list);
            list = following;
        }
        if list == NONE { first } else { self.sorted_long(&[first, list]) }
    }

    /// Sorts several lists into one. It copies each event's rank into an array first, so that comparisons do not follow
    /// links.
    #[inline(never)]
    fn sorted_long(&mut self, lists: &[u32]) -> u32 {
        let mut ranked = std::mem::take(&mut self.ranked);
        for &(mut list) in lists {
            while list != NONE {
                let node = &self.nodes[list as usize];
                ranked.push((node.time, node.order, list));
                list = node.next;
            }
        }
        let ties = self.ties;
        ranked.sort_unstable_by(|first, second| {
            first.0.cmp(&second.0).then_with(|| ties.rank(first.0, first.1).cmp(&ties.rank(second.0, second.1)))
        });
        let mut next = NONE;
        for (.., number) in ranked.drain(..).rev() {
            self.nodes[number as usize].next = next;
            next = number;
        }
        self.ranked = ranked;
        next
    }

    /// Moves the cursor to the start of the next block that can have events; false if no event is pending.
    #[cold]
    fn enter_next_block(&mut self) -> bool {
        let block = self.cursor >> SLOT_BITS;
        let Some(next) = self.next_block(block) else { return false };
        let left = std::mem::replace(&mut self.cursor, next << SLOT_BITS);
        if (left ^ self.cursor) >> (3 * SLOT_BITS) != 0 {
            std::mem::take(&mut self.far).into_iter().for_each(|node| self.place_again(node));
        }
        // Empty unless the cursor has entered another superblock.
        let list = self.superblocks.take(next >> SLOT_BITS);
        self.spread(list);
        let list = self.blocks.take(next);
        self.spread(list);
        true
    }

    /// The next block that can have events; for a later superblock this is its first block.
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

/// Inserts a node into a sorted list; returns the number of its head.
#[inline(always)]
fn insert_sorted<P>(nodes: &mut [Node<P>], ties: &Ties, first: u32, number: u32) -> u32 {
    let turn = nodes[number as usize].turn();
    let (mut previous, mut next) = (NONE, first);
    // `NONE` is not a valid node number.
    while let Some(node) = nodes.get(next as usize)
        && ties.precedes(node.turn(), turn)
    {
        (previous, next) = (next, node.next);
    }
    nodes[number as usize].next = next;
    let Some(node) = nodes.get_mut(previous as usize) else { return number };
    node.next = number;
    first
}

/// Whether a slot is on the lowest level and not loaded yet.
#[inline(always)]
const fn is_near(slot: u64, cursor: u64) -> bool {
    // A slot at or before the cursor wraps around to a distance beyond every level.
    slot.wrapping_sub(cursor).wrapping_sub(1) < SLOT_MASK
}

#[cold]
#[inline(never)]
fn check_order(ties: Ties, last: (Time, OrderKey), turn: (Time, OrderKey)) {
    assert!(ties.compare_to_last(turn, last).is_gt(), "two events at {} with key {:#x}", turn.0, turn.1.as_u64());
}
