//! What the bytes of parity frames say of the others, in a simulation, where frames have no bytes.
//!
//! The two ends of a link share it. The receiving end gets a lost packet out of it only where the coder could have
//! restored it from what came ([`super::coder::can_restore`]).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use hitless_core::state::{Damaged, State};
use hitless_core::wire::{Duration, Packet, Time};

use super::coder::{DATA_FRAMES_MAX, can_restore};

/// Blocks that are remembered: parity follows its block at once, so it is a few microseconds' worth.
const BLOCKS_MAX: usize = 4_096;

/// Parity that is to restore a packet has come so long after it at the latest: it follows its block at once, and a link
/// takes microseconds.
const LATEST: Duration = Duration::from_ms(10);

/// A packet of a block, and when it was sent.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Coded {
    pub packet: Packet,
    pub sent_at: Time,
}

#[derive(Debug, Default, hitless_core::state::Value)]
struct Blocks {
    /// The number of the first block remembered.
    first: u32,
    blocks: VecDeque<Box<[Coded]>>,
}

/// The end that the sender of a link has.
#[derive(Debug)]
pub struct Writer(Arc<Mutex<Blocks>>);

/// The end that the receiver of a link has.
#[derive(Debug)]
pub struct Reader(Arc<Mutex<Blocks>>);

/// What both ends share is saved with this one.
impl State for Writer {
    fn save(&self, out: &mut hitless_core::state::Writer) {
        out.value(&*self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn load(&mut self, from: &mut hitless_core::state::Reader<'_>) -> Result<(), Damaged> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = from.value()?;
        Ok(())
    }
}

/// What the two ends of one link share.
pub fn contents() -> (Writer, Reader) {
    let shared = Arc::new(Mutex::new(Blocks::default()));
    (Writer(shared.clone()), Reader(shared))
}

impl Writer {
    /// Shows each packet that was sent so lately that parity for it may be under way.
    pub(super) fn each_recent(&self, now: Time, see: &mut dyn FnMut(&Packet)) {
        let shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let coded = shared.blocks.iter().flat_map(|block| block.iter());
        coded.filter(|coded| now <= coded.sent_at + LATEST).for_each(|coded| see(&coded.packet));
    }

    /// Parity for these packets is about to be sent; returns the number of the block.
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
    /// The packets of a block that are missing in `received`, one bit for each that came, if the coder could restore
    /// them.
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
