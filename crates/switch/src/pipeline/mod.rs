//! The path of a packet, one file per stage, in order: [`receive`], [`ingress`], [`traffic_manager`], [`egress`],
//! [`transmit`]. [`fast_path`] combines all stages for packets that only a queue decides about. [`by_flow`] and
//! [`by_rank`] are the traffic manager of ports with these disciplines, [`lossless`] admits lossless packets.
//! [`tm_drop`] handles packets without room, [`pause`] the pause frames of link partners, [`credits`] their credits,
//! and [`watchdog`] long pauses.

mod by_flow;
mod by_rank;
mod credits;
mod egress;
mod fast_path;
mod ingress;
mod lossless;
mod pause;
mod receive;
mod tm_drop;
mod traffic_manager;
mod transmit;
mod watchdog;

pub use fast_path::Shortcut;
