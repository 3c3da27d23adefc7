//! Assignment and order of mechanisms on switches, and the targets of commands.

use hitless_scenario::plan::plan;
use hitless_switch::Mechanism;

use super::*;

const TRIANGLE: &str = include_str!("triangle.toml");

/// SQR at sw3 and sw4, and LinkGuardian from sw3 to sw5.
const BOTH: &str = r#"
[[mechanism]]
kind = "linkguardian"
link = "sw3->sw5"
activation = [{ at = "10 us", active = true }]

[[mechanism]]
kind = "sqr"
links = ["sw3->sw5", "sw3<->sw4"]
"#;

#[test]
fn on_one_switch_sqr_comes_before_linkguardian_and_commands_find_the_right_one() {
    let scenario = sound(&format!("{TRIANGLE}{BOTH}"));
    let topology = scenario.topology.build().expect("the triangle is sound");
    let plan = plan(&scenario, &topology).expect("the mechanisms can be planned");
    let names = |mechanisms: &Vec<Box<dyn Mechanism>>| -> Vec<String> {
        mechanisms.iter().map(|mechanism| mechanism.report(Time::ZERO).mechanism.to_string()).collect()
    };
    let by_switch: Vec<_> = plan.mechanisms.iter().map(names).collect();
    assert_eq!(by_switch, [vec!["sqr", "linkguardian"], vec!["sqr"], vec!["linkguardian"]]);
    let places: Vec<_> = plan.commands.iter().map(|command| (command.switch.0, command.mechanism)).collect();
    assert_eq!(places, [(0, 1), (2, 0)]);
}
