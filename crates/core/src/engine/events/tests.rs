use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;

use super::*;
use crate::wire::Duration;

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

proptest! {
    /// The gaps cover the same slot, a few slots, and several levels.
    #[test]
    fn a_source_whose_next_event_is_known_at_its_turn_has_it_in_order(
        gaps in prop::collection::vec(prop::collection::vec((0_u32..4, 1_u64..1_000), 1..40), 1..6),
    ) {
        let mut queue = EventQueue::default();
        let mut expected = Vec::new();
        let mut times: Vec<std::collections::VecDeque<Time>> = Vec::new();
        for (node, gaps) in (0..).zip(&gaps) {
            queue.add_source(OrderKey::new(1, node, 0), ());
            let mut at = Time(0);
            times.push(gaps.iter().map(|&(scale, gap)| { at += Duration(gap << (8 * scale)); at }).collect());
            expected.extend(times[node as usize].iter().map(|&time| (time, node as usize)));
        }
        for (node, times) in (0..).zip(&mut times) {
            queue.push_source(times.pop_front().expect("a source has an event"), Source::of(node));
        }
        expected.sort_unstable();
        for expected in expected {
            let mut ahead = [0; 4];
            let (count, events) = queue.sources_ahead(&mut ahead);
            prop_assert!(events as usize == count && (1..=4).contains(&count));
            prop_assert_eq!(ahead[0], expected.1 as u32);
            queue.read_slots_ahead(u64::from);
            let event = queue.pop_turn_before(Time::NEVER, &mut times, |times, _, _| ((), times.pop_front()));
            let popped = event.map(|event| (event.time, event.payload));
            prop_assert_eq!(popped, Some((expected.0, Turn::Source(Source::of(expected.1 as u32), ()))));
        }
        prop_assert!(queue.is_empty());
    }
}

/// Slots hold five events each. The lists of the next slots are read once; the next batch is read when the first of
/// these slots is current.
#[test]
fn the_lists_of_the_next_slots_are_read_once() {
    const SLOT: u64 = 1 << RESOLUTION_BITS;
    let mut queue = EventQueue::default();
    let sources = [(); 100].map(|()| queue.add_source(key(1), ()));
    for (number, source) in sources.into_iter().enumerate() {
        queue.push_source(Time(SLOT * (1 + 3 * (number as u64 / 5)) + number as u64 % 5), source);
    }
    let read = |queue: &mut EventQueue<()>| {
        let numbers = std::cell::RefCell::new(Vec::new());
        queue.read_slots_ahead(|number| {
            numbers.borrow_mut().push(number);
            0
        });
        let mut numbers = numbers.into_inner();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(read(&mut queue), (0..40).collect::<Vec<_>>());
    assert_eq!(read(&mut queue), Vec::<u32>::new());
    assert!(queue.pop().is_some());
    assert_eq!(read(&mut queue), (40..80).collect::<Vec<_>>());
    (1..40).for_each(|_| assert_eq!((queue.pop().is_some(), read(&mut queue)), (true, vec![])));
    assert!(queue.pop().is_some());
    assert_eq!(read(&mut queue), (80..100).collect::<Vec<_>>());
}

/// Pushes many events of one slot, before and during its turn, both far behind and right before the current head.
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
                // The first round pushes at a distance, the others between `next_time` and `pop`.
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

#[test]
fn what_is_due_at_an_end_stays_until_a_later_end() {
    let mut queue = EventQueue::default();
    for (at, node) in [(5, 0), (7, 1), (7, 0), (5_000_000, 0)] {
        queue.push(Time(at), OrderKey::new(1, node, at), at);
    }
    let times = |queue: &mut EventQueue<u64>, end| {
        std::iter::from_fn(|| {
            queue.pop_turn_before(Time(end), &mut [], |_: &mut (), _, _| ((), None)).map(|event| event.time.0)
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(times(&mut queue, 5), Vec::<u64>::new());
    assert_eq!(times(&mut queue, 7), [5]);
    // An event pushed now precedes the events that were already examined.
    queue.push(Time(6), OrderKey::new(1, 0, 6), 6);
    assert_eq!(times(&mut queue, 8), [6, 7, 7]);
    assert_eq!(times(&mut queue, 5_000_000), Vec::<u64>::new());
    queue.push(Time(9), OrderKey::new(1, 0, 9), 9);
    assert_eq!(times(&mut queue, 5_000_001), [9, 5_000_000]);
    assert_eq!(queue.pop_turn_before(Time::NEVER, &mut [], |_: &mut (), _, _| ((), None)), None);
}
