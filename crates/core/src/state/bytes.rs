//! The two traits, and the bytes that they write to and read from.

use std::fmt;

/// What is made from its bytes alone.
pub trait Value: Sized {
    /// Writes it.
    fn write(&self, out: &mut Writer);

    /// Reads what [`Self::write`] has written.
    ///
    /// # Errors
    /// [`Damaged`], when the bytes are no value of this type.
    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged>;
}

/// What has been built from a scenario, and changes while it runs.
pub trait State {
    /// Writes what has changed since it was built, and what could have.
    fn save(&self, out: &mut Writer);

    /// Takes what [`Self::save`] has written of another that was built from the same scenario.
    ///
    /// # Errors
    /// [`Damaged`], when the bytes do not fit this one; it is of no use then.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged>;
}

/// Bytes of a checkpoint, as they are written.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Appends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All that was written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Bytes that are no state of what was to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// What was expected.
    pub expected: &'static str,
    /// How many bytes came before.
    pub at: usize,
}

impl fmt::Display for Damaged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "byte {} is damaged: {} was expected", self.at, self.expected)
    }
}

impl std::error::Error for Damaged {}

/// Bytes of a checkpoint, as they are read.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` from their beginning.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let Some(bytes) = self.bytes[self.at..].get(..count) else {
            return Err(self.damaged("more bytes"));
        };
        self.at += count;
        Ok(bytes)
    }

    /// Bytes that were not yet read.
    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// That something else was expected here.
    pub const fn damaged(&self, expected: &'static str) -> Damaged {
        Damaged { expected, at: self.at }
    }

    /// Ends reading.
    ///
    /// # Errors
    /// When bytes are left.
    pub const fn finish(self) -> Result<(), Damaged> {
        if self.left() == 0 { Ok(()) } else { Err(self.damaged("the end")) }
    }
}

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
