//! For tests: three linked switches, and mechanisms on them.

use hitless_scenario::kind::{Kind, Registry};
use hitless_scenario::network::topology::Topology;
use hitless_scenario::{Scenario, check};

/// sw3 has the ports h, sw4 and sw5; sw4 and sw5 are linked too.
const TRIANGLE: &str = include_str!("../tests/scenario/triangle.toml");

pub(crate) fn triangle_with<K: Kind>(entries: &str) -> (Scenario, Topology) {
    let text = format!("{TRIANGLE}{entries}");
    let scenario = check(&text, "triangle", &Registry::new().with::<K>()).unwrap_or_else(|error| panic!("{error}"));
    let topology = scenario.topology.build().expect("the triangle is sound");
    (scenario, topology)
}
