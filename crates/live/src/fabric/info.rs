//! Properties of frames that packets lack.

use hitless_core::wire::{Ecn, PriorityMark, ServiceKey};

/// Properties of a frame that are recorded at its arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameInfo {
    /// Number of the arrival in the run, counted from 1.
    pub number: u64,
    /// Point of arrival.
    pub point: u16,
    pub service: ServiceKey,
    /// The ECN field in its bytes.
    pub ecn: Ecn,
    /// The priority in its bytes, if the run uses it.
    pub mark: Option<PriorityMark>,
}
