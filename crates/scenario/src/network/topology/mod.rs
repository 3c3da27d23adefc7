//! Topology: hosts, switches, and the links between them.
//!
//! Plain data: a [`Topology`] is built once by a [`TopologyBuilder`] (or one of the shapes) and never
//! changes afterwards. Ports are numbered in the order in which links were added, so the same description always
//! gives the same port numbers. What happens *to* a link during a run (loss, going down) is not here.

mod build;
mod division;
mod nodes;
pub mod select;
mod settings;
pub(crate) mod shapes;

pub use build::{DELAY_MAX, LINKS_MAX, TopologyBuilder};
pub use division::Division;
pub use nodes::{
    DirectedLink, Direction, Endpoint, Host, Link, LinkId, LinkSpec, Node, Port, Switch, SwitchId, Tier, Topology,
};
pub use settings::{Graph, GraphLink, TopologySettings};
pub use shapes::{Chain, Dumbbell, FatTree, FatTreeWiring, LeafSpine};
