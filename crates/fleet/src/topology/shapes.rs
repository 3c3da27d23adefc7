//! The shapes that have a name.

use std::fmt;

use hitless_wire::BitRate;

use super::{Builder, Topology};

/// Planes of the Facebook fabric: every ToR has four uplinks.
const FABRIC_PLANES: usize = 4;

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

/// Pods of equal ToR switches, each joined to every plane's switch of the pod, which is joined to its plane's spines.
struct Pods {
    pods: usize,
    tors: usize,
    planes: usize,
    spines_per_plane: usize,
    /// Pipes of a ToR, of a switch in the middle, and of a spine.
    pipes: [Option<usize>; 3],
}

/// The Facebook fabric with `tors` ToR switches in each pod and `tors / oversubscription` spines in each plane.
///
/// Numbers of links and of pipes (2 of a ToR, 6 of a fabric switch) are those of the published simulator. An error says
/// what is wrong; where the numbers stand is known to the caller.
pub fn fabric(pods: usize, tors: usize, oversubscription: f64, rate: BitRate) -> Result<Topology, String> {
    let spines_per_plane = (tors as f64 / oversubscription) as usize;
    if pods == 0 || tors == 0 || spines_per_plane == 0 {
        return Err("a fabric has pods, ToR switches and a spine in every plane".into());
    }
    let pipes = [Some(2), Some(6), None];
    let size = Pods { pods, tors, planes: FABRIC_PLANES, spines_per_plane, pipes };
    size.build(Shape::Fabric { pods, tors, oversubscription }, rate)
}

/// The fat tree of switches with `ports` ports (Al-Fares et al., SIGCOMM 2008). Errors as of [`fabric`].
pub fn fat_tree(ports: usize, rate: BitRate) -> Result<Topology, String> {
    if ports < 2 || ports % 2 == 1 {
        return Err("a fat tree's switches have an even number of ports".into());
    }
    let half = ports / 2;
    let size = Pods { pods: ports, tors: half, planes: half, spines_per_plane: half, pipes: [None; 3] };
    size.build(Shape::FatTree { ports }, rate)
}

/// Every leaf joined to every spine; link numbers leaf by leaf. Errors as of [`fabric`].
pub fn leaf_spine(leaves: usize, spines: usize, rate: BitRate) -> Result<Topology, String> {
    if leaves == 0 || spines == 0 {
        return Err("a leaf-spine has leaves and spines".into());
    }
    let mut builder = Builder::new(Shape::LeafSpine { leaves, spines });
    let leaf_ids = (0..leaves).map(|_| builder.switch(0, None)).collect::<Result<Vec<_>, _>>()?;
    let spine_ids = (0..spines).map(|_| builder.switch(1, None)).collect::<Result<Vec<_>, _>>()?;
    for &leaf in &leaf_ids {
        for &spine in &spine_ids {
            builder.link(leaf, spine, rate)?;
        }
    }
    builder.finish()
}

impl Pods {
    /// Links between ToR and middle first, pod by pod; then spine by spine, each to all pods.
    fn build(&self, shape: Shape, rate: BitRate) -> Result<Topology, String> {
        let mut builder = Builder::new(shape);
        let mut middles = Vec::new();
        for _ in 0..self.pods {
            let tors = (0..self.tors).map(|_| builder.switch(0, self.pipes[0])).collect::<Result<Vec<_>, _>>()?;
            let planes = (0..self.planes).map(|_| builder.switch(1, self.pipes[1])).collect::<Result<Vec<_>, _>>()?;
            for &tor in &tors {
                for &plane in &planes {
                    builder.link(tor, plane, rate)?;
                }
            }
            middles.push(planes);
        }
        for plane in 0..self.planes {
            for _ in 0..self.spines_per_plane {
                let spine = builder.switch(2, self.pipes[2])?;
                for planes in &middles {
                    builder.link(planes[plane], spine, rate)?;
                }
            }
        }
        builder.finish()
    }
}
