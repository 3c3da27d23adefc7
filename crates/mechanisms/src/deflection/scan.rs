//! The circular scan for a free port.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Start of the scan for a port that is not full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScanStart {
    /// Each port that faces a switch, with equal probability (appendix E).
    #[default]
    Uniform,
    /// A random number of five bits; the first port if it is beyond the last (the authors' program).
    FiveBit,
}

impl ScanStart {
    pub fn draw(self, stream: &mut Stream, count: usize) -> usize {
        match self {
            Self::Uniform => below(stream, count),
            Self::FiveBit => Some(below(stream, 32)).filter(|&place| place < count).unwrap_or(0),
        }
    }
}

/// The first free position from `start`, in a circle of `count`: "the first 0 in the bitmap after the r'th bit"
/// (appendix E; its example starts at the r'th bit itself).
pub fn first_free(start: usize, count: usize, mut is_free: impl FnMut(usize) -> bool) -> Option<usize> {
    (start..count).chain(0..start).find(|&place| is_free(place))
}
