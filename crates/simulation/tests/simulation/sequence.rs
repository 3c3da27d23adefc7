//! Sequences: each flow starts after the end of the previous one.

use hitless_simulation::Outcome;

use crate::support::{self, times};

fn run(flows: &str) -> Outcome {
    let fabric = support::dumbbell(1, "1 us", "10 us");
    support::run(&format!(
        "name = \"sequence\"\nuntil = \"all-flows-done\"\nduration = \"1 s\"\n{fabric}\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\n\
         [[flows]]\nname = \"first\"\nkind = \"sequence\"\ntransport = \"tcp\"\nsources = [\"h0\"]\n\
         destinations = [\"h1\"]\n\
         sizes = {{ kind = \"cdf\", table = \"websearch_dctcp_hpcc\", largest = \"100 KB\" }}\n{flows}\n"
    ))
}

#[test]
fn each_flow_starts_a_gap_after_the_end_of_the_one_before() {
    let outcome = run("start = \"3 us\"\ncount = 20\ngap = \"7 us\"");
    let (starts, ends) = (times(&outcome, "flows", "started_ps"), times(&outcome, "flows", "finished_ps"));
    assert_eq!((starts.len(), starts[0]), (20, 3_000_000));
    for (start, end) in starts[1..].iter().zip(ends) {
        assert_eq!(start - end, 7_000_000);
    }
    assert_eq!((outcome.summary.flows.completed, outcome.summary.ended_by), (20, "all flows done"));
}

#[test]
fn a_sequence_ends_with_its_group() {
    let outcome = run("stop = \"1 ms\"");
    let starts = times(&outcome, "flows", "started_ps");
    assert!(starts.len() > 3 && starts.iter().all(|&start| start < 1_000_000_000), "{starts:?}");
    assert_eq!(outcome.summary.ended_by, "all flows done");
}

/// Found by the swarm: the last acknowledgement arrives in a poll, which is a host event and comes after the flow
/// starts of the same time.
#[test]
fn a_flow_follows_one_whose_end_a_poll_has_brought() {
    let outcome = run("count = 5\n[host.kernel.gro]");
    assert_eq!((outcome.summary.flows.completed, outcome.summary.ended_by), (5, "all flows done"));
    let (starts, ends) = (times(&outcome, "flows", "started_ps"), times(&outcome, "flows", "finished_ps"));
    assert!(starts[1..].iter().zip(ends).all(|(start, end)| start - end == 1), "{starts:?} {ends:?}");
}
