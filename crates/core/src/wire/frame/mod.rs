//! Real Ethernet frames: what a switch reads in one, and the one thing that it writes into it.
//!
//! [`Frame::parse`] goes through a frame once, without allocating, and returns what the switch model needs; any bytes
//! may come, and none make it panic. What it cannot read it does not guess: such a frame keeps its addresses and its
//! type, which is enough to forward it and to keep its order. [`mark_ce`] writes the mark of congestion.
//!
//! A frame here runs from the destination address to the end of the payload or padding: a packet socket shows no
//! frame check sequence. [`crate::wire::Packet::frame_bytes`] counts it all the same; see [`frame_bytes`].

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
