//! Identical bytes on 1, 2, 4 and 8 threads and in any number of partitions: a property over short worlds.

use std::collections::BTreeMap;

use hitless_core::engine::Progress;
use hitless_mechanisms::builtin;
use hitless_scenario::Scenario;
use hitless_simulation::Simulation;
use hitless_swarm::parts::Parts;

use super::short_world;

/// Number of worlds that are run whole and divided. The swarm itself has no limit.
const DIVIDED: usize = 300;
/// Maximum number of seeds tried for them: about one world in four cannot be divided ([`Parts::of`] lists the reasons).
const SEEDS_MOST: u64 = 750;

fn scenario(seed: u64) -> Option<Scenario> {
    short_world(seed, "500 us")?.check(builtin()).ok()
}

#[test]
fn worlds_are_the_same_on_one_two_four_and_eight_threads() {
    let mut by_threads: BTreeMap<usize, usize> = BTreeMap::new();
    let mut by_partitions: BTreeMap<usize, usize> = BTreeMap::new();
    let mut divided = 0;
    for seed in 0..SEEDS_MOST {
        let Some(scenario) = scenario(seed) else { continue };
        let Some(parts) = Parts::of(&scenario) else { continue };
        let whole = Simulation::new(scenario).expect("a world can be built").run(&Progress::default());
        let in_parts = parts.run().expect("what can be built can be divided");
        assert_eq!(parts.difference(&whole, &in_parts), None, "seed {seed}");
        *by_threads.entry(parts.threads).or_default() += 1;
        *by_partitions.entry(parts.partitions).or_default() += 1;
        divided += 1;
        if divided == DIVIDED {
            break;
        }
    }
    println!("{divided} worlds, by threads {by_threads:?}, by partitions {by_partitions:?}");
    assert_eq!(divided, DIVIDED, "of {SEEDS_MOST} seeds");
    let rarest = by_threads.values().min().copied().unwrap_or(0);
    assert!(by_threads.len() == 4 && rarest >= 15, "too few on some number of threads: {by_threads:?}");
    assert!(by_partitions.len() >= 10, "{by_partitions:?}");
}

/// The comparison can fail: for two runs with different random numbers it reports the first difference.
#[test]
fn a_division_of_another_world_is_not_the_same() {
    let divided: Vec<_> = (0..40).filter_map(|seed| Some((scenario(seed)?, Parts::of(&scenario(seed)?)?))).collect();
    assert!(divided.len() > 10, "{} of 40", divided.len());
    for pair in divided.windows(2) {
        let whole = Simulation::new(pair[0].0.clone()).expect("a world can be built").run(&Progress::default());
        let other = pair[1].1.run().expect("what can be built can be divided");
        let told = pair[1].1.difference(&whole, &other).expect("two worlds are not the same");
        assert!(told.contains("the run differs"), "{told}");
    }
}
