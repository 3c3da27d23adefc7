//! Benchmark workloads of the simulation engine; [`switch`] benchmarks a single switch.

pub mod switch;

use hitless_core::engine::Progress;
use hitless_core::settings::SettingsError;
use hitless_scenario::kind::Registry;
use hitless_scenario::workload::{FlowSize, FlowSpec};
use hitless_scenario::{Scenario, check};

use crate::results::Outcome;
use crate::run::Simulation;

/// A workload of `hitless bench engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// A letter, or the name of the feature that the workload adds to a lettered one.
    pub name: &'static str,
    /// The scenario file, one of the examples.
    text: &'static str,
    /// A piece of that text and its replacement.
    instead: (&'static str, &'static str),
    /// Sections appended to the text.
    more: &'static [&'static str],
    /// A section for each direction `{link}` between the leaves and spines of B, or one for all `{links}`.
    on_links: &'static str,
}

const A: &str = include_str!("../../../../examples/bench-a.toml");
const B: &str = include_str!("../../../../examples/bench-b.toml");
const C: &str = include_str!("../../../../examples/bench-c.toml");
const D: &str = include_str!("../../../../examples/bench-d.toml");
const W: &str = include_str!("../../../../examples/bench-w.toml");

/// All workloads; data/README.md describes A, B and C. D is a permutation on a fat tree of 8,192 hosts; E, fat-tree-128
/// and fat-tree-1024 are the same on 65,536, 128 and 1,024 hosts. F runs LinkGuardian on two corrupting links, AFQ at
/// the spines and Preemptive Deflection at the leaves. The last workloads add one thing each: two queues of strict
/// priority to the ports of B, LinkGuardian to two links of A, AFQ to all ports of A, deflection to all ports of C (one
/// is busy), LinkGuardian or SQR to all 64 directions between the leaves and spines of B, without a loss, and autopsies
/// to B.
pub const WORKS: [Work; 16] = [
    workload("A", A),
    workload("B", B),
    workload("C", C),
    Work { instead: ("k = 32", "k = 8"), ..workload("fat-tree-128", D) },
    Work { instead: ("k = 32", "k = 16"), ..workload("fat-tree-1024", D) },
    workload("D", D),
    Work { instead: ("k = 32", "k = 64"), ..workload("E", D) },
    Work { instead: ("250 packets", "375 KB"), more: &[AFQ_AND_DEFLECTION, LINKGUARDIAN], ..workload("F", B) },
    workload("W", W),
    Work {
        instead: ("preset = \"ideal\"", "preset = \"ideal\"\nscheduler = \"strict\"\nqueues_per_port = 2"),
        ..workload("strict", B)
    },
    Work { more: &[LINKGUARDIAN], ..workload("linkguardian", A) },
    Work {
        instead: ("ecn = { threshold = \"65 packets\" }", ""),
        more: &["[[mechanism]]\nkind = \"afq\"\necn_rounds = 8\n"],
        ..workload("afq", A)
    },
    Work {
        instead: ("250 packets", "375 KB"),
        more: &["[[mechanism]]\nkind = \"preemptive-deflection\"\n"],
        ..workload("deflection", C)
    },
    Work {
        instead: ("preset = \"ideal\"", "preset = \"ideal\"\nrecirculation_ports = 8"),
        on_links: "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"{link}\"\nbuffering = \"recirculation\"\n",
        ..workload("linkguardian-64", B)
    },
    Work {
        instead: ("preset = \"ideal\"", "preset = \"ideal\"\nmirror_latency = \"200 ns\""),
        on_links: "[[mechanism]]\nkind = \"sqr\"\nlinks = [{links}]\n",
        ..workload("sqr-64", B)
    },
    Work { more: &["[measure]\nautopsy = true\n"], ..workload("autopsy", B) },
];

/// Protects two links that corrupt frames.
const LINKGUARDIAN: &str = r#"
[[mechanism]]
kind = "linkguardian"
link = "leaf0->spine0"
[[mechanism]]
kind = "linkguardian"
link = "leaf1->spine1"
[[link]]
name = "leaf0->spine0"
loss = { kind = "bernoulli", rate = 1e-3 }
[[link]]
name = "leaf1->spine1"
loss = { kind = "bernoulli", rate = 1e-3 }
"#;

const AFQ_AND_DEFLECTION: &str = r#"
[[mechanism]]
kind = "afq"
ports = ["spine0", "spine1", "spine2", "spine3"]
ecn_rounds = 8
[[mechanism]]
kind = "preemptive-deflection"
ports = ["leaf0", "leaf1", "leaf2", "leaf3", "leaf4", "leaf5", "leaf6", "leaf7"]
"#;

