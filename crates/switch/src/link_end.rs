//! The two ends of a link.

/// An end of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// The node that sends on the link.
    Sender,
    /// The node that receives from the link.
    Receiver,
}
