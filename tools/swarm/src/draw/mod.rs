//! A whole world from a seed: fabric, switches, hosts, transports, flows, faults and mechanisms.
//!
//! Half of the worlds are wild: anything anywhere, each setting drawn from the schema. Each of the others is made so
//! that a promise applies in it: a lossy link that is protected, a failure that is masked, flows that share a link.
//! What a judge asks of a world follows from the world alone, never from which of these it was drawn as.

mod faults;
mod mechanisms;
mod parts;
mod promised;
mod settings;
mod themes;
mod topology;
mod traffic;

use hitless_scenario::kind::Registry;
use toml::Table;

use crate::world::World;

pub use faults::OVER_AFTER_US;

/// How often a world is drawn anew when it is refused, before the seed is given up.
const DRAWS: u64 = 40;

/// The world of a seed, which the check of scenarios accepts; and how many were refused before it.
///
/// None when none of forty was accepted.
pub fn world(seed: u64, registry: &Registry) -> (Option<World>, u64) {
    let settings = settings::Settings::new(registry.schema());
    for draw in 0..DRAWS {
        let of = seed.wrapping_mul(DRAWS).wrapping_add(draw) & (i64::MAX as u64);
        let mut drawn = themes::draw(of, &settings);
        drawn.insert("seed".into(), (of as i64).into());
        if let Some(world) = accepted(drawn, registry) {
            return (Some(world), draw);
        }
    }
    (None, DRAWS)
}

/// The world, without what the check refuses of its mechanisms; none when it is refused all the same.
fn accepted(drawn: Table, registry: &Registry) -> Option<World> {
    let mut world = World::new(drawn);
    for _ in 0..8 {
        let Err(error) = world.check(registry) else { return Some(world) };
        let field = &error.findings.first()?.field;
        if !world.leave_out(field) {
            return None;
        }
    }
    None
}
