//! Captures of packets change nothing in a run, and have the same bytes for any division of the network.

use hitless_core::engine::Progress;
use hitless_simulation::Outcome;

use crate::checkpoints;
use crate::support::{drops, dumbbell, example, ideal, of_link, run, simulation, sound};

/// Four flows of TCP and one of datagrams that overflow a bottleneck, which also corrupts frames.
fn crowded(captures: &str) -> String {
    format!(
        "name = \"crowded\"\nduration = \"300 us\"\n{}{}\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\ncongestion = \"cubic\"\nrto_min = \"200 us\"\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"4 Gbps\"\n\
         [[flows]]\nname = \"bulk\"\nkind = \"long\"\ntransport = \"tcp\"\nsources = [\"h0..h3\"]\n\
         destinations = [\"h5..h8\"]\n\
         [[flows]]\nname = \"greedy\"\nkind = \"constant-rate\"\ntransport = \"udp\"\nsources = [\"h4\"]\n\
         destinations = [\"h9\"]\n\
         [[link]]\nname = \"left->right\"\nloss = {{ kind = \"bernoulli\", rate = 3e-2 }}\n{captures}",
        dumbbell(5, "1 us", "2 us"),
        ideal("30 packets"),
    )
}

/// The first packets of every place, few enough to be cut.
pub const SOME: &str = "[[measure.capture]]\nhosts = [\"*\"]\nlinks = [\"*\"]\nports = [\"*\"]\nswitches = [\"*\"]\n\
                        limit = 1_000\n";
const EVERYTHING: &str = "[[measure.capture]]\nhosts = [\"*\"]\nlinks = [\"*\"]\nports = [\"*\"]\nswitches = [\"*\"]\n";

/// The number of a block's packets with this comment in a file.
fn comments(outcome: &Outcome, capture: usize, comment: &str) -> u64 {
    let bytes = &outcome.captures[capture].bytes;
    bytes.windows(comment.len()).filter(|part| *part == comment.as_bytes()).count() as u64
}

#[test]
fn captures_change_nothing_in_a_run() {
    let linkguardian = example("leaf-spine-lossy").replace("duration = ", "duration = \"2200 us\" # ");
    for text in [crowded(""), linkguardian] {
        let (without, with) = (run(&text), run(&format!("{text}\n{EVERYTHING}")));
        assert_eq!(with.summary.trace_hash, without.summary.trace_hash);
        assert!(with.captures[0].counts.packets > 1_000 && without.captures.is_empty());
        for (with, without) in with.tables.iter().zip(&without.tables) {
            assert_eq!(with, without, "table {}", without.name);
        }
    }
}

#[test]
fn a_file_has_the_same_bytes_for_any_division() {
    let limited = EVERYTHING.replace("hosts", "name = \"limited\"\nlimit = 777\nhosts");
    let scenario = sound(&crowded(&format!("{EVERYTHING}{limited}")));
    let whole = simulation(&scenario).run(&Progress::default());
    let [all, some] = &whole.captures[..] else { panic!("two captures") };
    assert_eq!((some.counts.packets, some.counts.accepted), (777, all.counts.packets));
    assert!(whole.summary.warnings.iter().any(|warning| warning.contains("the capture limited has the first 777 of")));
    for (partitions, threads) in [(2, 2), (5, 1), (12, 3)] {
        let divided = simulation(&scenario).run_divided(partitions, threads, &Progress::default());
        for (divided, whole) in divided.captures.iter().zip(&whole.captures) {
            assert!(divided == whole, "{} in {partitions} partitions", whole.counts.name);
        }
    }
}

#[test]
fn a_capture_goes_on_from_a_checkpoint() {
    checkpoints::goes_on(&sound(&crowded(EVERYTHING)), &[0.0, 0.3, 0.8]);
}

#[test]
fn each_loss_is_captured_once_at_its_place() {
    let place = |kind: &str, name: &str| {
        format!("[[measure.capture]]\nname = \"{kind}\"\n{kind} = [\"{name}\"]\ndropped_only = true\n")
    };
    let places = [place("links", "left->right"), place("ports", "left->right"), place("switches", "left")];
    let outcome = run(&crowded(&places.concat()));
    let [links, ports, switches] = &outcome.captures[..] else { panic!("three captures") };
    let corrupted = of_link(&outcome, "left->right", "frames_corrupted");
    let full = drops(&outcome, "queue full");
    assert!(corrupted > 0 && full > 0);
    assert_eq!((links.counts.packets, comments(&outcome, 0, "corrupted on the link")), (corrupted, corrupted));
    assert_eq!((ports.counts.packets, comments(&outcome, 1, "dropped: queue full")), (full, full));
    assert_eq!((switches.counts.packets, comments(&outcome, 2, "dropped: queue full")), (full, full));
}

#[test]
fn a_filter_selects_packets() {
    let with = |filter: &str| run(&crowded(&format!("[[measure.capture]]\nlinks = [\"left->right\"]\n{filter}\n")));
    let packets = |filter: &str| with(filter).captures[0].counts.packets;
    let all = packets("");
    let outcome = with("");
    let arrived = of_link(&outcome, "left->right", "frames_arrived");
    assert_eq!(all, arrived + of_link(&outcome, "left->right", "frames_corrupted"));
    let [bulk, greedy] = ["groups = [\"bulk\"]", "groups = [\"greedy\"]"].map(packets);
    assert!(bulk > 0 && greedy > 0);
    assert_eq!(bulk + greedy, all);
    assert_eq!(packets("protocols = [\"tcp\"]"), bulk);
    assert_eq!((packets("classes = [0]"), packets("classes = [1]")), (all, 0));
    assert_eq!(packets("until = \"150 us\"") + packets("from = \"150 us\""), all);
    assert_eq!(packets("limit = 5"), 5);
}
