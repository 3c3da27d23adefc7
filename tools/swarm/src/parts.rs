//! Runs a world again, divided into partitions and among threads: the result must be identical, byte by byte.

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Division;
use hitless_simulation::{Outcome, Simulation};

use crate::dice::Dice;
use crate::same;

/// Possible numbers of threads.
const THREADS: [usize; 4] = [1, 2, 4, 8];

#[derive(Clone, Debug)]
pub struct Parts {
    /// Number of partitions, at least two.
    pub partitions: usize,
    /// Number of threads, at most the number of partitions.
    pub threads: usize,
    /// The requested number of partitions, which a fabric with few ranges of hosts does not reach.
    asked_for: usize,
    scenario: Scenario,
}

impl Parts {
    /// Draws a division of a scenario from its seed. `None` if it cannot be divided: if flows start when others end or
    /// answer each other, if a mechanism shares state between switches beyond packets
    /// ([`Scenario::undivided_because`]), or if no link between two groups of nodes has a delay.
    ///
    /// The order of packets is not measured, because that needs both ends of a flow in one partition.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let mut scenario = scenario.clone();
        scenario.measure.order = false;
        if scenario.undivided_because().is_some() {
            return None;
        }
        let topology = scenario.build_topology().ok()?;
        let nodes = topology.hosts.len() + topology.switches.len();
        let mut dice = Dice::new(scenario.seed, "parts");
        // A partition for each node is a special case: hosts are then separate from their switches.
        let asked_for = if dice.once_in(3) { nodes } else { dice.between(2, nodes as u64) as usize };
        let partitions = Division::new(&topology, asked_for).parts();
        let allowed: Vec<usize> = THREADS.into_iter().filter(|&threads| threads <= partitions).collect();
        // A canary is active in one thread only.
        let threads = if hitless_switch::canary::is_sown() { 1 } else { dice.pick(&allowed) };
        (partitions > 1).then_some(Self { partitions, threads, asked_for, scenario })
    }

    /// Runs the division.
    pub fn run(&self) -> Result<Outcome, String> {
        let simulation = Simulation::new(self.scenario.clone())?;
        Ok(simulation.run_divided(self.asked_for, self.threads, &Progress::default()))
    }

    /// Returns the first difference between the outcomes of the undivided and the divided run. Measurements that only
    /// the undivided run makes, such as the order of packets, are not compared.
    pub fn difference(&self, whole: &Outcome, divided: &Outcome) -> Option<String> {
        let found = same::difference(whole, divided, true)?;
        let Self { partitions, threads, .. } = self;
        Some(format!("divided among {partitions} partitions and {threads} threads the run differs {found}"))
    }
}
