//! Loss models of `[[link]]`: LinkGuardian's expected loss rates, and refusals.

use std::path::PathBuf;

use hitless_scenario::network::topology::select::select_links;

use super::*;

const BERNOULLI: &str = "{ kind = \"bernoulli\", rate = 1e-3 }";

fn with_loss(loss: &str) -> String {
    assert!(BASE.contains(BERNOULLI));
    BASE.replace(BERNOULLI, loss)
}

fn folder_with(name: &str, trace: &str) -> (PathBuf, String) {
    let folder = std::env::temp_dir().join(format!("hitless-losses-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    std::fs::write(folder.join("a.losses"), trace).expect("the temporary folder is writable");
    let file = folder.join("base.toml").display().to_string();
    (folder, file)
}

/// LinkGuardian's expected loss rate and number of copies in a scenario.
fn expected(text: &str, file_name: &str) -> (f64, u32) {
    let scenario = check(text, file_name).unwrap_or_else(|error| panic!("{error}"));
    let Some(settings) = scenario.mechanisms[0].settings::<LinkGuardianSettings>() else { panic!("no LinkGuardian") };
    let topology = scenario.topology.build().expect("the base is sound");
    let link = select_links(&topology, "leaf0->spine1").expect("the base is sound")[0];
    let rate = scenario.loss_rate_max(&topology, link);
    assert_eq!(settings.actual_loss_rate, Some(rate));
    (rate, settings.copy_count())
}

#[test]
fn linkguardian_expects_the_rate_of_every_model() {
    let burst = "{ kind = \"gilbert-elliott\", rate = 2e-3, mean_burst_frames = 3 }";
    assert_eq!(expected(&with_loss(burst), "base.toml"), (2e-3, 2));
    // By hand: a full frame touches 1 + 12,207 / 5,120 codewords on average, each lost with 1.82e-6.
    let bits = "{ kind = \"bit-errors\", bit_error_rate = 1.5e-4, fec = \"rs-528-514\" }";
    let (rate, copies) = expected(&with_loss(bits), "base.toml");
    assert!((rate / (3.384 * 1.815_7e-6) - 1.0).abs() < 1e-3, "{rate:e}");
    assert_eq!(copies, 1);
    let periodic = "{ kind = \"periodic\", every = 500, first = 10 }";
    assert_eq!(expected(&with_loss(periodic), "base.toml"), (2e-3, 2));
    // The highest rate of the run, even if it comes later.
    let later = BASE.replace("loss = { kind = \"none\" }", &format!("loss = {burst}"));
    assert_eq!(expected(&later, "base.toml"), (2e-3, 2));
}

#[test]
fn linkguardian_expects_the_rate_of_a_trace() {
    let (folder, file) = folder_with("rate", "# of a link\n97 2\n100 1\n");
    let trace = "{ kind = \"trace\", file = \"a.losses\" }";
    assert_eq!(expected(&with_loss(trace), &file), (0.015, 4));
    std::fs::remove_dir_all(folder).expect("it was made here");
}

#[test]
fn an_effective_configuration_knows_the_numbers_of_its_trace() {
    let (folder, file) = folder_with("digest", "97 2\n");
    let text = with_loss("{ kind = \"trace\", file = \"a.losses\" }");
    let effective = check(&text, &file).expect("it is right").effective_toml();
    assert!(effective.contains("digest = \""), "{effective}");
    assert!(check(&effective, &file).is_ok());
    // Another text with the same numbers is the same trace; other numbers are not.
    std::fs::write(folder.join("a.losses"), "# of a link\n97 2\n").expect("the temporary folder is writable");
    assert!(check(&effective, &file).is_ok());
    std::fs::write(folder.join("a.losses"), "97 3\n").expect("the temporary folder is writable");
    let error = check(&effective, &file).expect_err("should be refused");
    assert_eq!(error.findings[0].field, "link[0].loss.digest");
    std::fs::remove_dir_all(folder).expect("it was made here");
}

#[test]
fn faults_of_a_trace_are_told_with_file_and_line() {
    let (folder, file) = folder_with("faults", "97 2\nx\n");
    let faults = |name: &str| {
        let text = with_loss(&format!("{{ kind = \"trace\", file = \"{name}\" }}"));
        let error = check(&text, &file).expect_err("should be refused");
        let [finding] = error.findings.as_slice() else { panic!("not one finding:\n{error}") };
        assert_eq!((finding.field.as_str(), finding.line), ("link[0].loss.file", 57), "{error}");
        finding.rule.clone()
    };
    let path = folder.join("a.losses");
    let rule = format!("{}, line 2: must be two whole numbers `arrived lost`, not 'x'", path.display());
    assert_eq!(faults("a.losses"), rule);
    let missing = folder.join("b.losses").display().to_string();
    assert!(faults("b.losses").starts_with(&format!("{missing} cannot be read: ")));
    std::fs::write(folder.join("c.losses"), b"97 2\n\n9\xff 1\n").expect("the temporary folder is writable");
    assert!(faults("c.losses").ends_with("c.losses, line 3: must be text in UTF-8"));
    assert_eq!(faults("a.txt"), "must end in \".losses\"");
    let later = BASE.replace("{ kind = \"none\" }", "{ kind = \"trace\", file = \"a.losses\" }");
    let error = check(&later, &file).expect_err("should be refused");
    assert_eq!(error.findings[0].field, "link[0].changes[0].loss.file");
    std::fs::remove_dir_all(folder).expect("it was made here");
}

#[test]
fn what_no_model_can_be_is_refused() {
    let table = [
        (
            "{ kind = \"gilbert-elliott\", rate = 0.75, mean_burst_frames = 2 }",
            "mean_burst_frames: must be at least 3.000: shorter bursts cannot be 75.0 % of all frames",
        ),
        (
            "{ kind = \"gilbert-elliott\", rate = 0.5, mean_burst_frames = 2, loss_in_burst = 0.4 }",
            "rate: must be below loss_in_burst and not below loss_between_bursts, which are 0.4 and 0: bursts are some of \
             the frames, not all",
        ),
        (
            "{ kind = \"gilbert-elliott\", rate = 0.01, mean_burst_frames = 0.5 }",
            "mean_burst_frames: must be between 1 and 1000000000000",
        ),
        (
            "{ kind = \"bit-errors\", bit_error_rate = 0.6, fec = \"none\" }",
            "bit_error_rate: must be between 0 and 0.5",
        ),
        (
            "{ kind = \"bit-errors\", bit_error_rate = 1e-5, fec = \"rs-255\" }",
            "fec: must be one of \"none\", \"rs-528-514\", \"rs-544-514\"",
        ),
        ("{ kind = \"periodic\", every = 0, first = 10 }", "every: must be between 1 and 1000000000000"),
        ("{ kind = \"periodic\", every = 1000, first = 0 }", "first: must be between 1 and 1000000000000"),
        ("{ kind = \"periodic\", every = 1000, first = -1 }", "first: must be between 1 and 1000000000000"),
        (
            "{ kind = \"periodic\", every = 99999999999999999999, first = 1 }",
            "every: must be between 1 and 1000000000000",
        ),
        ("{ kind = \"periodic\", every = 0.5, first = 1 }", "every: must be a whole number"),
        ("{ kind = \"periodic\", every = \"1000\", first = 1 }", "every: must be a number\nhint: without quotes: 1000"),
        ("{ kind = \"periodic\", every = 1000 }", "first: must be given\nhint: for example: first = 1"),
    ];
    for (loss, expected) in table {
        assert_eq!(told(&with_loss(loss)), format!("link[0].loss.{expected}"));
    }
}
