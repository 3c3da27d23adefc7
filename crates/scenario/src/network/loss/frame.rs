//! What a loss model is told.

use hitless_core::wire::Time;

/// What a loss model knows of a frame.
#[derive(Clone, Copy, Debug)]
pub struct ArrivingFrame {
    /// When its last bit arrives.
    pub at: Time,
    /// Its length, check sequence included.
    pub frame_bytes: u32,
    /// Whether a mechanism of the link sends it again.
    pub is_link_retransmission: bool,
}
