//! How the packets of a flow are marked with how urgent they are (Practical Packet Deflection, section 3; Vertigo,
//! CoNEXT 2021, section 3.1).

use std::num::NonZeroU32;

use hitless_core::wire::Duration;

/// What the rank in a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Rank {
    /// Bytes of the message that remain to be sent, this packet's first: shortest remaining first. Of a flow without an
    /// end more remain than the field can say.
    RemainingBytes,
    /// Bytes of the message before this packet: least attained service first.
    AttainedService,
    /// Always the same.
    Fixed(u32),
}

/// How the packets of a flow are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct PriorityTagging {
    /// What the rank says.
    pub rank: Rank,
    /// What a host that lies divides a rank by; 1: it tells the truth. A fixed rank is written as it is.
    pub divisor: NonZeroU32,
    /// Vertigo's delta: a flowlet ends where its flow pauses for longer; with [`Duration::MAX`] with its message only.
    pub flowlet_gap: Duration,
}

impl PriorityTagging {
    /// Marks that tell the truth.
    pub const fn honest(rank: Rank) -> Self {
        Self { rank, divisor: NonZeroU32::MIN, flowlet_gap: Duration::MAX }
    }
}
