//! All hosts of a partition: network cards, stacks and the flows between them, as one state machine without I/O.
//!
//! A driver owns a [`Hosts`], the clock and the packet store. It calls [`Hosts::receive`] when the last bit of a
//! packet has arrived at a host and [`Hosts::handle`] when an event comes due that was scheduled through its
//! [`HostEnvironment`]. A packet goes
//!
//! ```text
//! application -> transport -> [priority tagger] -> [send delay] -> network card -> HostEnvironment::transmit
//! application <- transport <- [reorder buffer] <- [receive delay] <- Hosts::receive
//! ```
//!
//! where a delay of zero takes no event, GRO stands in the place of the receive delay, and priority tagger and
//! reorder buffer are there only if asked for. A sender that could go on is held back while its card has a backlog,
//! and all that wait are served in turn, a packet each, when it has drained.
//!
//! The two ends of a flow talk by packets only, so that they may be in different partitions, each with a `Hosts` of
//! its own in which all hosts are known. The sending end ends when it knows that everything has arrived. The receiving
//! end learns that a constant time later, as from the end of a connection ([`HostEnvironment::sender_ended`]): until
//! then it is there to acknowledge again. Packets that arrive later are strays, counted and dropped. What each end
//! leaves behind is joined at the end of a run ([`crate::FlowRecords`]). Where a client asks first, and where messages
//! are appended, the ends are one and in one partition.
//!
//! Not here yet: pause frames from the switch.

mod appended;
mod card_timing;
mod config;
mod connection;
mod deliveries;
mod environment;
mod event;
mod flow_endpoints;
mod flow_table;
mod gro;
mod half_connection;
mod hosts;
mod message;
mod network_card;
mod payload;
mod priority_tagger;
mod progress;
mod reorder_buffer;
mod rpc;
mod state;
mod timers;

#[cfg(test)]
mod tests;

pub use card_timing::CardClock;
pub use config::HostConfig;
pub use environment::{HostDrop, HostEnvironment};
pub use event::{Direction, HostEvent, Side, Timer};
pub use gro::GroConfig;
pub use hosts::{HostTotals, Hosts};
pub use network_card::{NetworkCard, NetworkCardConfig, QueueCapacity};
