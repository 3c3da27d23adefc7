//! The format of frames between two switches in different processes or boxes that protect the link between them.
//!
//! A frame of a host is carried whole in a frame of the link, so that any type, any length and any addresses survive:
//!
//! ```text
//!  0       6       12     14        15       16              ...            + 2
//! +-------+-------+------+---------+--------+---------------+--------------+-------------+---------+
//! | to    | from  | type | version | shims  | kind | bytes  | inner length | inner frame | padding |
//! |       |       |      |         | and I  | one per shim  | (I only)     | (I only)    | to 60   |
//! +-------+-------+------+---------+--------+---------------+--------------+-------------+---------+
//! ```
//!
//! Version is [`VERSION`]. The next byte holds the number of shims (bits 0-3) and in bit 7, I, whether a frame is
//! carried; acknowledgements, loss notifications, dummies and pause frames carry no frame. Bits 4-6 are zero. A shim is
//! its kind followed by the bytes that the [`ShimStack`] keeps; the kind determines their number. Kind 9 is the mark of
//! a priority, 10 the count of detours, and each mechanism that uses headers on links has further kinds
//! ([`LinkHeaders`]). The inner frame runs from its destination address to its end, including padding, without check
//! sequence. Numbers are in network order.
//!
//! The default type is the first of the two for local experiments ([`EtherType::EXPERIMENTAL_1`]). There is no
//! authentication: see docs/reference/security.md.
//!
//! **Length.** LinkGuardian's paper adds 3 bytes for data and 3 for a piggybacked acknowledgement, and so does the
//! simulator ([`crate::wire::Shim::WIRE_BYTES`]). This format adds up to 26 bytes instead.

mod codec;
mod format;
mod headers;
mod refusal;

pub use codec::{CannotEncode, put_captured};
pub use format::{ADDED_BYTES_WITH_ALL_SHIMS, INNER_BYTES_MAX, LinkFormat, LinkFrame, VERSION, inner_mtu, outer_mtu};
pub use headers::{LinkHeader, LinkHeaderSet, LinkHeaders, PRIORITIES, parse};
pub use refusal::{Refusal, RefusalCounters};
