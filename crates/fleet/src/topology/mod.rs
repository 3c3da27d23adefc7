//! Topologies of a fleet: [`tiers`] defines the structure, the other files build it.

mod builder;
mod file;
mod shape;
mod shapes;
mod spec;
mod tiers;

pub use builder::Builder;
pub use file::from_text;
pub use shape::Shape;
pub use spec::{from_spec, is_spec};
pub use tiers::{Link, LinkId, Switch, SwitchId, Topology, rate_of};
