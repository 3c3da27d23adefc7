//! All hosts of a partition: network cards, stacks and the flows between them, as one state machine without I/O.
//!
//! A driver owns a [`Hosts`], the clock and the packet store. It calls [`Hosts::receive`] when the last bit of a packet
//! has arrived at a host, and [`Hosts::handle`] when an event is due that was scheduled through its
//! [`HostEnvironment`]. The path of a packet:
//!
//! ```text
//! application -> transport -> [priority tagger] -> [send delay] -> network card -> HostEnvironment::transmit
//! application <- transport <- [reorder buffer] <- [receive delay] <- Hosts::receive
//! ```
//!
//! A delay of zero needs no event. GRO replaces the receive delay. The priority tagger and the reorder buffer are
//! optional. A sender is held back while its card has a backlog; when the card has drained, the waiting senders take
//! turns, one packet each. A host with several links has a card for each (`ports`), and so has a host with a link that
//! changes its rate or delay (`changing_line`).
//!
//! The two ends of a flow communicate only by packets, so they can be in different partitions. Each partition has a
//! `Hosts` that knows all hosts. The sending end closes when it knows that everything has arrived. The receiving end
//! learns this a constant time later, as from the close of a connection ([`HostEnvironment::sender_ended`]); until then
//! it can repeat acknowledgements. Later packets are strays, counted and dropped. The records of both ends are joined
//! at the end of a run ([`crate::FlowRecords`]). For requests and appended messages both ends must be in the same
//! partition.

mod appended;
mod card_credits;
mod card_signals;
mod card_timing;
mod changing_line;
mod class_queues;
mod class_turns;
mod config;
mod connection;
mod credit_pacer;
mod credit_turns;
mod deliveries;
mod environment;
mod event;
mod flow_endpoints;
mod flow_table;
mod gro;
mod half_connection;
mod hosts;
mod network_card;
mod payload;
mod port_turns;
mod ports;
mod priority_tagger;
mod progress;
mod reorder_buffer;
mod rpc;
mod starts;
mod state;
mod timers;
mod waits;

#[cfg(test)]
mod tests;

pub use card_timing::CardClock;
pub use config::{CardCreditsConfig, CardFlowControl, HostConfig};
pub use environment::{HostDrop, HostEnvironment};
pub use event::{Direction, FlowEnd, HostEvent, HostStep, Lane, Side, Timer, Wake};
pub use gro::GroConfig;
pub use hosts::{HostTotals, Hosts};
pub use network_card::{NetworkCard, NetworkCardConfig, QueueCapacity};
pub use payload::position;
pub use ports::{PortConfig, Uplink};
pub use waits::{FlowWait, ReceiverWait};
