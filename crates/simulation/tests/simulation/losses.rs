//! Loss models on a fabric, from a scenario file: link counters and repeatability.

use hitless_simulation::Outcome;

use crate::support::{self, numbers, sum};
use crate::testbed;

/// Full frames at line rate over a link with `link`'s settings, for 40 ms: 325,000 frames at 100G.
pub fn text(link: &str) -> String {
    let fabric = testbed::fabric(100);
    format!(
        "name = \"losses\"\nduration = \"40 ms\"\n{fabric}[[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"100 Gbps\"\n\
         [[flows]]\nname = \"datagrams\"\ntransport = \"udp\"\nkind = \"constant-rate\"\nsources = [\"h4\"]\n\
         destinations = [\"h8\"]\n[[link]]\nname = \"sw2->sw6\"\n{link}\n"
    )
}

fn run(link: &str) -> Outcome {
    support::run(&text(link))
}

/// Number of corrupted arrivals on all links.
fn corrupted(outcome: &Outcome) -> u64 {
    sum(outcome, "links", "frames_corrupted")
}

/// Histogram of runs of consecutive lost frames.
fn runs(outcome: &Outcome) -> Vec<(u64, u64)> {
    let of = |column| numbers(outcome, "corrupted_runs", column).iter().copied();
    of("frames").zip(of("count")).collect()
}

const MODELS: [(&str, f64); 6] = [
    ("loss = { kind = \"bernoulli\", rate = 0.01 }", 0.01),
    ("loss = { kind = \"gilbert-elliott\", rate = 0.01, mean_burst_frames = 2 }", 0.01),
    // 1 + 12,207 / 5,120 codewords in a full frame, each lost with 0.561 %.
    ("loss = { kind = \"bit-errors\", bit_error_rate = 5e-4, fec = \"rs-528-514\" }", 0.018_86),
    // 1 + 12,207 / 5,120 codewords in a full frame, each lost with 0.872 %.
    ("loss = { kind = \"bit-errors\", bit_error_rate = 1.5e-3, fec = \"rs-544-514\" }", 0.029_2),
    // 1 + 12,207 / 64 blocks of 66 bits.
    ("loss = { kind = \"bit-errors\", bit_error_rate = 1e-6, fec = \"none\" }", 0.012_57),
    ("loss = { kind = \"periodic\", every = 100, first = 7 }", 0.01),
];

#[test]
fn every_model_loses_at_its_rate_and_repeats_itself() {
    let file = std::env::temp_dir().join(format!("hitless-rate-{}.losses", std::process::id()));
    std::fs::write(&file, "196 1\n100 2\n1 0\n").expect("the temporary folder is writable");
    let trace = format!("loss = {{ kind = \"trace\", file = \"{}\" }}", file.display());
    for (model, rate) in MODELS.into_iter().chain([(trace.as_str(), 0.01)]) {
        let [first, again] = [run(model), run(model)];
        assert_eq!(first.summary.trace_hash, again.summary.trace_hash, "{model}");
        let frames = 325_000.0;
        let share = corrupted(&first) as f64 / frames;
        assert!((share / rate - 1.0).abs() < 0.08, "{model}: {share}");
        let in_rows: u64 = runs(&first).iter().map(|(length, count)| length * count).sum();
        assert!(corrupted(&first) - in_rows < 10, "{model}: all are in a row, but for one under way");
    }
    std::fs::remove_file(file).expect("it was made here");
}

#[test]
fn bursts_come_as_long_as_they_are_said_to_be() {
    let mean = |model: &str| {
        let runs = runs(&run(model));
        let (frames, count) = runs.iter().fold((0, 0), |(f, c), (length, n)| (f + length * n, c + n));
        frames as f64 / count as f64
    };
    assert!((mean(MODELS[0].0) - 1.0 / 0.99).abs() < 0.01);
    assert!((mean(MODELS[1].0) - 2.0).abs() < 0.15);
}

#[test]
fn losses_change_during_the_run() {
    let burst = "{ kind = \"gilbert-elliott\", rate = 0.02, mean_burst_frames = 5 }";
    let changes = format!(
        "changes = [{{ at = \"10 ms\", loss = {burst} }}, {{ at = \"20 ms\", loss = {{ kind = \"none\" }} }}, \
         {{ at = \"30 ms\", loss = {{ kind = \"bit-errors\", bit_error_rate = 1e-6, fec = \"none\" }} }}]"
    );
    let outcome = run(&changes);
    let expected = 81_274.0 * (0.02 + 0.012_57);
    assert!((corrupted(&outcome) as f64 / expected - 1.0).abs() < 0.15, "{}", corrupted(&outcome));
}

#[test]
fn a_period_loses_to_the_frame() {
    for (every, first) in [(1_000, 10), (1_000, 100_000), (7, 1)] {
        let outcome = run(&format!("loss = {{ kind = \"periodic\", every = {every}, first = {first} }}"));
        let links = numbers(&outcome, "links", "frames_corrupted");
        let lossy = (0..links.len()).find(|&link| links[link] > 0).expect("a link loses frames");
        let of = |column| numbers(&outcome, "links", column)[lossy];
        let (arrived, lost) = (of("frames_arrived"), of("frames_corrupted"));
        assert_eq!(lost, corrupted(&outcome), "only one direction loses frames");
        let expected = (arrived + lost + every - first) / every;
        assert_eq!(lost, expected, "every {every} from {first}: {arrived} arrived");
        assert_eq!(runs(&outcome), [(1, lost)], "every {every} from {first}: one at a time");
    }
}

#[test]
fn a_trace_is_played_to_the_frame() {
    let folder = std::env::temp_dir().join(format!("hitless-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    std::fs::write(folder.join("a.losses"), "1000 3\n500 1\n").expect("the temporary folder is writable");
    for (at_end, expected) in [("stop", vec![(1, 1), (3, 1)]), ("repeat", vec![(1, 216), (3, 216)])] {
        let link = format!("loss = {{ kind = \"trace\", file = \"a.losses\", at_end = \"{at_end}\" }}");
        let file = folder.join("losses.toml").display().to_string();
        let scenario = hitless_scenario::check(&text(&link), &file, hitless_mechanisms::builtin())
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(runs(&support::run_scenario(&scenario)), expected, "{at_end}");
    }
    std::fs::remove_dir_all(folder).expect("it was made here");
}
