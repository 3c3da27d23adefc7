//! The power of two choices among next hops: balanced load for each packet, but reordering.

use hitless_simulation::Outcome;

use crate::support::{check, ideal, leaf_spine, run};

/// Four hosts of a leaf send to four of the other over four spines, each at the rate of a spine link.
fn text(routing: &str) -> String {
    let (fabric, switch) = (leaf_spine([2, 4, 4], [10, 10]), ideal("60 KB"));
    format!(
        "name = \"two-choices\"\nduration = \"5 ms\"\n{fabric}\
         [routing]\n{routing}\n{switch}[measure]\norder = true\n\
         [[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"8 Gbps\"\n\
         [[flows]]\nname = \"pairs\"\ntransport = \"t\"\nkind = \"constant-rate\"\nsources = [\"h0..h3\"]\n\
         destinations = [\"h4..h7\"]\nspacing = \"310 ns\"\nstop = \"4 ms\"\n"
    )
}

const TWO: &str = "choice = \"two-choices\"";

#[test]
fn flows_that_collide_by_their_hash_share_all_links_by_two_choices() {
    let (hashed, chosen) = (run(&text("")), run(&text(TWO)));
    let drops = &hashed.summary.drops;
    assert!(drops.contains_key("queue full"), "two of the four flows collide: {drops:?}");
    assert!(chosen.summary.drops.is_empty(), "{:?}", chosen.summary.drops);
    let reordered = |outcome: &Outcome| outcome.summary.order.as_ref().map(|order| order.packets_reordered);
    assert_eq!(reordered(&hashed), Some(0));
    assert!(reordered(&chosen) > Some(0), "packets overtake each other");
}

#[test]
fn the_choices_follow_the_seed() {
    let hash = |seed: u64| run(&text(TWO).replace("duration", &format!("seed = {seed}\nduration"))).summary.trace_hash;
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn what_two_choices_cannot_know_is_refused() {
    let checked = text(TWO).replace("preset = \"ideal\"", "checked = true\ndepth_visible = \"egress\"");
    let rerouted = text(TWO).replace(
        "[measure]",
        "[recovery]\nscheme = { kind = \"local-reroute\" }\n[[failure]]\nlink = \"leaf0<->spine0\"\nfirst = \"1 ms\"\n\
         outage = \"1 ms\"\n[measure]",
    );
    for (text, expected) in
        [(checked, "reads the depths of queues in ingress"), (rerouted, "no way round a failed link")]
    {
        let error = check(&text).expect_err("this cannot be meant");
        assert!(error.contains("routing.choice") && error.contains(expected), "{error}");
    }
}
