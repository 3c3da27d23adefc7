//! Lists of flows that wait for other flows.

use std::fs;
use std::path::Path;

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;

use crate::checkpoints;
use crate::support::{self, numbers, simulation, times};

/// A scenario with a list of flows in a folder that is named after the test.
fn listed(test: &str, kind: &str, more: &str, lines: &str) -> Result<Scenario, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dependencies-{test}"));
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join("test.flows"), lines).expect("the list can be written");
    let text = format!(
        "name = \"dependencies\"\nuntil = \"all-flows-done\"\nduration = \"1 s\"\n{}\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\n\
         [[flows]]\nname = \"flows\"\nkind = \"{kind}\"\ntransport = \"tcp\"\nfile = \"test.flows\"\n{more}\n",
        support::dumbbell(2, "1 us", "10 us")
    );
    let file = folder.join("test.toml").to_string_lossy().into_owned();
    hitless_scenario::check(&text, &file, hitless_mechanisms::builtin()).map_err(|error| error.to_string())
}

/// Start and end of each flow, by its position in the list; the flows differ in size.
fn by_position(scenario: &Scenario, sizes: &[u64]) -> Vec<(i64, i64)> {
    let outcome = support::run_scenario(scenario);
    assert_eq!(outcome.summary.ended_by, "all flows done");
    let (starts, ends) = (times(&outcome, "flows", "started_ps"), times(&outcome, "flows", "finished_ps"));
    let found = numbers(&outcome, "flows", "message_bytes");
    assert_eq!(found.len(), sizes.len(), "each flow ran once");
    let place = |size| found.iter().position(|found| found == size).expect("the flow ran");
    sizes.iter().map(place).map(|row| (starts[row], ends[row])).collect()
}

#[test]
fn flows_start_a_delay_after_the_flows_that_they_wait_for() {
    let lines = "0 2 1000 0\n1 3 2000 500\n# all of them, any of them, a chain\n2 0 3000 700 after 0 1\n\
                 3 1 4000 0 after 1 of 0 1\n0 3 5000 40 after 2\n";
    let flows = by_position(
        &listed("delays", "dependency-list", "start = \"3 us\"", lines).unwrap(),
        &[1000, 2000, 3000, 4000, 5000],
    );
    let [first, second, both, either, last] = flows[..] else { panic!("five flows") };
    assert_eq!((first.0, second.0), (3_000_000, 3_500_000));
    assert_eq!(both.0, first.1.max(second.1) + 700_000);
    // A flow of the same time as an end starts 1 ps later if the draws of that time are over.
    assert!((0..=1).contains(&(either.0 - first.1.min(second.1))), "{either:?} {first:?} {second:?}");
    assert_eq!(last.0, both.1 + 40_000);
}

#[test]
fn flows_that_wait_for_the_same_flow_start_together() {
    let lines = "0 2 1000 0\n0 2 2000 10 after 0\n1 3 3000 10 after 0\n2 0 4000 10 after 0\n";
    let flows = by_position(&listed("fan", "dependency-list", "", lines).unwrap(), &[1000, 2000, 3000, 4000]);
    for flow in &flows[1..] {
        assert_eq!(flow.0, flows[0].1 + 10_000);
    }
}

#[test]
fn a_run_with_waiting_flows_goes_on_from_a_checkpoint_and_is_not_divided() {
    let chain: String =
        (1..20).map(|flow| format!("{} {} {} 100 after {}\n", flow % 4, (flow + 1) % 4, flow, flow - 1)).collect();
    let scenario = listed("checkpoint", "dependency-list", "", &format!("0 1 20000 0\n{chain}")).unwrap();
    checkpoints::goes_on(&scenario, &[0.0, 0.1, 0.5, 0.9]);
    assert!(scenario.undivided_because().is_some_and(|reason| reason.contains("start when others end")));
    let outcome = simulation(&scenario).run(&Progress::default());
    assert_eq!(outcome.summary.flows.completed, 20);
}

#[test]
fn lists_that_cannot_work_are_refused() {
    let waits = "0 2 1000 0\n1 3 1000 0 after 0\n";
    let table = [
        ("list", "", waits, "line 2: the flow waits for others ('after')"),
        ("dependency-list", "stop = \"1 ms\"", waits, "does not go with dependencies"),
        ("dependency-list", "", "0 1 1 0 after 0\n", "line 1: the flow waits for itself, so it never starts"),
    ];
    for (kind, more, lines, message) in table {
        let refused = listed("refused", kind, more, lines).expect_err(message);
        assert!(refused.contains(message), "{refused}");
    }
}
