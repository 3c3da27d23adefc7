//! Paths over a failed link are withdrawn by all switches, and restored after the repair.

use hitless_simulation::Outcome;

use crate::support::{check, of_link, run, sound, sum, times};
use crate::{checkpoints, partitions};

/// Flows of 500 Mb/s from every host of the first pod to every host of the last. The link fails at 1 ms.
fn text(duration_ms: u32, outage: &str, scheme: &str) -> String {
    format!(
        "name = \"withdrawal\"\nduration = \"{duration_ms} ms\"\n\
         [topology]\nkind = \"fat-tree\"\nk = 4\nhost_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"1 MB\" }}\n\
         [[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"500 Mbps\"\n\
         [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"u\"\nsources = [\"h0..h3\", \"h12..h15\"]\n\
         destinations = [\"h12..h15\", \"h0..h3\"]\n\
         [[failure]]\nlink = \"agg0<->core0\"\nfirst = \"1 ms\"\n{outage}\n\
         [recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\nscheme = {scheme}\n"
    )
}

const FOR_EVER: &str = "outage = \"1 s\"";
const WITHDRAW: &str = "{ kind = \"withdraw\", notice = \"200 us\" }";

fn carried(outcome: &Outcome) -> u64 {
    of_link(outcome, "agg0->core0", "frames_sent") + of_link(outcome, "core0->agg0", "frames_sent")
}

#[test]
fn packets_are_lost_until_all_switches_know_and_none_afterwards() {
    let [short, long] = [3, 5].map(|duration_ms| run(&text(duration_ms, FOR_EVER, WITHDRAW)));
    let lost = |outcome: &Outcome| sum(outcome, "links", "frames_lost_down");
    assert!(lost(&short) > 0);
    assert_eq!(lost(&short), lost(&long), "nothing is lost once the paths are withdrawn");
    assert_eq!(carried(&short), carried(&long), "nobody sends on the link");
    assert_eq!(long.summary.drops.values().sum::<u64>(), lost(&long), "{:?}", long.summary.drops);
    // Without a withdrawal the loss goes on.
    let ignored = run(&text(5, FOR_EVER, "{ kind = \"none\" }"));
    assert!(lost(&ignored) > 10 * lost(&long), "{} and {}", lost(&ignored), lost(&long));
    let at = |name: &str| times(&long, "failures", name)[0];
    for end in ["from", "to"] {
        assert_eq!(at(&format!("{end}_detected_ps")), 1_030_000_000);
        assert_eq!(at(&format!("{end}_recovered_ps")), 1_230_000_000);
    }
}

#[test]
fn paths_come_back_after_the_repair() {
    let repaired = run(&text(5, "outage = \"1 ms\"", WITHDRAW));
    let cut = run(&text(5, FOR_EVER, WITHDRAW));
    assert!(carried(&repaired) > 2 * carried(&cut), "{} and {}", carried(&repaired), carried(&cut));
    // From 2 ms + 30 us + 200 us on as many frames as before 1 ms + 230 us, within the phase of each flow.
    let rate_per_ms = carried(&cut) as f64 / 1.23;
    let expected = rate_per_ms * (1.23 + 5.0 - 2.23);
    assert!((carried(&repaired) as f64 / expected - 1.0).abs() < 0.02, "{} for {expected}", carried(&repaired));
}

#[test]
fn withdrawals_are_equal_on_threads_and_after_checkpoints() {
    let text = text(4, "every = \"1500 us\"\noutage = \"700 us\"", WITHDRAW);
    partitions::compare(&text, &[(2, 1), (2, 2), (5, 2)]);
    checkpoints::goes_on(&sound(&text), &[0.2, 0.28, 0.4, 0.5, 0.9]);
}

#[test]
fn failures_must_be_further_apart_than_their_withdrawal_takes() {
    let refused = check(&text(4, "every = \"900 us\"\noutage = \"700 us\"", WITHDRAW)).expect_err("930 us");
    assert!(refused.contains("failure[0].every"), "{refused}");
}
