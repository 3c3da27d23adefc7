//! A flow depends only on resources that it shares: flows elsewhere in the fabric do not affect it.

use std::collections::BTreeMap;

use hitless_simulation::Outcome;

use crate::support::{ideal, leaf_spine, numbers, run, texts, times};

/// Group and position of a flow.
type Key = (String, u64);

/// Start and end of each flow of `groups`, by group and position.
fn ends(outcome: &Outcome, groups: &[&str]) -> BTreeMap<Key, (i64, i64)> {
    let [started, finished] = ["started_ps", "finished_ps"].map(|name| times(outcome, "flows", name));
    let keys = texts(outcome, "flows", "group").iter().zip(numbers(outcome, "flows", "position"));
    let all: Vec<Key> = keys.map(|(group, &position)| (group.clone(), position)).collect();
    let ends: BTreeMap<Key, (i64, i64)> =
        all.iter().cloned().zip(started.iter().copied().zip(finished.iter().copied())).collect();
    assert_eq!(ends.len(), all.len(), "two flows have one group and position");
    ends.into_iter().filter(|((group, _), _)| groups.contains(&group.as_str())).collect()
}

/// 100 TCP flows among the first 14 hosts of a leaf-spine fabric, in the order of `groups`, plus unrelated groups.
fn fabric(transport: &str, groups: &[&str]) -> Outcome {
    let (fabric, switch) = (leaf_spine([4, 4, 4], [10, 10]), ideal("60 KB"));
    run(&format!(
        "name = \"unrelated\"\nuntil = \"all-flows-done\"\nduration = \"1 s\"\n{fabric}{switch}\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\n{transport}\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"1 Gbps\"\n{}",
        groups.concat()
    ))
}

const WEB: &str = "[[flows]]\nname = \"web\"\ntransport = \"tcp\"\nkind = \"poisson\"\nsources = [\"h0..h13\"]\n\
    destinations = [\"h0..h13\"]\nacross = \"switches\"\nload = 0.6\nload_of = \"host-links\"\ncount = 60\n\
    sizes = { kind = \"cdf\", table = \"websearch_dctcp_hpcc\", largest = \"1 MB\" }\n";
const QUERIES: &str = "[[flows]]\nname = \"queries\"\ntransport = \"tcp\"\nkind = \"incast\"\nclients = [\"h0..h13\"]\n\
    servers = [\"h0..h13\"]\nfan_in = 8\nsize = \"40 KB\"\ncount = 5\nperiod = \"40 us\"\n";
/// These flows stay below one leaf, between two hosts without other traffic.
const DATAGRAMS: &str = "[[flows]]\nname = \"datagrams\"\ntransport = \"udp\"\nkind = \"constant-rate\"\n\
    sources = [\"h14\"]\ndestinations = [\"h15\"]\nstop = \"200 us\"\n";
const SHORT: &str = "[[flows]]\nname = \"a short\"\ntransport = \"tcp\"\nkind = \"schedule\"\nperiod = \"3 us\"\n\
    sources = [\"h14\"]\ndestinations = [\"h15\"]\ncount = 50\nsizes = { kind = \"fixed\", bytes = \"1 KB\" }\n";

#[test]
fn flows_that_share_no_link_with_100_others_change_none_of_their_times() {
    // BBR draws from a stream for each flow.
    for transport in ["", "congestion = \"bbr\"\n"] {
        let of = |groups: &[&str]| ends(&fabric(transport, groups), &["web", "queries"]);
        let alone = of(&[WEB, QUERIES]);
        assert_eq!(alone.len(), 100);
        for groups in [
            &[WEB, QUERIES, DATAGRAMS][..],
            &[DATAGRAMS, WEB, QUERIES],
            &[WEB, QUERIES, SHORT],
            &[WEB, SHORT, QUERIES],
            &[SHORT, DATAGRAMS, WEB, QUERIES],
            &[QUERIES, WEB],
        ] {
            assert_eq!(of(groups), alone, "{transport} {groups:?}");
        }
    }
}

