//! Mechanisms that need more than a switch has are refused with the figures.

use hitless_scenario::network::switch::BudgetSettings;

use super::*;
use crate::resources::survey;

/// A leaf of 32 hosts and 4 spines, as in AFQ's simulations, with a sketch of 2 x 16,384 at each of its 36 ports.
fn afq_leaf(switch: &str, afq: &str) -> String {
    leaf_spine(switch, TCP, &format!("[[mechanism]]\nkind = \"afq\"\n{afq}\n"))
        .replacen("preset = \"ideal\"\n", "", 1)
        .replace("spines = 2\nhosts_per_leaf = 2", "spines = 4\nhosts_per_leaf = 32")
}

fn refusal(text: &str) -> String {
    check(text, "budget.toml").err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn a_sketch_that_no_stage_can_hold_is_refused_in_checked_mode() {
    let message = refusal(&afq_leaf("checked = true", ""));
    let expected = "switch.checked = true: the mechanisms of leaf0 (and 1 more like it) take 145 SRAM blocks in one stage, \
                    where a register array must be as a whole (afq 145), and the switch has 48";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("hint: hitless scenario resources FILE"), "{message}");
    for sound in [
        afq_leaf("", ""),
        afq_leaf("checked = true", "sketch = { columns = 2048 }"),
        afq_leaf("checked = true\nbudget = { sram_blocks_per_stage = 145 }", ""),
        afq_leaf("checked = true\npreset = \"ideal\"", ""),
    ] {
        assert_eq!(refusal(&sound), "", "{sound}");
    }
}

#[test]
fn each_thing_that_is_too_little_is_named() {
    let rows = [
        ("stages = 2", "take 3 stages of ingress (afq 3), and the switch has 2"),
        ("stages = 1\nstateful_alus_per_stage = 2", "take 3 stateful ALUs (afq 3), and the switch has 2"),
        ("queues_per_port = 31", "take 32 queues at a port (afq 32), and the switch has 31"),
    ];
    for (budget, expected) in rows {
        let budget = budget.replace('\n', ", ");
        let switch = format!("checked = true\nbudget = {{ {budget} }}");
        let message = refusal(&afq_leaf(&switch, "sketch = { columns = 2048 }"));
        assert!(message.contains(expected), "{budget}: {message}");
    }
}

#[test]
fn who_asks_what_mechanisms_take_is_told_even_if_it_is_too_much() {
    let text = afq_leaf("checked = true", "");
    let scenario = check_for(&text, "budget.toml", Purpose::Survey).expect("nothing else is wrong with it");
    let found = survey(&scenario).expect("it can be built");
    let leaf = found.iter().find(|kind| kind.switches[0] == "leaf0").expect("leaves run AFQ");
    assert_eq!(leaf.switches, ["leaf0", "leaf1"]);
    assert_eq!(leaf.sum.bits, 36 * (2 * 16_384 + 1) * 32);
    assert_eq!(leaf.shortages.len(), 1);
    assert_eq!(leaf.as_json()["shortages"][0]["taken"]["afq"], 145);
}

#[test]
fn the_presets_say_what_there_is() {
    let of = |text: &str| check(text, "").unwrap_or_else(|error| panic!("{error}")).switch.budget;
    assert_eq!(of(&afq_leaf("", "")), Some(BudgetSettings::default()));
    assert_eq!(of(&afq_leaf("preset = \"ideal\"", "")), None);
    let given = of(&afq_leaf("budget = { stages = 20 }", "")).expect("it is given");
    assert_eq!(given, BudgetSettings { stages: 20, ..BudgetSettings::default() });
}
