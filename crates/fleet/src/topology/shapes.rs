use hitless_core::wire::BitRate;

use super::builder::Builder;
use super::shape::Shape;
use super::tiers::Topology;

/// Planes of the Facebook fabric: every ToR has four uplinks.
const FABRIC_PLANES: usize = 4;

impl Shape {
    /// Builds the topology of this shape, with links of one rate. The error is a sentence; the caller knows the place
    /// of the numbers.
    ///
    /// The numbers of links and pipes of a fabric (2 pipes of a ToR, 6 of a fabric switch) are those of the published
    /// simulator. The fat tree follows Al-Fares et al., SIGCOMM 2008. The links of a leaf-spine are numbered leaf by
    /// leaf.
    pub fn build(self, rate: BitRate) -> Result<Topology, String> {
        let pipes = [None; 3];
        match self {
            Self::Fabric { pods, tors, oversubscription } => {
                let spines_per_plane = (tors as f64 / oversubscription) as usize;
                if pods == 0 || tors == 0 || spines_per_plane == 0 {
                    return Err("a fabric has pods, ToR switches and a spine in every plane".into());
                }
                let pipes = [Some(2), Some(6), None];
                Pods { pods, tors, planes: FABRIC_PLANES, spines_per_plane, pipes }.build(self, rate)
            }
            Self::FatTree { ports } => {
                if ports < 2 || ports % 2 == 1 {
                    return Err("a fat tree's switches have an even number of ports".into());
                }
                let half = ports / 2;
                Pods { pods: ports, tors: half, planes: half, spines_per_plane: half, pipes }.build(self, rate)
            }
            Self::LeafSpine { leaves, spines } => leaf_spine(self, leaves, spines, rate),
            Self::Custom { .. } => Err(format!("{self} says what it is like, and its name does not")),
        }
    }
}

fn leaf_spine(shape: Shape, leaves: usize, spines: usize, rate: BitRate) -> Result<Topology, String> {
    if leaves == 0 || spines == 0 {
        return Err("a leaf-spine has leaves and spines".into());
    }
    let mut builder = Builder::new(shape);
    let leaf_ids = (0..leaves).map(|_| builder.switch(0, None)).collect::<Result<Vec<_>, _>>()?;
    let spine_ids = (0..spines).map(|_| builder.switch(1, None)).collect::<Result<Vec<_>, _>>()?;
    for &leaf in &leaf_ids {
        for &spine in &spine_ids {
            builder.link(leaf, spine, rate)?;
        }
    }
    builder.finish()
}

/// Pods of equal ToR switches. Each ToR is connected to all plane switches of its pod, and each plane switch to the
/// spines of its plane.
struct Pods {
    pods: usize,
    tors: usize,
    planes: usize,
    spines_per_plane: usize,
    /// Number of pipes of a ToR, of a middle switch, and of a spine.
    pipes: [Option<usize>; 3],
}

impl Pods {
    /// Builds the links between ToR and middle first, pod by pod; then spine by spine, each to all pods.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::LinkId;

    fn build(shape: Shape) -> Result<Topology, String> {
        shape.build(BitRate::from_gbps(100))
    }

    fn fabric(pods: usize, tors: usize, oversubscription: f64) -> Result<Topology, String> {
        build(Shape::Fabric { pods, tors, oversubscription })
    }

    #[test]
    fn the_facebook_fabric_has_the_numbers_of_the_published_simulator() {
        let topology = fabric(261, 48, 1.0).unwrap();
        assert_eq!(topology.links.len(), 100_224);
        assert_eq!(topology.pods.len(), 261);
        assert_eq!(topology.paths_of(topology.pods[0][0]), 192);
        // Link numbers: pod*4T + tor*4 + plane, then pods*4T + (plane*C + spine)*pods + pod.
        let uplink = LinkId(3 * 192 + 7 * 4 + 2);
        assert_eq!((topology.pod_of(uplink), topology.tors_below(uplink)), (3, vec![topology.pods[3][7]]));
        let spine_link = LinkId(261 * 192 + (2 * 48 + 5) * 261 + 3);
        assert_eq!((topology.pod_of(spine_link), topology.tors_below(spine_link).len()), (3, 48));
        assert_eq!(topology.link(uplink).upper, topology.link(spine_link).lower);
    }

    #[test]
    fn paths_of_the_other_shapes() {
        let tree = build(Shape::FatTree { ports: 8 }).unwrap();
        assert_eq!((tree.links.len(), tree.pods.len(), tree.paths_of(tree.pods[7][3])), (256, 8, 16));
        let leaves = build(Shape::LeafSpine { leaves: 6, spines: 4 }).unwrap();
        assert_eq!((leaves.links.len(), leaves.pods.len(), leaves.paths_of(leaves.pods[5][0])), (24, 6, 4));
    }

    #[test]
    fn a_shape_that_cannot_be_built_is_refused() {
        assert!(fabric(0, 48, 1.0).is_err());
        assert!(fabric(1, 48, 100.0).is_err());
        assert!(build(Shape::FatTree { ports: 7 }).is_err());
        assert!(build(Shape::LeafSpine { leaves: 5_000, spines: 5_000 }).is_err());
    }
}
