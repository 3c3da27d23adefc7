//! Topology: hosts, switches, and the links between them.
//!
//! A [`Topology`] is plain data: a [`TopologyBuilder`] or one of the shapes builds it once, and it never changes. Ports
//! are numbered in the order of added links, so the same description always gives the same port numbers.
//! Of the changes of a link during a run, only the range of its rates and delays is part of it.

mod build;
mod division;
mod nodes;
mod planes;
mod round_trip;
pub mod select;
mod settings;
pub(crate) mod shapes;

pub use build::{DELAY_MAX, HOST_PORTS_MAX, LINKS_MAX, TopologyBuilder};
pub use division::Division;
pub use nodes::{
    DirectedLink, Direction, Endpoint, Host, LineRange, Link, LinkId, LinkSpec, Node, Port, Switch, SwitchId, Tier,
    Topology,
};
pub use planes::Planes;
pub use round_trip::Crossing;
pub use settings::{Graph, GraphLink, TopologySettings};
pub use shapes::{Chain, Dumbbell, FatTree, FatTreeWiring, LeafSpine};
