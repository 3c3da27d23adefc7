//! A network: who is joined to whom, by which path packets go, and what its links and switches are like.
//!
//! Each part has its settings beside it, as a scenario file writes them.

pub mod link;
pub mod loss;
pub mod recovery;
pub mod routing;
pub mod switch;
pub mod topology;
