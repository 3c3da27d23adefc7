//! Real Ethernet frames: what a switch reads in one, and the one thing that it writes into it.
//!
//! [`Frame::parse`] goes through a frame once, without allocating, and returns what the switch model needs; any bytes
//! may come, and none make it panic. What it cannot read it does not guess: such a frame keeps its addresses and its
//! type, which is enough to forward it and to keep its order. [`mark_ce`] writes the mark of congestion.
//!
//! A frame here runs from the destination address to the end of the payload or padding: a packet socket shows no
//! frame check sequence. [`crate::wire::Packet::frame_bytes`] counts it all the same; see [`frame_bytes`].

mod bytes;
mod describe;
mod ethernet;
mod flow;
mod ip;
mod lengths;
mod mark;
mod parse;
mod priority;

pub use ethernet::{EtherType, FrameTooShort, MacAddress, VlanTag, VlanTags};
pub use flow::{FlowHashSeed, FlowKey};
pub use ip::{Fragment, IpHeader, Ports};
pub use lengths::{CHECK_SEQUENCE_BYTES, ETHERNET_HEADER_BYTES, MINIMUM_BYTES, frame_bytes};
pub use mark::mark_ce;
pub use parse::Frame;
pub use priority::rank_of_dscp;
