use crate::topology::{LinkId, Shape, Topology, rate_of};
use crate::{LossRate, Problem};

/// Maximum time: 34,000 years leave room for repairs. Later times are refused.
pub const LATEST_S: u64 = 1 << 40;

/// A link begins to corrupt frames, or changes its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    pub time_s: u64,
    pub link: LinkId,
    pub loss: LossRate,
}

/// Failures of a topology's links, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Name for people.
    pub name: String,
    /// Shape of its topology.
    pub shape: Shape,
    /// Speed of its topology's links, in Gb/s; the published format has one value for all.
    pub link_gbps: f64,
    /// Number of links of its topology.
    pub links: usize,
    /// The failures; in the published files in order of time, each at a different second.
    pub failures: Vec<Failure>,
}

/// The reason why a trace does not fit a topology, and a hint.
type Misfit = (String, &'static str);

const HINT_OWN: &str = "leave --topology out to take the trace's own";

impl Trace {
    /// Builds the topology of the trace; `place` names the trace.
    pub fn own_topology(&self, place: &str) -> Result<Topology, Problem> {
        let refused = |what: String| Problem::new(what, format!("{place}, topo_params"));
        let rate = rate_of(self.link_gbps)
            .ok_or_else(|| refused(format!("links of {} Gb/s carry nothing", self.link_gbps)))?;
        if let Shape::Custom { .. } = self.shape {
            return Err(Problem::new("the trace was made for a topology from a file", place)
                .hint("name that file with --topology"));
        }
        self.shape.clone().build(rate).map_err(refused)
    }

    /// The seconds of the first and the last failure; `None` without failures.
    pub fn span_s(&self) -> Option<(u64, u64)> {
        let times = || self.failures.iter().map(|failure| failure.time_s);
        times().min().zip(times().max())
    }

    /// Refuses a trace that was made for another topology; `place` names the trace.
    pub fn check_for(&self, topology: &Topology, place: &str) -> Result<(), Problem> {
        let misfit = match (&self.shape, &topology.shape) {
            (Shape::Custom { .. }, Shape::Custom { .. }) => self.misfit_of_count(topology),
            // Links of a topology from a file can have different speeds, which a single number cannot describe, so only
            // shapes are compared by speed.
            _ => self.misfit_of_shape(topology).or_else(|| self.misfit_of_speed(topology)),
        };
        match misfit.or_else(|| self.misfit_of_numbers(topology)) {
            Some((what, hint)) => Err(Problem::new(what, place).hint(hint)),
            None => Ok(()),
        }
    }

    fn misfit_of_count(&self, topology: &Topology) -> Option<Misfit> {
        let links = topology.links.len();
        let what = || format!("the trace was made for {} links, and the topology has {links}", self.links);
        let hint = "name the file as it was then with --topology, or draw a new trace for this one";
        (self.links != links).then(|| (what(), hint))
    }

    fn misfit_of_shape(&self, topology: &Topology) -> Option<Misfit> {
        let hint = match self.shape {
            Shape::Custom { .. } => "name the file that it was made for with --topology",
            _ => HINT_OWN,
        };
        let what = || format!("the trace was made for {}, not for {}", self.shape, topology.shape);
        (self.shape != topology.shape).then(|| (what(), hint))
    }

    fn misfit_of_speed(&self, topology: &Topology) -> Option<Misfit> {
        let rate = topology.links[0].rate;
        let gbps = rate.as_bps() as f64 / 1e9;
        let what =
            || format!("the trace was made for links of {} Gb/s, and the topology's have {gbps}", self.link_gbps);
        (rate_of(self.link_gbps) != Some(rate)).then(|| (what(), HINT_OWN))
    }

    fn misfit_of_numbers(&self, topology: &Topology) -> Option<Misfit> {
        let last = topology.links.len() - 1;
        let outside = self.failures.iter().find(|failure| failure.link.index() > last)?;
        let what = format!("link {} fails in the trace, and the topology has links 0 to {last}", outside.link.0);
        Some((what, "links are numbered from 0, those of the ToR switches first"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{from_spec, from_text};
    use crate::trace::{Hazard, generate};

    const FILE: &str = "switch t 0\nswitch s 1\nlink t s 100\n";

    fn drawn(topology: &Topology) -> Trace {
        generate(topology, &Hazard::default(), 1, "t").unwrap()
    }

    #[test]
    fn a_trace_whose_own_topology_cannot_be_built_is_told_by_its_file() {
        let shape = Shape::Fabric { pods: 0, tors: 2, oversubscription: 1.0 };
        let trace = Trace { shape, ..drawn(&from_spec("fabric:pods=1,tors=2").unwrap()) };
        let problem = trace.own_topology("trace.json").unwrap_err();
        assert_eq!(problem.place, "trace.json, topo_params");
        assert!(problem.what.contains("pods"), "{problem}");
    }

    #[test]
    fn speeds_that_no_sum_could_hold_are_refused_in_a_trace_as_well() {
        for (link_gbps, part) in [(1e300, "at most"), (1e9, "at most"), (0.0, "carry nothing"), (-5.0, "carry nothing")]
        {
            let trace = Trace { link_gbps, ..drawn(&from_spec("fat-tree:ports=4").unwrap()) };
            let problem = trace.own_topology("trace.json").unwrap_err();
            assert!(problem.what.contains(part), "{link_gbps}: {problem}");
            assert_eq!(problem.place, "trace.json, topo_params");
        }
    }

    #[test]
    fn a_trace_of_a_file_that_was_changed_says_how_many_links_each_has() {
        let trace = drawn(&from_text(FILE, "net").unwrap());
        for (more, links) in [("link t s 100\n", 2), ("link t s 100\nlink t s 100\n", 3)] {
            let topology = from_text(&format!("{FILE}{more}"), "net").unwrap();
            let problem = trace.check_for(&topology, "trace.json").unwrap_err();
            assert_eq!(problem.what, format!("the trace was made for 1 links, and the topology has {links}"));
            // A failure of a missing link must not hide that the file is a different one.
            let problem = drawn(&topology).check_for(&from_text(FILE, "net").unwrap(), "trace.json").unwrap_err();
            assert_eq!(problem.what, format!("the trace was made for {links} links, and the topology has 1"));
        }
    }

    #[test]
    fn what_a_trace_was_made_for_is_told_in_the_words_of_the_option() {
        let (file, tree) = (from_text(FILE, "net").unwrap(), from_spec("fat-tree:ports=4").unwrap());
        let cases = [
            (&file, &tree, "the file net, not for fat-tree:ports=4", "name the file"),
            (&tree, &file, "fat-tree:ports=4, not for the file net", "leave --topology out"),
        ];
        for (own, other, part, hint) in cases {
            let problem = drawn(own).check_for(other, "trace.json").unwrap_err();
            assert!(problem.what.ends_with(part) && problem.hint.starts_with(hint), "{problem}");
        }
    }

    #[test]
    fn a_topology_with_links_of_another_speed_is_not_that_of_the_trace() {
        let topology = |gbps| from_spec(&format!("fat-tree:ports=4,gbps={gbps}")).unwrap();
        let problem = drawn(&topology(100)).check_for(&topology(400), "trace.json").unwrap_err();
        assert_eq!(problem.what, "the trace was made for links of 100 Gb/s, and the topology's have 400");
    }
}
