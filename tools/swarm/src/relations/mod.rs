//! Relations between two runs: a change of a world, and the change of its results that follows (metamorphic testing,
//! Chen et al., 1998). A broken relation is a bug, even if the right result of a random world is unknown.
//!
//! Each relation is an entry of [`RELATIONS`]. It changes the recorded configuration of a run, with every default
//! written out, and does not apply to worlds where it cannot hold; [`changes`] gives the reasons.

mod aftermath;
mod changes;
mod pair;
mod rows;
mod subject;

use hitless_core::engine::Progress;
use hitless_scenario::kind::Registry;
use hitless_simulation::{Outcome, Simulation};
use toml::Table;

pub use pair::{Equal, Pair, Times};
pub use subject::Subject;

use crate::dice::Dice;
use crate::world::World;

/// A change of a world and the results that follow from it.
#[derive(Clone, Copy)]
pub struct Relation {
    pub name: &'static str,
    /// Change of a world; `None` if the relation does not apply.
    pub pair: fn(&Subject, &mut Dice) -> Option<Pair>,
    /// Number of pairs that must all be broken. A hash of the time orders frames that arrive in the same picosecond, so
    /// a change of times can change a result by chance.
    pub pairs: usize,
}

impl Relation {
    /// Tests the relation in a world; returns the inner sentence if it is broken, and `None` if it does not apply.
    ///
    /// It does not apply if the scenario check refuses the changed world, for example for lack of a place for a
    /// mechanism.
    pub fn broken(&self, subject: &Subject, registry: &Registry) -> Option<Option<String>> {
        let mut dice = Dice::new(subject.seed, self.name);
        let mut last = None;
        for _ in 0..self.pairs {
            let found = (self.pair)(subject, &mut dice)?.broken(registry)?;
            let Some(told) = found else { return Some(None) };
            last = Some(told);
        }
        Some(last.map(|told| format!("with {} {told}", self.name)))
    }
}

/// Maximum transmissions in relations that change times. Beyond it every pair has frames that arrive in the same
/// picosecond: 670,000 frames of 200 B at 100G, in three of three pairs (seed 24,009,598).
const WITHOUT_TIES: u64 = 200_000;

pub const RELATIONS: [Relation; 9] = [
    Relation { name: "measurements", pair: changes::measurements, pairs: 1 },
    Relation { name: "loss of zero", pair: changes::loss_of_zero, pairs: 1 },
    Relation { name: "an idle mechanism", pair: changes::idle_mechanism, pairs: 3 },
    Relation { name: "an idle host", pair: changes::idle_host, pairs: 1 },
    Relation { name: "an unrelated flow", pair: changes::unrelated_flow, pairs: 1 },
    Relation { name: "other names", pair: changes::other_names, pairs: 1 },
    Relation { name: "a later start", pair: changes::later_start, pairs: 3 },
    Relation { name: "half of the speed", pair: changes::half_speed, pairs: 3 },
    Relation { name: "back to normal", pair: aftermath::all_is_over, pairs: 1 },
];

/// Draws an applicable relation by the world's seed and tests it; returns its name, and the sentence if it is broken.
/// `transmissions` is the number of frames in the world.
pub fn broken(world: &World, transmissions: u64, registry: &Registry) -> Option<(&'static str, Option<String>)> {
    let subject = Subject::of(world, registry)?;
    let mut dice = Dice::new(subject.seed, "relation");
    let first = dice.between(0, RELATIONS.len() as u64 - 1) as usize;
    let all = (0..RELATIONS.len()).map(|number| &RELATIONS[(first + number) % RELATIONS.len()]);
    let has_no_ties = |relation: &&Relation| relation.pairs == 1 || transmissions <= WITHOUT_TIES;
    all.filter(has_no_ties).find_map(|relation| Some((relation.name, relation.broken(&subject, registry)?)))
}

impl Pair {
    /// Finds the first difference from the expected second world; `None` if one of the worlds is refused.
    pub fn broken(&self, registry: &Registry) -> Option<Option<String>> {
        let [before, after] = [&self.before, &self.after].map(|table| ran(table, registry));
        let (before, after) = (before?, after?);
        Some(match (before, after) {
            (Ok(before), Ok(after)) => rows::difference(&before, &after, self.times, self.equal),
            (Err(sentence), _) | (_, Err(sentence)) => Some(sentence),
        })
    }
}

fn ran(table: &Table, registry: &Registry) -> Option<Result<Outcome, String>> {
    let scenario = World::new(table.clone()).check(registry).ok()?;
    Some(Simulation::new(scenario).map(|simulation| simulation.run(&Progress::default())))
}
