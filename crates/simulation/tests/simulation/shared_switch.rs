//! Mechanisms on separate ports of shared switches, with failing and corrupting links: an accepted scenario violates no
//! invariant.

use std::collections::BTreeSet;

use hitless_simulation::Outcome;
use proptest::prelude::*;

use crate::support;

/// Kind, and ports or links. The leaves have hosts h0 to h3 and h4 to h7.
const MECHANISMS: [(&str, &str); 16] = [
    ("sqr", "links = [\"leaf0<->spine0\"]"),
    ("sqr", "links = [\"leaf1->spine1\"]\ncaching = \"delay-queue\""),
    ("linkguardian", "link = \"spine1->leaf1\""),
    ("linkguardian", "link = \"leaf0->spine0\"\nmode = \"non-blocking\""),
    ("afq", "ports = [\"leaf1->h6\", \"leaf1->h7\"]\necn_rounds = 8"),
    ("afq", "ports = [\"spine0->leaf0\", \"spine1->leaf0\"]"),
    ("afq", "ports = [\"leaf0->spine0\"]"),
    ("rimm", "ports = [\"leaf1->h5\"]"),
    ("rimm", "ports = [\"leaf0->h0\", \"leaf1->h5\"]\nrelease = \"exact\""),
    ("rimm", "ports = [\"leaf0\"]\nneighbour_change = \"any-time\""),
    ("preemptive-deflection", "ports = [\"leaf1->h4\"]\nalpha = 0.5"),
    ("preemptive-deflection", "ports = [\"leaf0\", \"leaf1->h4\"]"),
    (
        "simple-deflection",
        "ports = [\"leaf1->h4\", \"leaf1->h6\"]\noccupancy = { kind = \"control-packets\", packets = 40 }",
    ),
    ("dibs", "ports = [\"spine0->leaf1\"]"),
    ("aifo", "ports = [\"leaf1->h4\"]"),
    ("vertigo", "ports = [\"leaf0->h1\"]"),
];
/// One configuration of each of the five systems that can run together.
const FIVE: [usize; 5] = [0, 2, 4, 7, 10];
const MARKS: &str =
    "[host]\npriority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"100 us\" }\n";

/// Flows that fill the links, responses to h4, bursts to h5; one link fails and another corrupts frames.
fn text(mechanisms: &[(&str, &str)], host: &str) -> String {
    let mechanisms: String =
        mechanisms.iter().map(|(kind, lines)| format!("[[mechanism]]\nkind = \"{kind}\"\n{lines}\n")).collect();
    let fabric = support::leaf_spine([2, 2, 4], [10, 20]);
    format!(
        "name = \"shared\"\nduration = \"2 ms\"\n{host}{fabric}\
         [switch]\npreset = \"tofino-like\"\ndepth_visible = \"ingress-and-egress\"\n\
         buffer = {{ kind = \"static\", per_port = \"60 KB\" }}\n\
         [recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\n\
         scheme = {{ kind = \"local-reroute\", reconfiguration = \"70 us\" }}\n\
         [[failure]]\nlink = \"leaf0<->spine0\"\nfirst = \"500 us\"\noutage = \"500 us\"\n\
         [[link]]\nname = \"spine1->leaf1\"\nloss = {{ kind = \"bernoulli\", rate = 0.01 }}\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nrto_min = \"300 us\"\ninitial_window = 40\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"t\"\n\
         sources = [\"h0\", \"h1\", \"h5\", \"h6\"]\ndestinations = [\"h6\", \"h7\", \"h0\", \"h1\"]\n\
         [[flows]]\nname = \"answers\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 6\nsize = \"20 KB\"\n\
         period = \"150 us\"\nclients = [\"h4\", \"h5\"]\n{mechanisms}[measure]\norder = true\n"
    )
}

/// The outcome; `None` if the scenario is refused.
fn run(mechanisms: &[(&str, &str)], host: &str) -> Option<Outcome> {
    support::check(&text(mechanisms, host)).ok().map(|scenario| support::run_scenario(&scenario))
}

#[test]
fn all_five_share_a_switch_and_mask_what_their_links_lose() {
    let outcome = run(&FIVE.map(|number| MECHANISMS[number]), MARKS).expect("each has ports of its own");
    let on_links = |reason| support::drops(&outcome, reason);
    assert!(on_links("corrupted on a link") > 0 && on_links("lost on a link that was down") > 0);
    let in_switches: u64 = support::sum(&outcome, "drops", "packets");
    // A packet dropped in a switch can be one of two copies while the other arrives.
    let lost = outcome.summary.order.expect("it was measured").packets_lost;
    assert!(
        lost <= in_switches && lost + 2 > in_switches,
        "{lost} lost, {in_switches} in switches: all else was masked"
    );
    for counter in ["packets_sent_from_cache", "packets_recovered", "packets_served", "packets_released_in_order"] {
        assert!(support::counter(&outcome, counter) > 0, "{counter}");
    }
    let detoured = support::counters(&outcome, "packets_detoured");
    assert!(detoured.iter().filter(|&&count| count > 0).count() > 1, "RIMM and deflection: {detoured:?}");
}

#[test]
fn every_pair_on_ports_of_its_own_is_refused_or_keeps_what_it_promises() {
    let pairs = (0..MECHANISMS.len()).flat_map(|first| (first..MECHANISMS.len()).map(move |second| (first, second)));
    let ran: BTreeSet<(usize, usize)> = pairs
        .filter(|&(first, second)| {
            let mut mechanisms = vec![MECHANISMS[first], MECHANISMS[second]];
            mechanisms.dedup();
            run(&mechanisms, if (first + second).is_multiple_of(2) { MARKS } else { "" }).is_some()
        })
        .collect();
    let alone: Vec<_> = (0..MECHANISMS.len()).filter(|&one| !ran.contains(&(one, one))).collect();
    assert!(alone.is_empty(), "never ran alone: {alone:?}");
    let together = FIVE.iter().flat_map(|&first| FIVE.map(|second| (first, second)));
    let refused: Vec<_> =
        together.filter(|(first, second)| first < second && !ran.contains(&(*first, *second))).collect();
    assert!(refused.is_empty(), "two of the five are refused: {refused:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_combination_is_refused_or_runs(
        mechanisms in prop::collection::vec(prop::sample::select(&MECHANISMS[..]), 2..6),
        host in prop_oneof![Just(MARKS), Just("")],
    ) {
        run(&mechanisms, host);
    }
}
