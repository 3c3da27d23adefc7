//! Real Ethernet frames: the fields that a switch reads, and the one mark that it writes.
//!
//! [`Frame::parse`] goes through a frame once, without allocating, and returns the fields that the switch model needs.
//! It accepts any bytes without panicking. It does not guess: a frame that it cannot read keeps its addresses and its
//! type, which is enough to forward it and to keep its order. [`mark_ce`] writes the mark of congestion.
//!
//! A frame here runs from the destination address to the end of the payload or padding: a packet socket does not
//! deliver the frame check sequence. [`crate::wire::Packet::frame_bytes`] does count it; see [`frame_bytes`].

mod ethernet;
mod flow;
mod ip;
mod marks;
mod parse;

pub use ethernet::{
    CHECK_SEQUENCE_BYTES, ETHERNET_HEADER_BYTES, EtherType, FrameTooShort, MINIMUM_BYTES, MacAddress, VlanTag,
    VlanTags, frame_bytes,
};
pub use flow::{FlowHashSeed, FlowKey};
pub use ip::{Fragment, IpHeader, Ports};
pub use marks::{mark_ce, rank_of_dscp};
pub use parse::Frame;
