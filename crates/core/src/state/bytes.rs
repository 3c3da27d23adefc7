//! The two traits, and their byte writer and reader.

use std::fmt;

/// A type that is restored from its bytes alone.
pub trait Value: Sized {
    fn write(&self, out: &mut Writer);

    /// Reads the bytes that [`Self::write`] has written.
    ///
    /// # Errors
    /// [`Damaged`] if the bytes are not a value of this type.
    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged>;
}

/// A type that is built from a scenario and changes during the run.
pub trait State {
    /// Writes everything that can have changed since construction.
    fn save(&self, out: &mut Writer);

    /// Loads the bytes that [`Self::save`] has written for an instance built from the same scenario.
    ///
    /// # Errors
    /// [`Damaged`] if the bytes do not fit; the instance is unusable then.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged>;
}

#[derive(Clone, Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Error: the bytes do not encode the expected state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged {
    pub expected: &'static str,
    /// Offset of the damage in bytes.
    pub at: usize,
}

impl fmt::Display for Damaged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "byte {} is damaged: {} was expected", self.at, self.expected)
    }
}

impl std::error::Error for Damaged {}

#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Takes the next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let Some(bytes) = self.bytes[self.at..].get(..count) else {
            return Err(self.damaged("more bytes"));
        };
        self.at += count;
        Ok(bytes)
    }

    pub const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Makes the error for the current position.
    pub const fn damaged(&self, expected: &'static str) -> Damaged {
        Damaged { expected, at: self.at }
    }

    /// Ends reading.
    pub const fn finish(self) -> Result<(), Damaged> {
        if self.left() == 0 { Ok(()) } else { Err(self.damaged("the end")) }
    }
}

impl Writer {
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
    /// Reads the next value.
    pub fn value<T: Value>(&mut self) -> Result<T, Damaged> {
        T::read(self)
    }

    /// Reads the number of elements that follow. Each takes at least one byte, so a number above the bytes left is
    /// damage.
    pub fn count(&mut self) -> Result<usize, Damaged> {
        let count: usize = self.value()?;
        if count > self.left() { Err(self.damaged("a number of elements")) } else { Ok(count) }
    }

    /// Checks that the written number of elements is `count`, which follows from the scenario.
    pub fn expect_count(&mut self, count: usize) -> Result<(), Damaged> {
        if self.value::<usize>()? == count { Ok(()) } else { Err(self.damaged("as many elements as were built")) }
    }
}
