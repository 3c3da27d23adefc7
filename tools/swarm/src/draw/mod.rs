//! Draws a whole world from a seed: fabric, switches, hosts, transports, flows, faults and mechanisms.
//!
//! Half of the worlds are wild: any part anywhere, with settings drawn from the schema. Each of the others is made so
//! that a promise applies to it: a lossy link with protection, a masked failure, flows that share a link. The judges
//! depend only on the world, never on the way in which it was drawn.

mod exceptions;
mod faults;
mod lossless;
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

/// Maximum number of draws for a seed, if the check refuses worlds.
const DRAWS: u64 = 40;

/// Returns the world of a seed, which the check of scenarios accepts, and the number of draws refused before it.
///
/// `None` if all forty draws were refused.
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

/// Removes the parts of mechanisms that the check refuses; `None` if the world is still refused.
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