const fn workload(name: &'static str, text: &'static str) -> Work {
    Work { name, text, instead: ("", ""), more: &[], on_links: "" }
}

impl Work {
    /// The workload with this name.
    pub fn named(name: &str) -> Option<Work> {
        WORKS.into_iter().find(|work| work.name == name)
    }

    /// Returns the sections of [`Self::on_links`], with names of links in both directions.
    fn on_links(&self) -> String {
        let pairs = (0..8).flat_map(|leaf| (0..4).map(move |spine| (format!("leaf{leaf}"), format!("spine{spine}"))));
        let links: Vec<_> = pairs.flat_map(|(a, b)| [format!("{a}->{b}"), format!("{b}->{a}")]).collect();
        if self.on_links.contains("{links}") {
            let quoted: Vec<_> = links.iter().map(|link| format!("\"{link}\"")).collect();
            return self.on_links.replace("{links}", &quoted.join(", "));
        }
        links.iter().map(|link| self.on_links.replace("{link}", link)).collect()
    }

    /// Parses and checks the scenario.
    ///
    /// # Errors
    /// If the scenario does not pass the check, which is a bug in this module.
    pub fn scenario(&self, registry: &Registry) -> Result<Scenario, SettingsError> {
        let (piece, instead) = self.instead;
        let text = if piece.is_empty() { self.text.to_owned() } else { self.text.replace(piece, instead) };
        check(&format!("{text}\n{}{}", self.more.concat(), self.on_links()), &format!("bench {}", self.name), registry)
    }

    /// Builds the simulation with each flow cut to `fraction` of its packets (at least 1).
    ///
    /// # Errors
    /// If the scenario cannot be built; the message is a sentence.
    pub fn build(&self, registry: &Registry, fraction: f64, seed: u64) -> Result<Simulation, String> {
        let scenario = self.scenario(registry).map_err(|error| error.to_string())?;
        let shorten = move |flow: FlowSpec| {
            let FlowSize::Bytes(bytes) = flow.size else { return flow };
            let packets = ((bytes / PACKET_BYTES) as f64 * fraction).round().max(1.0);
            FlowSpec { size: FlowSize::Bytes(packets as u64 * PACKET_BYTES), ..flow }
        };
        Ok(Simulation::new(Scenario { seed, ..scenario })?.with_flows_changed(shorten))
    }

    /// [`Self::build`]s and runs the simulation.
    ///
    /// # Errors
    /// If the scenario cannot be built; the message is a sentence.
    pub fn run(&self, registry: &Registry, fraction: f64, seed: u64) -> Result<Outcome, String> {
        Ok(self.build(registry, fraction, seed)?.run(&Progress::default()))
    }
}

/// Payload of each packet.
const PACKET_BYTES: u64 = 1_460;

#[cfg(test)]
mod tests {
    use hitless_mechanisms::builtin;

    use super::*;

    #[test]
    fn every_work_completes_and_repeats_to_the_last_event() {
        for work in WORKS.iter().filter(|work| work.hosts() <= 1_024) {
            let run = || work.run(builtin(), 0.05, 1).expect("the scenario is sound");
            let (first, second) = (run(), run());
            assert_eq!(first.violations, Vec::<String>::new(), "{}", work.name);
            assert_eq!(first.summary.flows.completed, first.summary.flows.started);
            assert_eq!(first.summary.trace_hash, second.summary.trace_hash);
        }
    }

    impl Work {
        fn hosts(&self) -> usize {
            let scenario = self.scenario(builtin()).expect("the scenario is sound");
            scenario.build_topology().expect("the fabric can be built").hosts.len()
        }
    }

    #[test]
    fn the_large_works_have_as_many_hosts_as_they_say_and_complete() {
        for (name, hosts) in [("D", 8_192), ("W", 8_192), ("E", 65_536)] {
            let work = Work::named(name).expect("it is in the list");
            assert_eq!(work.hosts(), hosts, "{name}");
            if hosts < 65_536 {
                let outcome = work.run(builtin(), 0.0, 1).expect("the scenario is sound");
                assert_eq!((outcome.violations, outcome.summary.flows.completed), (vec![], hosts as u64), "{name}");
            }
        }
    }

    #[test]
    fn every_mechanism_of_f_has_something_to_do() {
        let outcome = Work::named("F").expect("it is in the list").run(builtin(), 1.0, 1).expect("it is sound");
        assert_eq!(outcome.summary.warnings, Vec::<String>::new());
        assert!(outcome.summary.drops["corrupted on a link"] > 10, "{:?}", outcome.summary.drops);
    }
}
