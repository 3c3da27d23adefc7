//! A fabric between real nodes.
//!
//! In a simulation every node is software. In a live run some nodes are real: hosts, and switches that run elsewhere. A
//! frame that arrives at such a node's end of a link goes to an outbox; a frame from the node is an arrival on the link
//! towards the switches here. Everything between is the same code under the same event queue. A [`LiveFabric`] is a
//! [`Run`](hitless_simulation::run::Run) with [`external`] as its edge.

mod admission;
mod bridge;
mod buffers;
mod capture_files;
mod captures;
mod command;
mod counts;
mod decision;
mod departures;
mod edge;
mod external;
mod frames;
mod live;
mod points;
mod settings;
mod view;
mod wire;

pub use bridge::{Bridge, BridgeCounters};
pub use capture_files::{CAPTURE_CHUNKS, OpenCapture};
pub use command::{LiveCommand, Order};
pub use counts::{FrameCounts, Refused};
pub use decision::{Action, Decision};
pub use departures::Leaving;
pub use external::{Departure, EVERYONE, Witness};
pub use live::LiveFabric;
pub use points::Point;
pub use settings::LiveSettings;
pub use view::FabricView;
