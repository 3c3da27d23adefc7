//! What of a scenario reaches the mechanisms.

use hitless_mechanisms::sqr::{Backstop, Caching, Marks, Release, SqrConfig};
use hitless_wire::{Duration, PortId};

use super::*;
use crate::scenario;

/// sw3 has the ports h, sw4, sw5; sw4 and sw5 are joined too.
const TRIANGLE: &str = r#"
name = "triangle"
duration = "1 ms"
[topology]
kind = "graph"
hosts = ["h", "i"]
switches = ["sw3", "sw4", "sw5"]
links = [
    { ends = ["h", "sw3"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["i", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw5"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw4", "sw5"], rate = "10 Gbps", delay = "1 us" },
]
[[transport]]
name = "tcp"
kind = "tcp"
[[flows]]
name = "long"
kind = "long"
transport = "tcp"
sources = ["h"]
destinations = ["i"]
"#;

fn planner<T>(mechanisms: &str, look: impl FnOnce(&Planner<'_>) -> T) -> T {
    let text = format!("{TRIANGLE}{mechanisms}");
    let scenario = scenario::check(&text, "triangle").unwrap_or_else(|error| panic!("{error}"));
    let topology = scenario.topology.build().expect("the triangle is sound");
    look(&read(&scenario, &topology).expect("the mechanisms can be planned"))
}

const SQR: &str = r#"
[[mechanism]]
kind = "sqr"
links = ["sw3->sw5", "sw3<->sw4"]
classes = [1]
ports = [5001, 80]
vlans = [10]
caching = "delay-queue"
caching_ports = ["sw3->h", "sw3->sw4", "sw4->sw5"]
steady_delay = "40 us"
failure_delay = "900 us"
clock_bits = 24
utilization_window = "100 us"
release = "when-rerouted"
backstop = { pause = "9 MB", resume = "8 MB" }
return_hold = "77 us"
"#;

#[test]
fn every_parameter_of_sqr_reaches_the_switches_at_the_sending_ends() {
    let at_sw3 = SqrConfig {
        protected: vec![PortId(2), PortId(1)],
        line_ports: 3,
        caching_ports: vec![PortId(0), PortId(1)],
        marks: Marks { classes: vec![1], ports: vec![5001, 80], vlans: vec![10] },
        steady_delay: Duration::from_us(40),
        failure_delay: Duration::from_us(900),
        clock_bits: 24,
        utilization_window: Duration::from_us(100),
        caching: Caching::DelayQueue,
        release: Release::WhenRerouted,
        backstop: Some(Backstop { pause_bytes: 9_000_000, resume_bytes: 8_000_000 }),
        return_hold: Duration::from_us(77),
    };
    let at_sw4 = SqrConfig { protected: vec![PortId(1)], caching_ports: vec![PortId(2)], ..at_sw3.clone() };
    let configs = planner(SQR, |planner| planner.drafts.iter().map(|draft| draft.sqr.clone()).collect::<Vec<_>>());
    assert_eq!(configs, [Some(at_sw3), Some(at_sw4), None]);
}

#[test]
fn on_one_switch_sqr_comes_before_linkguardian_and_commands_find_the_right_one() {
    let both = format!(
        "{SQR}\n[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw3->sw5\"\nactivation = [{{ at = \"10 us\", active = true }}]\n"
    );
    let kinds =
        planner(&both, |planner| planner.drafts.iter().map(|draft| draft.kinds().collect()).collect::<Vec<Vec<_>>>());
    assert_eq!(kinds, [vec![Kind::Sqr, Kind::LinkGuardian], vec![Kind::Sqr], vec![Kind::LinkGuardian]]);
    let scenario = scenario::check(&format!("{TRIANGLE}{both}"), "triangle").expect("the scenario is sound");
    let plan = plan(&scenario, &scenario.topology.build().expect("sound")).expect("the mechanisms can be planned");
    let places: Vec<_> = plan
        .commands
        .iter()
        .map(|(_, change)| match change {
            Change::Command { switch, mechanism, .. } => (*switch, *mechanism),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(places, [(0, 1), (2, 0)]);
    let counts: Vec<usize> = plan.mechanisms.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 1, 1]);
}
