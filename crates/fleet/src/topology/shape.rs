use std::fmt;

/// The description of a topology.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The Facebook fabric: pods of ToR switches under four fabric switches, each in a plane of spines.
    Fabric {
        pods: usize,
        /// ToR switches of each pod.
        tors: usize,
        /// Ratio of ToR switches of a pod to spines of a plane.
        oversubscription: f64,
    },
    /// A fat tree of switches with `ports` ports.
    FatTree {
        /// Number of ports of each switch; even.
        ports: usize,
    },
    /// Leaves, each connected to every spine.
    LeafSpine { leaves: usize, spines: usize },
    /// A topology from a file.
    Custom { name: String },
}

impl fmt::Display for Shape {
    /// Writes the shape in the form of `--topology`, without the speed of the links.
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
