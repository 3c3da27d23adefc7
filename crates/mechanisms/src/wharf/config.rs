//! Wharf's parameters.

use hitless_wire::{Duration, PortId};

/// One end of a link in one direction; both ends have the same parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndConfig {
    /// The port of the link.
    pub port: PortId,
    /// Data frames of a block (k), from 1 to [`super::coder::DATA_FRAMES_MAX`].
    pub data_frames: u8,
    /// Parity frames behind each block (h), at most [`super::coder::PARITY_FRAMES_MAX`]; 0: no coding at all.
    pub parity_frames: u8,
    /// How long after its first frame a block is ended that is not full.
    pub flush_after: Duration,
}
