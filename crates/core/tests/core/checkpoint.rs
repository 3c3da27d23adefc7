//! The engine's state survives a round trip through bytes.

use hitless_core::engine::{EventQueue, OrderKey, PacketHandle, PacketStore, Ring, Source};
use hitless_core::state::{Reader, State, Writer};
use hitless_core::wire::{Packet, Time};
use proptest::prelude::*;

use crate::state::written;

fn saved(queue: &EventQueue<u64>) -> Vec<u8> {
    let mut out = Writer::default();
    queue.save(&mut out);
    out.finish()
}

fn with_sources(count: u32) -> EventQueue<u64> {
    let mut queue = EventQueue::default();
    for number in 0..count {
        queue.add_source(OrderKey::new(1, number, 0), u64::from(number));
    }
    queue
}

proptest! {
    /// Covers events near, far, at the same time, and before a slot that has been reached without a pop.
    #[test]
    fn a_queue_that_was_loaded_pops_what_the_saved_one_pops(
        delays in prop::collection::vec((0_u32..50, 0..u64::MAX), 1..300), pops in 0_usize..300, looks: bool, later: Vec<u32>
    ) {
        let mut queue = with_sources(3);
        queue.push_source(Time(77), Source::of(1));
        for (number, &(shift, random)) in (0..).zip(&delays) {
            queue.push(Time(random >> 14 >> shift), OrderKey::new(2, 7, number), number);
        }
        for _ in 0..pops.min(delays.len() - 1) {
            queue.pop();
        }
        if looks {
            queue.next_time();
        }
        let bytes = saved(&queue);
        let mut loaded = with_sources(3);
        let mut from = Reader::new(&bytes);
        prop_assert_eq!(loaded.load(&mut from), Ok(()));
        prop_assert_eq!(from.finish(), Ok(()));
        prop_assert_eq!((loaded.len(), loaded.now()), (queue.len(), queue.now()));
        let now = queue.now();
        for (number, delay) in (0..).zip(later) {
            for queue in [&mut queue, &mut loaded] {
                queue.push(Time(now.as_ps() + u64::from(delay)), OrderKey::new(3, 9, number), number);
            }
        }
        while let Some(event) = queue.pop() {
            prop_assert_eq!(loaded.pop(), Some(event));
        }
        prop_assert!(loaded.pop().is_none());
    }

    #[test]
    fn damaged_bytes_of_a_queue_are_loaded_or_refused(at: prop::sample::Index, flip in 1_u8.., cut: bool) {
        let mut queue = with_sources(2);
        (0..20).for_each(|number| queue.push(Time(number * 1_000_000), OrderKey::new(2, 7, number), number));
        queue.push_source(Time(50_000), Source::of(0));
        for _ in 0..5 {
            let _ = queue.pop();
        }
        let mut bytes = saved(&queue);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let bytes = if cut { &bytes[..at] } else { &bytes[..] };
        let _ = with_sources(2).load(&mut Reader::new(bytes));
    }

    #[test]
    fn a_store_that_was_loaded_gives_out_the_same_slots(steps in prop::collection::vec(any::<Option<u8>>(), 0..100)) {
        let (mut store, mut alive) = (PacketStore::default(), Vec::new());
        for (number, step) in (0..).zip(steps) {
            match step {
                Some(at) if !alive.is_empty() => store.remove(alive.swap_remove(usize::from(at) % alive.len())),
                _ => alive.push(store.insert(Packet { frame_bytes: number, ..Packet::default() })),
            }
        }
        let mut loaded: PacketStore = Reader::new(&written(&store)).value().expect("it was written");
        prop_assert!(alive.iter().all(|&handle| loaded[handle] == store[handle]));
        let more: Vec<PacketHandle> = (0..40).map(|_| store.reserve()).collect();
        prop_assert_eq!(more, (0..40).map(|_| loaded.reserve()).collect::<Vec<_>>());
    }

    #[test]
    fn a_ring_comes_back_wherever_it_has_turned_to(pushed: Vec<u32>, popped in 0_usize..40, more: Vec<u32>) {
        let mut ring = Ring::default();
        pushed.iter().for_each(|&value| ring.push(value));
        for _ in 0..popped {
            let _ = ring.pop();
        }
        more.iter().for_each(|&value| ring.push(value));
        let loaded: Ring<u32> = Reader::new(&written(&ring)).value().expect("it was written");
        prop_assert!(loaded.iter().eq(ring.iter()));
    }
}
