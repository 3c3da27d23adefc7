//! The reasons why packets end in a switch.

use hitless_core::state::Value;
use strum::VariantArray;

/// The reason why a packet ended in a switch. The order matters: losses come before [`DropReason::Duplicate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Value, VariantArray)]
#[repr(u8)]
pub enum DropReason {
    /// Its queue was at its limit.
    QueueFull,
    /// The shared buffer had no room left for its queue.
    BufferFull,
    /// Routing knew no path to its destination.
    NoRoute,
    /// Its time to live ran out.
    TimeToLive,
    /// A mechanism gave it up: the packet is lost.
    Mechanism,
    /// It was admitted, and later made room for another packet in a full buffer.
    Evicted,
    /// It waited too long in a queue with controlled delay.
    QueueingDelay,
    /// It was sent to a port or queue that the switch does not have, or to a multicast group without copies.
    Nowhere,
    /// The watchdog of flow control emptied its queue.
    PauseWatchdog,
    /// It was the second copy of a packet already forwarded; nothing is lost.
    Duplicate,
    /// It was a copy kept for a loss that did not happen; nothing is lost.
    CopyRetired,
    /// It was a control packet that has done its work; nothing is lost.
    ControlAbsorbed,
    /// It arrived out of sequence, and the other end of the link resends it; nothing is lost.
    OutOfSequence,
}

impl DropReason {
    /// The number of reasons.
    pub const COUNT: usize = Self::VARIANTS.len();

    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("as many as there are");

    /// Returns whether this reason is a loss for the packet's flow.
    pub const fn is_loss(self) -> bool {
        (self as u8) < DropReason::Duplicate as u8
    }

    /// Returns the reason in plain words.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue full",
            DropReason::BufferFull => "shared buffer full",
            DropReason::NoRoute => "no route",
            DropReason::TimeToLive => "time to live",
            DropReason::Mechanism => "given up by a mechanism",
            DropReason::Evicted => "evicted from a full buffer",
            DropReason::QueueingDelay => "dropped for its queueing delay",
            DropReason::Nowhere => "sent to a missing port, queue or group",
            DropReason::PauseWatchdog => "dropped by the watchdog of flow control",
            DropReason::Duplicate => "duplicate removed",
            DropReason::CopyRetired => "copy retired",
            DropReason::ControlAbsorbed => "control packet absorbed",
            DropReason::OutOfSequence => "out of sequence, to be sent again",
        }
    }
}
