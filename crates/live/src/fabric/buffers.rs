//! Merged buffers of frames in the fabric. Each frame is a separate packet; only the bytes stay together.

use std::ops::Range;

use crate::interfaces::{Merged, Segments};

/// Maximum number of buffers: 16 MB. Further ones are split.
const BUFFERS: usize = 256;

/// A frame's place in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    buffer: u16,
    number: u16,
}

#[derive(Debug)]
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    segments: Segments,
    /// Number of frames that are still in the fabric.
    frames: usize,
}

#[derive(Debug, Default)]
pub struct Buffers {
    places: Vec<Option<Buffer>>,
    free: Vec<u16>,
    /// Memory of buffers that have left.
    spare: Vec<Vec<u8>>,
}

impl Buffers {
    /// Takes a buffer and returns its frames; `None` without room.
    pub fn insert(&mut self, merged: &mut Merged<'_>) -> Option<impl Iterator<Item = Part> + use<>> {
        if self.free.is_empty() && self.places.len() < BUFFERS {
            self.free.push(self.places.len() as u16);
            self.places.push(None);
        }
        let buffer = self.free.pop()?;
        let bytes = std::mem::replace(merged.bytes, self.spare.pop().unwrap_or_default());
        let (start, segments, frames) = (merged.start, merged.segments, merged.segments.count());
        self.places[usize::from(buffer)] = Some(Buffer { bytes, start, segments, frames });
        Some((0..frames as u16).map(move |number| Part { buffer, number }))
    }

    /// Returns the bytes of the buffer of a frame, and its frames.
    pub fn whole(&self, part: Part) -> (&[u8], Segments) {
        let buffer = self.places[usize::from(part.buffer)].as_ref().expect("a frame of it is in the fabric");
        (&buffer.bytes[buffer.start..], buffer.segments)
    }

    pub fn frame_bytes(&self, part: Part) -> usize {
        self.whole(part).1.frame_bytes(usize::from(part.number))
    }

    /// Writes a frame over `frame`.
    pub fn write(&self, part: Part, frame: &mut Vec<u8>) {
        let (bytes, segments) = self.whole(part);
        segments.write(bytes, usize::from(part.number), frame);
    }

    /// Removes a frame; the last one frees the buffer.
    pub fn release(&mut self, part: Part) {
        let place = &mut self.places[usize::from(part.buffer)];
        let buffer = place.as_mut().expect("a frame of it is in the fabric");
        buffer.frames -= 1;
        if buffer.frames == 0 {
            self.spare.extend(place.take().map(|buffer| buffer.bytes));
            self.free.push(part.buffer);
        }
    }
}

impl Part {
    /// Returns the number of frames from this one to its last neighbour in order at the start of `parts`.
    pub fn run(self, parts: impl Iterator<Item = Part>) -> usize {
        let is_next = |&(further, part): &(u16, Part)| part == Part { number: self.number + further, ..self };
        1 + (1..).zip(parts).take_while(is_next).count()
    }

    /// Returns the numbers of this frame and the following ones, `count` in all.
    pub fn numbers(self, count: usize) -> Range<usize> {
        usize::from(self.number)..usize::from(self.number) + count
    }
}
