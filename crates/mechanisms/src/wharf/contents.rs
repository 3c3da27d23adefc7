//! The information in parity frames about other frames, for simulations, which have frames without bytes.
//!
//! The two ends of a link share it. The receiving end gets a lost packet from it only if the coder could have restored
//! it from the received frames ([`super::coder::can_restore`]).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use hitless_core::state::{Damaged, State};
use hitless_core::wire::{Duration, Packet, Time};

use super::coder::{DATA_FRAMES_MAX, can_restore};

/// Maximum number of remembered blocks: a few microseconds' worth, because parity follows its block at once.
const BLOCKS_MAX: usize = 4_096;

/// Maximum delay of parity after its packets: it follows its block at once, and a link takes microseconds.
const LATEST: Duration = Duration::from_ms(10);

/// A packet of a block, with its time of sending.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Coded {
    pub packet: Packet,
    pub sent_at: Time,
}

#[derive(Debug, Default, hitless_core::state::Value)]
struct Blocks {
    first: u32,
    blocks: VecDeque<Box<[Coded]>>,
}

#[derive(Debug)]
pub struct Writer(Arc<Mutex<Blocks>>);

#[derive(Debug)]
pub struct Reader(Arc<Mutex<Blocks>>);

/// Saves the shared state of both ends.
impl State for Writer {
    fn save(&self, out: &mut hitless_core::state::Writer) {
        out.value(&*self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn load(&mut self, from: &mut hitless_core::state::Reader<'_>) -> Result<(), Damaged> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = from.value()?;
        Ok(())
    }
}

/// The shared contents of the two ends of a link.
pub fn contents() -> (Writer, Reader) {
    let shared = Arc::new(Mutex::new(Blocks::default()));
    (Writer(shared.clone()), Reader(shared))
}

impl Writer {
    /// Visits each packet that was sent so recently that its parity may be in flight.
    pub(super) fn each_recent(&self, now: Time, see: &mut dyn FnMut(&Packet)) {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let coded = shared.blocks.iter().flat_map(|block| block.iter());
        coded.filter(|coded| now <= coded.sent_at + LATEST).for_each(|coded| see(&coded.packet));
    }

    /// Stores the packets of a block before its parity is sent; returns the number of the block.
    pub(super) fn put(&mut self, packets: &[Coded]) -> u32 {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(packets.len() <= DATA_FRAMES_MAX, "a block has a bit for each of its {} frames", packets.len());
        shared.blocks.push_back(packets.into());
        if shared.blocks.len() > BLOCKS_MAX {
            shared.blocks.pop_front();
            shared.first += 1;
        }
        shared.first + (shared.blocks.len() - 1) as u32
    }
}

impl Reader {
    /// The missing packets of a block, if the coder could restore them. `received` has one bit for each received
    /// packet.
    pub(super) fn restore(&self, block: u32, received: u64, parity_received: usize) -> Vec<Coded> {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = block.checked_sub(shared.first).map(|place| place as usize);
        let Some(packets) = place.and_then(|place| shared.blocks.get(place)) else { return Vec::new() };
        if !can_restore(packets.len(), received.count_ones() as usize, parity_received) {
            return Vec::new();
        }
        let missing = packets.iter().enumerate().filter(|&(place, _)| (received >> place) & 1 == 0);
        missing.map(|(_, coded)| *coded).collect()
    }
}
