//! Where bytes are read from.

use std::fmt;

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
