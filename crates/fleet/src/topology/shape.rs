//! What a topology was made as.

use std::fmt;

/// What a topology was made as.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The Facebook fabric: pods of ToR switches under four fabric switches, each in a plane of spines.
    Fabric {
        /// Number of pods.
        pods: usize,
        /// ToR switches of each.
        tors: usize,
        /// ToR switches of a pod over spines of a plane.
        oversubscription: f64,
    },
    /// A fat tree of switches with `ports` ports.
    FatTree {
        /// Ports of each switch, an even number.
        ports: usize,
    },
    /// Leaves, each joined to every spine.
    LeafSpine {
        /// Number of leaves.
        leaves: usize,
        /// Number of spines.
        spines: usize,
    },
    /// From a file.
    Custom {
        /// The file's name.
        name: String,
    },
}

impl fmt::Display for Shape {
    /// As `--topology` takes it, but for the speed of the links.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fabric { pods, tors, oversubscription } => {
                write!(f, "fabric:pods={pods},tors={tors},oversubscription={oversubscription}")
            }
            Self::FatTree { ports } => write!(f, "fat-tree:ports={ports}"),
            Self::LeafSpine { leaves, spines } => write!(f, "leaf-spine:leaves={leaves},spines={spines}"),
            Self::Custom { name } if name.is_empty() => write!(f, "a file"),
            Self::Custom { name } => write!(f, "the file {name}"),
        }
    }
}
