//! LinkGuardian's headers: three bytes in each direction (paper, section 3.5) and the loss notification (A.1).
//!
//! The bit layout follows the published switch programs, in which `channel` is padding. A link that protects two groups
//! of traffic classes separately has two sequence spaces, 0 and 1.
//!
//! ```text
//! data:  type:2 channel:1 era:1 retransmitted:1 dummy:1 blocking:1 rx_buffered:1 | sequence:16
//! ack:   type:2 piggybacked:1 era:1 channel:1 pad:3                          | acknowledged:16
//! loss:  count:8 | first_lost:16            (follows an ack header of type 2)
//! ```

mod control;
mod header;
mod on_links;
mod sequence;

pub use control::{ControlHeader, Level, Message};
pub use header::{AckHeader, DataHeader, LossNotification, PacketType};
pub use on_links::ON_LINKS;
pub use sequence::{Era, SequenceNumber};
