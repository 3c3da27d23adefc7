//! The bodies of real frames: a bounded pool, in which copies of a packet share one body.

use hitless_core::wire::{Ecn, PriorityMark, ServiceKey};

use super::buffers::{Buffers, Part};
use crate::interfaces::Merged;

/// Properties of a frame that are recorded at its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameInfo {
    /// Number of the arrival in the run, counted from 1.
    pub number: u64,
    pub point: u16,
    pub service: ServiceKey,
    /// The ECN field in its bytes.
    pub ecn: Ecn,
    /// The priority in its bytes, if the run uses it.
    pub mark: Option<PriorityMark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRoom {
    Empty,
    TooLong,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The body is `bytes[start..end]` of the place.
    start: u16,
    end: u16,
    references: u32,
    info: FrameInfo,
    /// The frame's place in a merged buffer; its own bytes are unused then.
    part: Option<Part>,
}

/// Frames in the fabric. A frame is identified by a number from 1, as in [`hitless_core::wire::Packet::frame`]; 0
/// stands for no frame.
#[derive(Debug)]
pub struct FramePool {
    bytes: Box<[u8]>,
    place_bytes: usize,
    places: Vec<Place>,
    free: Vec<u32>,
    pub buffers: Buffers,
}

impl FramePool {
    /// Makes a pool of `count` places of `place_bytes` each (at most 65,535). The memory is allocated at once.
    pub fn new(count: u32, place_bytes: u16) -> Self {
        let place_bytes = usize::from(place_bytes);
        Self {
            bytes: vec![0; count as usize * place_bytes].into(),
            place_bytes,
            places: vec![Place::default(); count as usize],
            free: (1..=count).rev().collect(),
            buffers: Buffers::default(),
        }
    }

    /// Stores a frame with one reference.
    pub fn insert(&mut self, frame: &[u8]) -> Result<u32, NoRoom> {
        if frame.len() > self.place_bytes {
            return Err(NoRoom::TooLong);
        }
        let number = self.free.pop().ok_or(NoRoom::Empty)?;
        let start = (number as usize - 1) * self.place_bytes;
        self.bytes[start..start + frame.len()].copy_from_slice(frame);
        *self.place(number) = Place { end: frame.len() as u16, references: 1, ..Place::default() };
        Ok(number)
    }

    /// Stores the frames of a merged buffer with one reference each, and passes them to `each`. Without room, leaves
    /// the buffer and returns false.
    pub fn insert_merged(&mut self, merged: &mut Merged<'_>, mut each: impl FnMut(u32)) -> bool {
        let segments = merged.segments;
        if self.free.len() < segments.count() || segments.frame_bytes(0) > self.place_bytes {
            return false;
        }
        let Some(parts) = self.buffers.insert(merged) else { return false };
        for part in parts {
            let number = self.free.pop().expect("their number was checked");
            *self.place(number) = Place { references: 1, part: Some(part), ..Place::default() };
            each(number);
        }
        true
    }

    /// Adds a reference for another packet with this body.
    pub fn share(&mut self, frame: u32) {
        let place = self.place(frame);
        assert!(place.references > 0, "frame {frame} is shared after its end");
        place.references += 1;
    }

    /// Removes a reference.
    ///
    /// # Panics
    /// If there are no references: a packet was ended twice.
    pub fn release(&mut self, frame: u32) {
        let place = self.place(frame);
        assert!(place.references > 0, "frame {frame} was released by more packets than had it");
        place.references -= 1;
        if place.references == 0 {
            let part = place.part;
            self.free.push(frame);
            if let Some(part) = part {
                self.buffers.release(part);
            }
        }
    }

    /// Cuts the body to the part from `start` to `end`.
    pub fn keep(&mut self, frame: u32, (start, end): (usize, usize)) {
        let place = self.place(frame);
        assert!(start <= end && end <= usize::from(place.end - place.start), "{start}..{end} of a shorter body");
        place.end = place.start + end as u16;
        place.start += start as u16;
    }

    /// The bytes of a frame that is in no buffer.
    pub fn bytes(&self, frame: u32) -> &[u8] {
        let place = &self.places[frame as usize - 1];
        debug_assert!(place.part.is_none(), "frame {frame} has no bytes of its own");
        let at = (frame as usize - 1) * self.place_bytes;
        &self.bytes[at + usize::from(place.start)..at + usize::from(place.end)]
    }

    /// Returns the bytes of a frame. A frame in a buffer is written to `scratch`.
    pub fn body<'a>(&'a self, frame: u32, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        let Some(part) = self.part(frame) else { return self.bytes(frame) };
        self.buffers.write(part, scratch);
        scratch
    }

    /// Returns the length of a frame, after bytes that begin with its headers or with the headers of its buffer.
    pub fn headers(&self, frame: u32) -> (&[u8], usize) {
        let Some(part) = self.part(frame) else {
            let bytes = self.bytes(frame);
            return (bytes, bytes.len());
        };
        (self.buffers.whole(part).0, self.buffers.frame_bytes(part))
    }

    pub fn part(&self, frame: u32) -> Option<Part> {
        self.places[frame as usize - 1].part
    }

    pub fn info(&self, frame: u32) -> FrameInfo {
        self.places[frame as usize - 1].info
    }

    pub fn set_info(&mut self, frame: u32, info: FrameInfo) {
        self.place(frame).info = info;
    }

    /// The number of references of each frame, in order.
    pub fn references(&self) -> impl Iterator<Item = u32> + '_ {
        self.places.iter().map(|place| place.references)
    }

    fn place(&mut self, frame: u32) -> &mut Place {
        &mut self.places[frame as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_when_the_last_packet_lets_go_of_it() {
        let mut pool = FramePool::new(2, 4);
        let (a, b) = (pool.insert(b"abcd").unwrap(), pool.insert(b"ef").unwrap());
        assert_eq!((pool.insert(b"g"), pool.insert(b"12345")), (Err(NoRoom::Empty), Err(NoRoom::TooLong)));
        pool.share(a);
        pool.release(a);
        assert_eq!((pool.bytes(a), pool.bytes(b)), (&b"abcd"[..], &b"ef"[..]));
        pool.release(a);
        assert!(pool.references().eq([0, 1]));
        assert_eq!(pool.insert(b"ghij"), Ok(a));
        pool.keep(a, (1, 3));
        assert_eq!(pool.bytes(a), b"hi");
    }

    #[test]
    #[should_panic(expected = "released by more packets")]
    fn a_packet_that_ends_twice_is_noticed() {
        let mut pool = FramePool::new(1, 4);
        let frame = pool.insert(b"a").unwrap();
        pool.release(frame);
        pool.release(frame);
    }
}
