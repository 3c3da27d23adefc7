//! Types of other libraries, which no crate above could have written the traits for.

use hdrhistogram::{Counter, Histogram};
use rand_pcg::Pcg64Mcg;

use crate::state::reader::{Damaged, Reader};
use crate::state::traits::{State, Value};
use crate::state::writer::Writer;

impl Value for Pcg64Mcg {
    fn write(&self, out: &mut Writer) {
        self.state().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let state = u128::read(from)?;
        // The generator multiplies: its state is odd.
        if state % 2 == 1 { Ok(Self::new(state)) } else { Err(from.damaged("the state of a generator")) }
    }
}

/// Its bounds and precision are as it was built. What it holds is told apart as finely as they allow, and no finer:
/// quantiles, extremes and means come out the same.
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
