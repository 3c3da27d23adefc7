//! Received buffers that are not single frames of the link: read whole, and split.

use super::checksum::{self, State};
use super::segments::split;
use crate::interfaces::frame::{TAG_BYTES, insert_tag, limit_bytes};
use crate::interfaces::sys::socket::Socket;

/// Maximum length of a buffer of the kernel's default size (GSO_MAX_SIZE), with headers.
const BUFFER_BYTES: usize = (1 << 16) + 256;

#[derive(Debug)]
pub struct Splitter {
    whole: Vec<u8>,
    segment: Vec<u8>,
}

/// A slot with a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Merged<'a> {
    pub state: State,
    /// The first bytes.
    pub captured: &'a [u8],
    /// Length of the whole buffer.
    pub length: usize,
    /// Whether the kernel has put the whole buffer into the socket's queue too.
    pub is_queued: bool,
    /// Type and value of a VLAN tag that the kernel removed.
    pub tag: Option<(u16, u16)>,
}

impl Splitter {
    pub fn new() -> Self {
        Self { whole: vec![0; checksum::BYTES + BUFFER_BYTES], segment: Vec::new() }
    }

    /// Discards queued buffers together with their slots.
    pub fn discard_queued(&mut self, socket: &Socket) {
        while socket.receive(&mut self.whole).is_ok() {}
    }

    /// Passes the frames of a buffer to `take`; returns their number, 0 if it cannot be split.
    pub fn split(
        &mut self,
        merged: Merged<'_>,
        socket: &Socket,
        mtu_bytes: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> usize {
        let Merged { state, captured, length, is_queued, tag } = merged;
        let buffer = if is_queued {
            let Ok(received) = socket.receive(&mut self.whole) else { return 0 };
            &self.whole[checksum::BYTES.min(received)..received]
        } else {
            captured
        };
        // Processors that fill slots at the same time can queue their buffers in another order.
        let (Some(partial), true) = (state.partial, buffer.len() == length && buffer.starts_with(captured)) else {
            return 0;
        };
        let limits = (partial.start, state.segment_bytes, limit_bytes(buffer, mtu_bytes));
        split(buffer, limits, &mut self.segment, &mut |segment| {
            let Some((tag_type, value)) = tag else { return take(segment) };
            segment.splice(0..0, [0; TAG_BYTES]);
            if insert_tag(segment, TAG_BYTES, tag_type, value).is_some() {
                take(segment);
            }
        })
    }
}
