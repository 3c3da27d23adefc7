//! The two traits and their derives: values survive a round trip through bytes, and damaged bytes are refused.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::ops::Range;

use hitless_core::state::{Damaged, Reader, State, Value, Writer};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq, Value)]
struct Position {
    east: i64,
    north: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Value)]
struct Number(u16);

#[derive(Clone, Debug, PartialEq, Value)]
enum Move {
    Stay,
    To(Position, bool),
    By { steps: u8, name: String },
}

#[derive(Clone, Debug, PartialEq, Value)]
struct Pair<T> {
    first: T,
    second: Option<T>,
}

pub fn written<T: Value>(value: &T) -> Vec<u8> {
    let mut out = Writer::default();
    out.value(value);
    out.finish()
}

fn read<T: Value>(bytes: &[u8]) -> Result<T, Damaged> {
    let mut from = Reader::new(bytes);
    let value = from.value()?;
    from.finish()?;
    Ok(value)
}

fn comes_back<T: Value + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(read::<T>(&written(value)).as_ref(), Ok(value));
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        Just(Move::Stay),
        (any::<i64>(), -1e300..1e300, any::<bool>())
            .prop_map(|(east, north, fast)| Move::To(Position { east, north }, fast)),
        (any::<u8>(), ".*").prop_map(|(steps, name)| Move::By { steps, name }),
    ]
}

#[derive(Clone, Debug, PartialEq, State)]
struct Meter {
    #[configured]
    limit: u64,
    count: u64,
}

#[derive(Clone, Debug, PartialEq, State)]
enum Lane {
    Metered(Meter),
    Free,
}

#[derive(Clone, Debug, PartialEq, State)]
struct Port {
    #[configured]
    rate: u64,
    waiting: VecDeque<Move>,
    #[part]
    lanes: Vec<Lane>,
    #[part]
    spare: Option<Box<Meter>>,
}

fn port(count: u64, waiting: Vec<Move>) -> Port {
    let meter = |limit| Meter { limit, count };
    let lanes = vec![Lane::Metered(meter(7)), Lane::Free];
    Port { rate: 3, waiting: waiting.into(), lanes, spare: Some(Box::new(meter(9))) }
}

fn saved(port: &Port) -> Vec<u8> {
    let mut out = Writer::default();
    port.save(&mut out);
    out.finish()
}

proptest! {
    #[test]
    fn what_is_written_is_read(all in prop::collection::vec(moves(), 0..8), numbers: Vec<u16>, wide: (i128, u128)) {
        comes_back(&all);
        comes_back(&all.iter().cloned().collect::<VecDeque<_>>());
        comes_back(&numbers.iter().map(|&number| Number(number)).collect::<BTreeSet<_>>());
        comes_back(&numbers.iter().map(|&number| (Number(number), [wide.0, -1])).collect::<BTreeMap<_, _>>());
        comes_back(&Pair { first: wide, second: Some(wide) });
        comes_back(&(numbers.clone().into_boxed_slice(), (), Reverse(3_usize), Range { start: 1_u8, end: 4 }));
        let heap: BinaryHeap<u16> = numbers.iter().copied().collect();
        prop_assert_eq!(read::<BinaryHeap<u16>>(&written(&heap)).unwrap().into_sorted_vec(), heap.into_sorted_vec());
    }

    #[test]
    fn a_state_is_loaded_into_what_was_built(count: u64, waiting in prop::collection::vec(moves(), 0..8)) {
        let original = port(count, waiting);
        let bytes = saved(&original);
        let mut built = port(0, Vec::new());
        let mut from = Reader::new(&bytes);
        prop_assert_eq!(built.load(&mut from), Ok(()));
        prop_assert_eq!(from.finish(), Ok(()));
        prop_assert_eq!(built, original);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = read::<Vec<Move>>(&bytes);
        let _ = read::<BTreeMap<String, Vec<Vec<Position>>>>(&bytes);
        let _ = port(0, Vec::new()).load(&mut Reader::new(&bytes));
    }

    #[test]
    fn a_damaged_state_is_read_or_refused(
        waiting in prop::collection::vec(moves(), 0..8), at: prop::sample::Index, flip in 1_u8..
    ) {
        let mut bytes = saved(&port(5, waiting));
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let _ = port(0, Vec::new()).load(&mut Reader::new(&bytes));
        prop_assert!(port(0, Vec::new()).load(&mut Reader::new(&bytes[..at])).is_err());
    }
}

#[test]
fn bytes_of_another_shape_are_refused() {
    let original = saved(&port(1, Vec::new()));
    let mut other = port(1, Vec::new());
    other.lanes.push(Lane::Free);
    let shapes = [
        (other.clone(), "as many elements as were built"),
        (Port { lanes: vec![Lane::Free, Lane::Free], ..other.clone() }, "the Lane that was built"),
        (Port { spare: None, ..port(1, Vec::new()) }, "what was built, and nothing else"),
    ];
    for (mut shape, expected) in shapes {
        assert_eq!(shape.load(&mut Reader::new(&original)).unwrap_err().expected, expected);
    }
    let message = read::<bool>(&[2]).unwrap_err().to_string();
    assert_eq!(message, "byte 1 is damaged: a truth value was expected");
    assert_eq!(read::<u8>(&[1, 2]).unwrap_err().expected, "the end");
}

#[test]
fn a_count_takes_no_memory_that_its_elements_do_not() {
    for count in [u64::MAX, 1 << 40, 9] {
        assert!(read::<Vec<[u64; 1_000]>>(&[&written(&count)[..], &[0; 8]].concat()).is_err());
    }
}
