//! Where bytes are written to.

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

    /// Appends a value.
    pub fn value<T: crate::Value>(&mut self, value: &T) {
        value.write(self);
    }

    /// Appends a sequence that is read as a `Vec`.
    pub fn sequence<'a, T: crate::Value + 'a>(&mut self, values: impl ExactSizeIterator<Item = &'a T>) {
        self.value(&values.len());
        values.for_each(|value| value.write(self));
    }

    /// All that was written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
