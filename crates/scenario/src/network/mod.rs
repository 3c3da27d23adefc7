//! The network: how nodes are connected, which paths packets take, and the properties of links and switches.
//!
//! Each part contains its settings, in the form of the scenario file. Read `topology` first, then `routing`.

pub mod link;
pub mod loss;
pub mod recovery;
pub mod routing;
pub mod switch;
pub mod topology;
