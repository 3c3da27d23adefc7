//! Traces: which link begins to corrupt when, and how badly.

mod generate;
mod json;

use hitless_wire::BitRate;

use crate::topology::{LinkId, Shape, Topology, fabric, fat_tree, leaf_spine};
use crate::{LossRate, Problem};

pub use generate::{Hazard, generate};
pub use json::{from_json, to_json};

/// Times beyond this are refused: 34,000 years leave room for repairs.
pub const LATEST_S: u64 = 1 << 40;

/// A link begins to corrupt frames, or does so at another rate than before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// When, in seconds.
    pub time_s: u64,
    /// Which link.
    pub link: LinkId,
    /// How badly.
    pub loss: LossRate,
}

/// Failures of the links of one topology, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What people call it.
    pub name: String,
    /// The topology that it was made for.
    pub shape: Shape,
    /// Speed of the links there, in Gb/s; the published format has one for all.
    pub link_gbps: f64,
    /// Number of links there.
    pub links: usize,
    /// The failures; in the published files by time, each at a second of its own.
    pub failures: Vec<Failure>,
}

impl Trace {
    /// The topology that it was made for; `place` names the trace.
    pub fn own_topology(&self, place: &str) -> Result<Topology, Problem> {
        let rate = BitRate::from_bps((self.link_gbps * 1e9).round() as u64)
            .ok_or_else(|| Problem::new(format!("links of {} Gb/s carry nothing", self.link_gbps), place))?;
        match self.shape {
            Shape::Fabric { pods, tors, oversubscription } => fabric(pods, tors, oversubscription, rate),
            Shape::FatTree { ports } => fat_tree(ports, rate),
            Shape::LeafSpine { leaves, spines } => leaf_spine(leaves, spines, rate),
            Shape::Custom { .. } => Err(Problem::new("the trace was made for a topology from a file", place)
                .hint("name that file with --topology")),
        }
    }

    /// Refuses a trace that was made for another topology; `place` names the trace.
    pub fn check_for(&self, topology: &Topology, place: &str) -> Result<(), Problem> {
        let links = topology.links().len();
        let is_same = match (&self.shape, topology.shape()) {
            (Shape::Custom { .. }, Shape::Custom { .. }) => self.links == links,
            (made_for, given) => made_for == given,
        };
        let outside = self.failures.iter().find(|failure| failure.link.index() >= links);
        if let Some(failure) = outside {
            let what =
                format!("link {} fails in the trace, and the topology has links 0 to {}", failure.link.0, links - 1);
            return Err(Problem::new(what, place).hint("name the topology that the trace was made for"));
        }
        if !is_same {
            let what = format!("the trace was made for {:?}, not for {:?}", self.shape, topology.shape());
            return Err(Problem::new(what, place).hint("leave --topology out to take the trace's own"));
        }
        Ok(())
    }
}
