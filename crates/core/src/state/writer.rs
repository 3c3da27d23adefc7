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

    /// All that was written.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
