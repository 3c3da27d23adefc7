//! A world once more, divided into partitions and among threads: the same bytes must come out.

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::Division;
use hitless_simulation::{Outcome, Simulation};

use crate::dice::Dice;
use crate::same;

/// Threads that a run is tried on.
const THREADS: [usize; 4] = [1, 2, 4, 8];

/// A division of a run.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Partitions that there are, at least two.
    pub partitions: usize,
    /// Threads, at most as many.
    pub threads: usize,
    /// The number that the simulator was asked for, which a fabric with few ranges of hosts does not reach.
    asked_for: usize,
    scenario: Scenario,
}

impl Parts {
    /// A division of a scenario, drawn from its seed; none where it cannot be divided: where flows start when others
    /// end or answer each other, where a mechanism shares more between switches than packets tell
    /// ([`Scenario::undivided_because`]), and where no link between two groups of nodes has a delay.
    ///
    /// Packets' order is not measured in it, which needs both ends of a flow in one place.
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let mut scenario = scenario.clone();
        scenario.measure.order = false;
        if scenario.undivided_because().is_some() {
            return None;
        }
        let topology = scenario.build_topology().ok()?;
        let nodes = topology.hosts.len() + topology.switches.len();
        let mut dice = Dice::new(scenario.seed, "parts");
        // As many as there are nodes is a case of its own: hosts are then apart from their switches.
        let asked_for = if dice.once_in(3) { nodes } else { dice.between(2, nodes as u64) as usize };
        let partitions = Division::new(&topology, asked_for).parts();
        let allowed: Vec<usize> = THREADS.into_iter().filter(|&threads| threads <= partitions).collect();
        // A canary is sown in one thread.
        let threads = if hitless_switch::canary::is_sown() { 1 } else { dice.pick(&allowed) };
        (partitions > 1).then_some(Self { partitions, threads, asked_for, scenario })
    }

    /// Runs it so.
    ///
    /// # Errors
    /// Why it cannot begin.
    pub fn run(&self) -> Result<Outcome, String> {
        let simulation = Simulation::new(self.scenario.clone())?;
        Ok(simulation.run_divided(self.asked_for, self.threads, &Progress::default()))
    }

    /// The first thing in which a run in one part and this one differ, whose outcomes these are. What the first one
    /// measures beyond, such as the order of packets, is not compared.
    pub fn difference(&self, whole: &Outcome, divided: &Outcome) -> Option<String> {
        let found = same::difference(whole, divided, true)?;
        let Self { partitions, threads, .. } = self;
        Some(format!("divided among {partitions} partitions and {threads} threads the run differs {found}"))
    }
}
