//! Collections and types of other libraries. A collection of values is restored with its saved length; a collection of
//! states must have the length with which it was built.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use hdrhistogram::{Counter, Histogram};
use rand_pcg::Pcg64Mcg;

use crate::state::bytes::{Damaged, Reader, State, Value, Writer};

/// Reads the elements that [`Writer::sequence`] has written. The initial capacity is bounded by the bytes left, because
/// the count can be damaged.
fn elements<T: Value>(from: &mut Reader<'_>) -> Result<Vec<T>, Damaged> {
    let count = from.count()?;
    let mut elements = Vec::with_capacity(count.min(from.left() / size_of::<T>().max(1)));
    for _ in 0..count {
        elements.push(T::read(from)?);
    }
    Ok(elements)
}

impl<T: Value> Value for Vec<T> {
    fn write(&self, out: &mut Writer) {
        out.sequence(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        elements(from)
    }
}

impl<T: Value> Value for VecDeque<T> {
    fn write(&self, out: &mut Writer) {
        out.sequence(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        elements(from).map(Self::from)
    }
}

impl<T: Value> Value for Box<[T]> {
    fn write(&self, out: &mut Writer) {
        out.sequence(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        elements(from).map(Self::from)
    }
}

impl<T: Value + Ord> Value for BTreeSet<T> {
    fn write(&self, out: &mut Writer) {
        out.sequence(self.iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        elements(from).map(Self::from_iter)
    }
}

/// Writes in ascending order: the layout of a heap only affects the order of equal elements.
impl<T: Value + Ord> Value for BinaryHeap<T> {
    fn write(&self, out: &mut Writer) {
        let mut sorted: Vec<&T> = self.iter().collect();
        sorted.sort_unstable();
        out.sequence(sorted.into_iter());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        elements(from).map(Self::from)
    }
}

impl<K: Value + Ord, V: Value> Value for BTreeMap<K, V> {
    fn write(&self, out: &mut Writer) {
        self.len().write(out);
        for (key, value) in self {
            key.write(out);
            value.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        elements::<(K, V)>(from).map(Self::from_iter)
    }
}

impl<T: Value, const N: usize> Value for [T; N] {
    fn write(&self, out: &mut Writer) {
        self.iter().for_each(|value| value.write(out));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let mut values = Vec::with_capacity(N);
        for _ in 0..N {
            values.push(T::read(from)?);
        }
        Self::try_from(values).map_err(|_| from.damaged("as many elements as the type has"))
    }
}

impl<T: State> State for [T] {
    fn save(&self, out: &mut Writer) {
        self.len().write(out);
        self.iter().for_each(|state| state.save(out));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        from.expect_count(self.len())?;
        self.iter_mut().try_for_each(|state| state.load(from))
    }
}

impl<T: State, const N: usize> State for [T; N] {
    fn save(&self, out: &mut Writer) {
        self.as_slice().save(out);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.as_mut_slice().load(from)
    }
}

impl<T: State> State for Vec<T> {
    fn save(&self, out: &mut Writer) {
        self.as_slice().save(out);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.as_mut_slice().load(from)
    }
}

impl<K: Value + Ord, V: State> State for BTreeMap<K, V> {
    fn save(&self, out: &mut Writer) {
        self.len().write(out);
        for (key, state) in self {
            key.write(out);
            state.save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        from.expect_count(self.len())?;
        for (key, state) in self {
            if K::read(from)? != *key {
                return Err(from.damaged("the entry that was built here"));
            }
            state.load(from)?;
        }
        Ok(())
    }
}

impl Value for Pcg64Mcg {
    fn write(&self, out: &mut Writer) {
        self.state().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let state = u128::read(from)?;
        // A valid state of this multiplicative generator is odd.
        if state % 2 == 1 { Ok(Self::new(state)) } else { Err(from.damaged("the state of a generator")) }
    }
}

/// Keeps the configured bounds and precision, and saves only the counts at that precision: quantiles, extremes and
/// means stay the same.
impl<T: Counter + Value> State for Histogram<T> {
    fn save(&self, out: &mut Writer) {
        let recorded: Vec<(u64, T)> =
            self.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
        out.value(&recorded);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.reset();
        for (value, count) in from.value::<Vec<(u64, T)>>()? {
            self.record_n(value, count).map_err(|_| from.damaged("a value within the bounds of a histogram"))?;
        }
        Ok(())
    }
}
