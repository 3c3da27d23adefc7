//! The way of a packet, one stage a file, in its order: [`receive`], [`ingress`], [`traffic_manager`], [`egress`],
//! [`transmit`]. [`fast_path`] goes all of it in one step where nobody but the queue has a say. [`by_flow`] and
//! [`by_rank`] are the traffic manager at ports that queue so, [`tm_drop`] is what it does with packets for which it
//! has no room, and [`pause`] what link partners have it do.

mod by_flow;
mod by_rank;
mod egress;
mod fast_path;
mod ingress;
mod pause;
mod receive;
mod tm_drop;
mod traffic_manager;
mod transmit;

pub use fast_path::Shortcut;
