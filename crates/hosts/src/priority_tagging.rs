//! Priority marks on the packets of a flow (Practical Packet Deflection, section 3; Vertigo, CoNEXT 2021, section 3.1).

use std::num::NonZeroU32;

use hitless_core::wire::Duration;

/// The meaning of the rank in a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Rank {
    /// Unsent bytes of the message, including this packet: shortest remaining first. A flow without an end has the
    /// maximum of the field.
    RemainingBytes,
    /// Bytes of the message before this packet: least attained service first.
    AttainedService,
    /// A constant.
    Fixed(u32),
}

/// The configuration of priority marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct PriorityTagging {
    pub rank: Rank,
    /// Divisor of a lying host's ranks; 1 is honest. A fixed rank is written unchanged.
    pub divisor: NonZeroU32,
    /// Vertigo's delta: a longer pause ends a flowlet. With [`Duration::MAX`] a flowlet ends with its message only.
    pub flowlet_gap: Duration,
}

impl PriorityTagging {
    pub const fn honest(rank: Rank) -> Self {
        Self { rank, divisor: NonZeroU32::MIN, flowlet_gap: Duration::MAX }
    }
}
