//! The run of a scenario.
//!
//! [`build`] makes a [`Run`] from a checked scenario. It consists of a `network` of hosts, switches and links, and of
//! the parts that start flows, apply changes, repair failures and take samples. The `event_loop` pops events in their
//! total order and dispatches each; `outcome` checks at the end that no packet is unaccounted for. There are no
//! global variables: switches and hosts share one `shared::Shared`, so a network can be divided into `partitions`
//! that run on separate threads.

mod autopsy;
mod build;
mod capture;
mod checkpoint;
mod closed_loops;
mod control_plane;
mod drops;
mod edge;
mod environment;
mod event;
mod event_loop;
mod fabric;
mod flow_starts;
mod global;
mod group_totals;
mod hand_over;
mod look_ahead;
mod lossless;
mod network;
mod order;
mod outcome;
mod partitions;
mod protection;
mod records;
mod recovery;
mod rows;
mod sampling;
mod session;
mod shared;
mod simulation;
mod stalls;
mod streaming;
mod tables;
mod trial;

pub use build::{build, network_card};
pub use checkpoint::Resumable;
pub use control_plane::Change;
pub use edge::{Closed, Edge, RealFrame};
pub use event_loop::{Landing, Run};
pub use outcome::stop;
pub use protection::ProtectionControl;
pub use session::{ReceiveCounters, Session};
pub use simulation::Simulation;
pub use tables::{Counted, counted};
