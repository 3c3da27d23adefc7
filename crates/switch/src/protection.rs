//! The state of the protection of a link, as one of its ends knows it.

/// One end of a protected link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtectionState {
    /// Whether the control plane has switched this end on.
    pub is_commanded: bool,
    /// Whether packets are protected now.
    pub phase: ProtectionPhase,
    /// Whether packets keep their order.
    pub keeps_order: bool,
    /// Copies per lost packet; `None` at a receiver, which does not know.
    pub copies: Option<u32>,
    /// Packets protected so far; at a receiver those delivered.
    pub packets: u64,
    /// Packets that the link lost; at a sender those that the receiver reported.
    pub lost_on_link: u64,
    /// Packets recovered; at a sender those retransmitted.
    pub recovered: u64,
    /// Packets lost end to end; `None` at a sender, which does not know.
    pub lost: Option<u64>,
}

/// The phase of protection in the direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtectionPhase {
    /// No packet has arrived yet, so that the receiver does not know.
    Unknown,
    /// Packets are not protected.
    Off,
    /// The sender waits for the receiver's consent.
    Starting,
    /// Packets are protected.
    On,
    /// Nothing new is sent until the receiver has everything.
    Ending,
}

impl ProtectionPhase {
    /// Returns the name for users.
    pub const fn name(self) -> &'static str {
        match self {
            ProtectionPhase::Unknown => "unknown",
            ProtectionPhase::Off => "off",
            ProtectionPhase::Starting => "starting",
            ProtectionPhase::On => "on",
            ProtectionPhase::Ending => "ending",
        }
    }
}

/// An end of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// The node that sends on the link.
    Sender,
    /// The node that receives from the link.
    Receiver,
}
