//! A run that is killed and continues from a checkpoint gives identical bytes: a property over short worlds.

use std::collections::BTreeMap;

use hitless_core::engine::Progress;
use hitless_mechanisms::builtin;
use hitless_simulation::Simulation;
use hitless_swarm::resume;

use super::short_world;

const SEEDS: u64 = 300;

#[test]
fn some_hundred_worlds_go_on_from_checkpoints_with_the_same_bytes() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut differing = Vec::new();
    for seed in 0..SEEDS {
        let Some(world) = short_world(seed, "700 us") else { continue };
        let Ok(scenario) = world.check(builtin()) else { continue };
        let whole = Simulation::new(scenario.clone()).expect("a world can be built").run(&Progress::default());
        let resumed = match resume::run(&scenario).expect("every kind that worlds have is saved") {
            Ok(resumed) => resumed,
            Err(sentence) => {
                differing.push(format!("seed {seed}, {:?}: {sentence}", world.kinds()));
                continue;
            }
        };
        let difference = resume::difference(&whole, &resumed);
        differing.extend(difference.map(|told| format!("seed {seed}, {:?}: {told}", world.kinds())));
        world.kinds().into_iter().for_each(|kind| *kinds.entry(kind.to_owned()).or_default() += 1);
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    let missing: Vec<&str> = builtin().names().filter(|&kind| kind != "p4" && !kinds.contains_key(kind)).collect();
    assert!(missing.is_empty(), "in none of these worlds: {missing:?}");
}