/// Four pairs of hosts, each with two switches and four spines for itself. The spines' delays differ, so that a flow's
/// duration reveals its path. The first pair has links of `rate`.
fn loops(rate: &str, groups: &[&str]) -> Outcome {
    let mut links = String::new();
    let mut link = |from: String, to: String, rate: &str, delay: u32| {
        links += &format!("  {{ ends = [\"{from}\", \"{to}\"], rate = \"{rate}\", delay = \"{delay} us\" }},\n");
    };
    for pair in 0..4 {
        let rate = if pair == 0 { rate } else { "10 Gbps" };
        for end in 0..2 {
            link(format!("h{}", 2 * pair + end), format!("l{}", 2 * pair + end), rate, 1);
            (0..4).for_each(|spine| link(format!("l{}", 2 * pair + end), format!("s{pair}{spine}"), rate, 1 + spine));
        }
        if pair > 0 {
            // Connects the pairs into one fabric; no flow uses this link.
            link(format!("l{}", 2 * pair - 1), format!("l{}", 2 * pair), "10 Gbps", 1);
        }
    }
    let quoted = |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let spines = (0..4).flat_map(|pair| (0..4).map(move |spine| format!("s{pair}{spine}")));
    run(&format!(
        "name = \"loops\"\nuntil = \"all-flows-done\"\nduration = \"1 s\"\n\
         [topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [{}]\nlinks = [\n{links}]\n\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\n{}",
        quoted((0..8).map(|host| format!("h{host}")).collect()),
        quoted((0..8).map(|leaf| format!("l{leaf}")).chain(spines).collect()),
        groups.concat()
    ))
}

fn sequence(pair: u32) -> String {
    format!(
        "[[flows]]\nname = \"loop {pair}\"\ntransport = \"tcp\"\nkind = \"sequence\"\nsources = [\"h{}\"]\n\
         destinations = [\"h{}\"]\ncount = 30\nsizes = {{ kind = \"fixed\", bytes = \"20 KB\" }}\n",
        2 * pair,
        2 * pair + 1
    )
}

#[test]
fn a_closed_loop_that_goes_faster_leaves_the_paths_of_all_others() {
    let groups: Vec<String> = (0..4).map(sequence).collect();
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let others = ["loop 1", "loop 2", "loop 3"];
    let [slow, fast] = ["1 Gbps", "40 Gbps"].map(|rate| loops(rate, &groups));
    let of_others = ends(&slow, &others);
    assert_eq!(of_others.len(), 90);
    assert_ne!(ends(&slow, &["loop 0"]), ends(&fast, &["loop 0"]));
    assert_eq!(of_others, ends(&fast, &others));
    let backwards: Vec<&str> = groups.iter().rev().copied().collect();
    assert_eq!(of_others, ends(&loops("1 Gbps", &backwards), &others));
    let took: Vec<i64> = of_others.values().map(|(started, finished)| finished - started).collect();
    assert!(took.iter().any(|&time| time != took[0]), "the times tell the paths");
}

#[test]
fn flows_of_one_moment_at_one_host_keep_their_order_when_another_starts_before_them() {
    let closed = sequence(1) + "start = \"1 ms\"\n";
    let open = closed.replace("loop 1", "open").replace("sequence", "schedule") + "period = \"1 ms\"\n";
    let early = sequence(0).replace("sequence", "schedule") + "period = \"1 ms\"\nstart = \"500 us\"\n";
    let of = |groups: &[&str]| ends(&loops("10 Gbps", groups), &["loop 1", "open"]);
    let alone = of(&[&open, &closed]);
    for groups in [&[open.as_str(), &closed, &early][..], &[&early, &closed, &open], &[&closed, &open]] {
        assert_eq!(of(groups), alone, "{groups:?}");
    }
}
