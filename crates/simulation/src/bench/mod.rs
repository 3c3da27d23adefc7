//! Benchmark workloads of the engine, and a run of one; [`switch`] has those of a switch alone.

pub mod switch;

use hitless_engine::Progress;
use hitless_scenario::kind::Registry;
use hitless_scenario::workload::{FlowSize, FlowSpec};
use hitless_scenario::{Scenario, check};
use hitless_settings::SettingsError;

use crate::results::Outcome;
use crate::run::Simulation;

/// A workload that `hitless bench engine` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// "A", "B" or "C", or the mechanism that it adds to one of them.
    pub name: &'static str,
    /// Its scenario, one of the examples.
    text: &'static str,
    /// A piece of that text, and what stands there instead.
    instead: (&'static str, &'static str),
    /// Sections behind it.
    more: &'static str,
}

const A: &str = include_str!("../../../../examples/bench-a.toml");
const B: &str = include_str!("../../../../examples/bench-b.toml");
const C: &str = include_str!("../../../../examples/bench-c.toml");

/// All of them; data/README.md describes A, B and C. LinkGuardian protects two corrupting links, AFQ has all ports, and
/// so has Preemptive Deflection, with C's one busy port.
pub const WORKS: [Work; 6] = [
    workload("A", A),
    workload("B", B),
    workload("C", C),
    Work { more: LINKGUARDIAN, ..workload("linkguardian", A) },
    Work {
        instead: ("ecn = { threshold = \"65 packets\" }", ""),
        more: "[[mechanism]]\nkind = \"afq\"\necn_rounds = 8\n",
        ..workload("afq", A)
    },
    Work {
        instead: ("250 packets", "375 KB"),
        more: "[[mechanism]]\nkind = \"preemptive-deflection\"\n",
        ..workload("deflection", C)
    },
];

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

const fn workload(name: &'static str, text: &'static str) -> Work {
    Work { name, text, instead: ("", ""), more: "" }
}

impl Work {
    /// The workload called `name`.
    pub fn named(name: &str) -> Option<Work> {
        WORKS.into_iter().find(|work| work.name == name)
    }

    /// Its scenario.
    ///
    /// # Errors
    /// When the scenario does not pass the check: a fault of this module.
    pub fn scenario(&self, registry: &Registry) -> Result<Scenario, SettingsError> {
        let (piece, instead) = self.instead;
        let text = if piece.is_empty() { self.text.to_owned() } else { self.text.replace(piece, instead) };
        check(&format!("{text}\n{}", self.more), &format!("bench {}", self.name), registry)
    }

    /// Runs it with each flow cut to `fraction` of its packets (at least one).
    ///
    /// # Errors
    /// A sentence, when the scenario cannot be built.
    pub fn run(&self, registry: &Registry, fraction: f64, seed: u64) -> Result<Outcome, String> {
        let scenario = self.scenario(registry).map_err(|error| error.to_string())?;
        let shorten = move |flow: FlowSpec| {
            let FlowSize::Bytes(bytes) = flow.size else { return flow };
            let packets = ((bytes / PACKET_BYTES) as f64 * fraction).round().max(1.0);
            FlowSpec { size: FlowSize::Bytes(packets as u64 * PACKET_BYTES), ..flow }
        };
        let simulation = Simulation::new(Scenario { seed, ..scenario })?.with_flows_changed(shorten);
        Ok(simulation.run(&Progress::default()))
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
        for work in WORKS {
            let run = || work.run(builtin(), 0.05, 1).expect("the scenario is sound");
            let (first, second) = (run(), run());
            assert_eq!(first.violations, Vec::<String>::new(), "{}", work.name);
            assert_eq!(first.summary.flows.completed, first.summary.flows.started);
            assert_eq!(first.summary.trace_hash, second.summary.trace_hash);
        }
    }
}
