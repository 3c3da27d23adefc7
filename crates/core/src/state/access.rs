//! Values in a row, and how many there are.

use crate::state::reader::{Damaged, Reader};
use crate::state::traits::Value;
use crate::state::writer::Writer;

impl Writer {
    /// Appends a value.
    pub fn value<T: Value>(&mut self, value: &T) {
        value.write(self);
    }

    /// Appends a sequence that is read as a `Vec`.
    pub fn sequence<'a, T: Value + 'a>(&mut self, values: impl ExactSizeIterator<Item = &'a T>) {
        self.value(&values.len());
        values.for_each(|value| value.write(self));
    }
}

impl Reader<'_> {
    /// The next value.
    ///
    /// # Errors
    /// When the bytes are none.
    pub fn value<T: Value>(&mut self) -> Result<T, Damaged> {
        T::read(self)
    }

    /// The number of elements that follow. Each takes a byte at least, so that more than there are bytes is damage.
    ///
    /// # Errors
    /// When that many cannot follow.
    pub fn count(&mut self) -> Result<usize, Damaged> {
        let count: usize = self.value()?;
        if count > self.left() { Err(self.damaged("a number of elements")) } else { Ok(count) }
    }

    /// Checks that the number of elements that was written is `count`, which the scenario has settled.
    ///
    /// # Errors
    /// When it is another.
    pub fn expect_count(&mut self, count: usize) -> Result<(), Damaged> {
        if self.value::<usize>()? == count { Ok(()) } else { Err(self.damaged("as many elements as were built")) }
    }
}
