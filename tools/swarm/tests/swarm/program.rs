//! The program: its options, exit codes and files.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn swarm(arguments: &[&str], code: i32) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_hitless-swarm")).args(arguments).output().expect("it was built");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn worlds_that_break_nothing_end_with_their_number() {
    let quiet = swarm(&["--seed", "1", "--worlds", "2"], 0);
    assert!(text(&quiet.stderr).contains("from seed 1 on; 0 faults"), "{}", text(&quiet.stderr));
    let counts: serde_json::Value =
        serde_json::from_slice(&swarm(&["--worlds", "2", "--json"], 0).stdout).expect("this is JSON");
    assert_eq!(counts["findings"], serde_json::json!([]));
    assert_eq!(counts["worlds"], 2);
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("hitless-swarm-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    folder
}

#[test]
fn a_failing_scenario_is_judged() {
    let folder = folder("judge");
    let file = folder.join("never-ends.toml");
    fs::write(&file, super::NEVER_ENDS).expect("it can be written");
    let judged = text(&swarm(&["--judge", &file.display().to_string()], 1).stdout);
    assert!(judged.contains("progress: "), "{judged}");
    fs::remove_dir_all(&folder).expect("it is ours");
}

/// One of the bugs and seeds of `canaries_are_found`.
#[test]
fn a_failing_world_is_written_as_a_scenario() {
    let folder = folder("hunt");
    let (out, seed) = (folder.display().to_string(), "70000");
    let found = swarm(&["--seed", seed, "--worlds", "400", "--canary", "unnamed-loss", "--out", &out, "--json"], 1);
    let counts: serde_json::Value = serde_json::from_slice(&found.stdout).expect("this is JSON");
    let finding = &counts["findings"][0];
    let file = folder.join(format!("swarm-{}-{}.toml", finding["judge"].as_str().expect("a name"), finding["seed"]));
    assert_eq!(fs::read_to_string(&file).expect("it was written"), finding["scenario"]);
    // The bug is in the program, not in the scenario.
    swarm(&["--judge", &file.display().to_string()], 0);
    fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn a_seed_is_shown_as_a_scenario_and_judges_with_their_promises() {
    let world: toml::Table = text(&swarm(&["--show", "7"], 0).stdout).parse().expect("this is TOML");
    assert!(world.contains_key("flows"), "{world}");
    assert!(text(&swarm(&["--judges"], 0).stdout).contains("named-loss: "));
    assert!(text(&swarm(&["--help"], 0).stdout).contains("--minutes N"));
}

#[test]
fn wrong_usage_is_refused_with_its_rule() {
    let cases: [(&[&str], &str); 8] = [
        (&[], "say when to end"),
        (&["--worlds"], "--worlds needs a value"),
        (&["--worlds", "999999999999999999999999"], "--worlds 999999999999999999999999: a number is needed"),
        (&["--minutes", "inf"], "--minutes inf: it is from 0"),
        (&["--threads", "0"], "--threads 0: it is from 1 to 1024"),
        (&["--worlds", "1", "--canary", "robin"], "the canaries are forgotten-swap"),
        (&["--judge", "/nowhere.toml"], "/nowhere.toml: "),
        (&["--quick"], "there is no option --quick"),
    ];
    for (arguments, message) in cases {
        let refused = text(&swarm(arguments, 2).stderr);
        assert!(refused.contains(message), "{arguments:?}: {refused}");
    }
}
