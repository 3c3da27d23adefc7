//! Packet trimming in a fabric: losses repaired without timeouts, and correct counts of trimmed packets.

use crate::support::{ideal, leaf_spine, run, sum};

/// Hosts of other leaves send to h0 at the same time; the queues hold 20 frames.
fn text(transport: &str, mechanism: &str) -> String {
    let (fabric, switch) = (leaf_spine([4, 2, 3], [10, 40]), ideal("30 KB"));
    format!(
        "name = \"trimming\"\nduration = \"60 ms\"\n{fabric}{switch}checked = true\n[measure]\norder = true\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\n{transport}\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\nkind = \"incast\"\nfan_in = 9\nsize = \"15 KB\"\n\
         period = \"2 ms\"\ncount = 15\nclients = [\"h0\"]\nservers = [\"h3..h11\"]\n{mechanism}\n"
    )
}

const NEWRENO: &str = "congestion = \"newreno\"\nrto_min = \"1 ms\"\n";
const WITHOUT_SACK: &str = "congestion = \"newreno\"\nrto_min = \"1 ms\"\nsack = false\nrack_tlp = false\n";
const TRIMMING: &str = "[[mechanism]]\nkind = \"trimming\"\n";

#[test]
fn an_incast_that_overflows_its_queue_is_repaired_without_timeouts() {
    for transport in [NEWRENO, WITHOUT_SACK] {
        let without = run(&text(transport, ""));
        let with = run(&text(transport, TRIMMING));
        assert!(without.summary.drops.contains_key("queue full"), "{:?}", without.summary.drops);
        assert!(sum(&without, "flows", "timeouts") > 0);
        let trimmed = sum(&with, "flows", "packets_trimmed");
        let timeouts = sum(&with, "flows", "timeouts");
        assert!(trimmed > 50 && timeouts == 0, "{trimmed} trimmed, {timeouts} timeouts");
        assert_eq!(with.summary.drops.get("queue full"), None, "{:?}", with.summary.drops);
        assert_eq!(with.summary.flows.completed, 15 * 9);
        assert!(sum(&with, "flows", "packets_retransmitted") >= trimmed);
    }
}

#[test]
fn what_was_cut_counts_as_lost_and_nothing_arrives_twice() {
    let outcome = run(&text(NEWRENO, TRIMMING));
    let order = outcome.summary.order.as_ref().expect("the checker is on");
    assert_eq!((order.packets_lost, order.packets_duplicated), (sum(&outcome, "flows", "packets_trimmed"), 0));
}

#[test]
fn headers_that_find_their_queue_full_are_lost_and_repaired_all_the_same() {
    let outcome = run(&text(NEWRENO, &format!("{TRIMMING}queue = \"2 packets\"\ncontrol_too = false\n")));
    assert!(outcome.summary.drops["queue full"] > 0, "{:?}", outcome.summary.drops);
    assert_eq!(outcome.summary.flows.completed, 15 * 9);
}
