//! Benchmark workloads of the engine, and a run of one; [`switch`] has those of a switch alone.

pub mod switch;

use crate::results::Outcome;
use crate::scenario::{Scenario, ScenarioError, check};
use crate::simulation::Simulation;
use crate::workload::{FlowSize, FlowSpec};
use hitless_engine::Progress;

/// A workload that `hitless bench engine` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// "A", "B" or "C".
    pub name: &'static str,
    /// Its scenario, one of the examples.
    text: &'static str,
}

/// All of them; data/README.md describes them.
pub const WORKS: [Work; 3] = [
    Work { name: "A", text: include_str!("../../../../examples/bench-a.toml") },
    Work { name: "B", text: include_str!("../../../../examples/bench-b.toml") },
    Work { name: "C", text: include_str!("../../../../examples/bench-c.toml") },
];

impl Work {
    /// The workload called `name`.
    pub fn named(name: &str) -> Option<Work> {
        WORKS.into_iter().find(|work| work.name == name)
    }

    /// Its scenario.
    ///
    /// # Errors
    /// When the scenario does not pass the check: a fault of this module.
    pub fn scenario(&self) -> Result<Scenario, ScenarioError> {
        check(self.text, &format!("bench {}", self.name))
    }

    /// Runs it with each flow cut to `fraction` of its packets (at least one).
    ///
    /// # Errors
    /// A sentence, when the scenario cannot be built.
    pub fn run(&self, fraction: f64, seed: u64) -> Result<Outcome, String> {
        let scenario = self.scenario().map_err(|error| error.to_string())?;
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
    use super::*;

    #[test]
    fn every_work_completes_and_repeats_to_the_last_event() {
        for work in WORKS {
            let run = || work.run(0.05, 1).expect("the scenario is sound");
            let (first, second) = (run(), run());
            assert_eq!(first.violations, Vec::<String>::new(), "{}", work.name);
            assert_eq!(first.summary.flows.completed, first.summary.flows.started);
            assert_eq!(first.summary.trace_hash, second.summary.trace_hash);
        }
    }
}
