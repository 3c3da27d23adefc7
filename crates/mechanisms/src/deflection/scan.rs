//! The scan for a port that is not congested, in a circle.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the scan for a port that is not full begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScanStart {
    /// At each port that faces a switch with the same probability (appendix E).
    #[default]
    Uniform,
    /// At a random number of five bits, and at the first port where it is beyond the last (the authors' program).
    FiveBit,
}

impl ScanStart {
    /// A place among `count`.
    pub fn draw(self, stream: &mut Stream, count: usize) -> usize {
        match self {
            Self::Uniform => below(stream, count),
            Self::FiveBit => Some(below(stream, 32)).filter(|&place| place < count).unwrap_or(0),
        }
    }
}

/// The first place from `start` on that is free, in a circle of `count`: "the first 0 in the bitmap after the r'th bit"
/// (appendix E, whose example begins with the r'th itself).
pub fn first_free(start: usize, count: usize, mut is_free: impl FnMut(usize) -> bool) -> Option<usize> {
    (start..count).chain(0..start).find(|&place| is_free(place))
}
