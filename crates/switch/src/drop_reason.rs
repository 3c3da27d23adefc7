//! Why packets end in a switch.

use hitless_core::state::{Damaged, Reader, Value, Writer};

/// Why a packet ended in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// Its queue was at its limit.
    QueueFull,
    /// The shared buffer had no room for its queue.
    BufferFull,
    /// No route to its destination.
    NoRoute,
    /// Its time to live ran out.
    TimeToLive,
    /// A mechanism gave it up: the packet is lost.
    Mechanism,
    /// It had been admitted, and made room for another in a full buffer.
    Evicted,
    /// It had waited too long in a queue whose delay is controlled.
    QueueingDelay,
    /// It was sent to a port or queue that the switch does not have, or to a multicast group without copies.
    Nowhere,
    /// A second copy of a packet already forwarded; nothing is lost.
    Duplicate,
    /// A copy kept in case of a loss that did not happen; nothing is lost.
    CopyRetired,
    /// A control packet that has done its work; nothing is lost.
    ControlAbsorbed,
    /// Out of sequence on a link whose other end sends it again; nothing is lost.
    OutOfSequence,
}

/// By its number.
impl Value for DropReason {
    fn write(&self, out: &mut Writer) {
        out.value(&(*self as u8));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let number: u8 = from.value()?;
        Self::ALL.get(usize::from(number)).copied().ok_or(from.damaged("a reason"))
    }
}

impl DropReason {
    /// How many reasons there are.
    pub const COUNT: usize = 12;

    /// All reasons, in the order of their numbers.
    pub const ALL: [DropReason; Self::COUNT] = [
        DropReason::QueueFull,
        DropReason::BufferFull,
        DropReason::NoRoute,
        DropReason::TimeToLive,
        DropReason::Mechanism,
        DropReason::Evicted,
        DropReason::QueueingDelay,
        DropReason::Nowhere,
        DropReason::Duplicate,
        DropReason::CopyRetired,
        DropReason::ControlAbsorbed,
        DropReason::OutOfSequence,
    ];

    /// Whether the packet of a flow was lost by it.
    pub const fn is_loss(self) -> bool {
        (self as u8) < DropReason::Duplicate as u8
    }

    /// The reason in plain words.
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
            DropReason::Duplicate => "duplicate removed",
            DropReason::CopyRetired => "copy retired",
            DropReason::ControlAbsorbed => "control packet absorbed",
            DropReason::OutOfSequence => "out of sequence, to be sent again",
        }
    }
}
