//! Received buffers that are not single frames of the link.

use super::checksum::{self, State};
use crate::interfaces::frame::{TAG_BYTES, insert_tag, limit_bytes};
use crate::interfaces::interface::{Merged, MonotonicTime};
use crate::interfaces::segments::Segments;
use crate::interfaces::sys::socket::Socket;

/// Maximum length of a buffer of the kernel's default size (GSO_MAX_SIZE), with headers.
const BUFFER_BYTES: usize = (1 << 16) + 256;
/// Offset of the header with the state: room for a VLAN tag comes before it.
const STATE_AT: usize = TAG_BYTES;
const START: usize = STATE_AT + checksum::BYTES;

#[derive(Debug, Default)]
pub struct Reader {
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub struct InSlot<'a> {
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

impl Reader {
    /// Discards queued buffers together with their slots.
    pub fn discard_queued(&mut self, socket: &Socket) {
        while socket.receive(self.room()).is_ok() {}
    }

    /// Reads a buffer and finds its frames; `None` if it cannot be split, or into frames beyond the MTU.
    pub fn read(
        &mut self,
        slot: InSlot<'_>,
        socket: &Socket,
        mtu_bytes: usize,
        at: MonotonicTime,
    ) -> Option<Merged<'_>> {
        let InSlot { state, captured, length, is_queued, tag } = slot;
        let room = self.room();
        let end = if is_queued {
            STATE_AT + socket.receive(&mut room[STATE_AT..]).ok()?
        } else {
            room.get_mut(START..START + captured.len())?.copy_from_slice(captured);
            START + captured.len()
        };
        // Processors that fill slots at the same time can queue their buffers in another order.
        if end != START + length || !room[START..end].starts_with(captured) {
            return None;
        }
        let mut start = START;
        let mut tcp_at = state.partial?.start;
        if let Some((tag_type, value)) = tag {
            start = insert_tag(room, START, tag_type, value)?;
            tcp_at += TAG_BYTES;
        }
        let buffer = &room[start..end];
        let segments = Segments::find(buffer, tcp_at, state.segment_bytes)?;
        if segments.frame_bytes(0) > limit_bytes(buffer, mtu_bytes) {
            return None;
        }
        Some(Merged { bytes: &mut self.bytes, start, segments, at })
    }

    fn room(&mut self) -> &mut [u8] {
        self.bytes.resize(START + BUFFER_BYTES, 0);
        &mut self.bytes
    }
}
