//! The two ends of a link.

/// One of the two ends of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEnd {
    /// The node that sends on it.
    Sender,
    /// The node that receives from it.
    Receiver,
}
