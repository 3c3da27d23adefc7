//! The profile of a port. Its fields have the names of SONiC's `LLR_PROFILE`.

use hitless_wire::{Bytes, Duration, PortId};

/// What the transmitter does with frames while it does not number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameAction {
    /// They are sent as on any other link.
    BestEffort,
    /// They wait.
    Block,
    /// They are dropped.
    Discard,
}

/// The parameters of a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Frames that may be unacknowledged; from 1 to half the range of numbers.
    pub max_outstanding_frames: u32,
    /// Bytes that may be unacknowledged: a frame is taken as long as fewer are, so the last may be beyond.
    pub max_outstanding_bytes: Bytes,
    /// Replays in a row that free no frame; after one more would be needed, the transmitter gives up.
    pub max_replay_count: u32,
    /// How long the transmitter waits for progress before it replays; also how often it repeats LLR_INIT, and how long it
    /// stays in FLUSH.
    pub max_replay_timer: Duration,
    /// How long the link may be down before the transmitter gives up what it holds; none: for ever.
    pub pcs_lost_timeout: Option<Duration>,
    /// How long a frame may be unacknowledged before the transmitter gives up; none: for ever.
    pub data_age_timeout: Option<Duration>,
    /// From one control ordered set to the next, in bytes of the line's time.
    pub ctlos_spacing: Bytes,
    /// What becomes of frames before the receiver has answered LLR_INIT.
    pub init_action: FrameAction,
    /// What becomes of frames after the transmitter has given up.
    pub flush_action: FrameAction,
    /// Whether the transmitter begins anew after it has given up. If not, it stays in FLUSH.
    pub re_init_on_flush: bool,
}

/// One end of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndConfig {
    /// The port of the link.
    pub port: PortId,
    /// Both ends have the same.
    pub profile: Profile,
}
