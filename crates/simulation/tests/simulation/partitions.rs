//! A run gives the same bytes for any number of partitions and threads.

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_simulation::Outcome;
use proptest::prelude::*;

use crate::captures;
use crate::compositions;
use crate::support::{self, check, simulation, sound};

fn run(scenario: &Scenario, partitions: usize, threads: usize) -> Outcome {
    simulation(scenario).run_divided(partitions, threads, &Progress::default())
}

fn nodes(scenario: &Scenario) -> usize {
    let topology = scenario.build_topology().expect("the topology can be built");
    topology.hosts.len() + topology.switches.len()
}

/// A run's summary as written to disk.
fn summary(outcome: &Outcome) -> String {
    serde_json::to_string_pretty(&outcome.summary).expect("a summary can be written")
}

fn assert_equal(one: &Outcome, other: &Outcome, what: &str) {
    for (one, other) in one.tables.iter().zip(&other.tables) {
        assert_eq!(one, other, "table {} {what}", one.name);
    }
    assert_eq!(summary(one), summary(other), "{what}");
    assert_eq!(one.violations, other.violations, "{what}");
    assert!(one.captures == other.captures, "captures {what}");
}

/// Compares the undivided run of a scenario with divided ones.
pub fn compare(text: &str, divisions: &[(usize, usize)]) {
    let scenario = sound(text);
    let whole = run(&scenario, 1, 1);
    assert_eq!(whole.violations, Vec::<String>::new(), "{text}");
    for &(partitions, threads) in divisions {
        let partitions = partitions.min(nodes(&scenario));
        let divided = run(&scenario, partitions, threads);
        assert_equal(&whole, &divided, &format!("in {partitions} partitions on {threads} threads of\n{text}"));
    }
}

/// Like [`compare`], for a run that can be divided.
pub fn compare_in_pieces(text: &str, divisions: &[(usize, usize)]) {
    assert_eq!(sound(text).undivided_because(), None, "it would run whole: {text}");
    compare(text, divisions);
}

const ALL: usize = usize::MAX;
const DIVISIONS: [(usize, usize); 5] = [(2, 1), (2, 2), (5, 4), (ALL, 1), (ALL, 8)];

/// Two paths from left to right, and a failing link on one.
fn failing(period_us: u64, outage_us: u64) -> String {
    let link = |ends: &str, delay: &str| format!("{{ ends = [{ends}], rate = \"10 Gbps\", delay = \"{delay}\" }},\n");
    let hosts = ["\"a\", \"left\"", "\"b\", \"left\"", "\"c\", \"right\"", "\"d\", \"right\""];
    let ways = ["\"left\", \"upper\"", "\"left\", \"lower\"", "\"upper\", \"right\"", "\"lower\", \"right\""];
    let links: String =
        hosts.iter().map(|ends| link(ends, "1 us")).chain(ways.iter().map(|ends| link(ends, "3 us"))).collect();
    format!(
        "name = \"failing\"\nduration = \"3 ms\"\n[topology]\nkind = \"graph\"\nhosts = [\"a\", \"b\", \"c\", \"d\"]\n\
         switches = [\"left\", \"upper\", \"lower\", \"right\"]\nlinks = [\n{links}]\n\
         [[transport]]\nname = \"cubic\"\nkind = \"tcp\"\ncongestion = \"cubic\"\nrto_min = \"200 us\"\nhandshake = true\n\
         [[flows]]\nname = \"short\"\nkind = \"poisson\"\ntransport = \"cubic\"\n\
         sizes = {{ kind = \"cdf\", table = \"websearch_dctcp_hpcc\", largest = \"100 KB\" }}\nload = 0.5\n\
         load_of = \"source-host-links\"\nsources = [\"a\", \"b\"]\ndestinations = [\"c\", \"d\"]\n\
         [[failure]]\nlink = \"left<->upper\"\nfirst = \"{period_us} us\"\nevery = \"{period_us} us\"\n\
         outage = \"{outage_us} us\"\n[recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\n\
         scheme = {{ kind = \"local-reroute\", reconfiguration = \"70 us\", backup = \"first\" }}\n\
         [[measure.queue]]\nports = [\"left->upper\"]\nperiod = \"7 us\"\nper_flow = true\n\
         [[measure.throughput]]\nlinks = [\"left->upper\"]\nperiod = \"11 us\"\n\
         [[measure.flow]]\ngroup = \"short\"\nperiod = \"13 us\"\n\
         [[measure.goodput]]\ngroup = \"short\"\nperiod = \"17 us\"\n"
    )
}

/// Short TCP flows, RoCE messages and datagrams share a fabric until all are done.
fn mixed(topology: &str, hosts: usize, delay_ps: u64, size_kb: u64, seed: u64) -> String {
    let (half, last) = (hosts / 2, hosts - 1);
    format!(
        "name = \"mixed\"\nseed = {seed}\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n[topology]\n{topology}\
         host_link = {{ rate = \"10 Gbps\", delay = \"{delay_ps} ps\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"30 packets\" }}\necn = {{ threshold = \"10 packets\" }}\n\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\ncongestion = \"dctcp\"\nrto_min = \"300 us\"\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"2 Gbps\"\n\
         [[transport]]\nname = \"roce\"\nkind = \"roce\"\n\
         [[flows]]\nname = \"permutation\"\nkind = \"permutation\"\ntransport = \"tcp\"\nsize = \"{size_kb} KB\"\n\
         spread = \"20 us\"\n\
         [[flows]]\nname = \"messages\"\nkind = \"requests\"\ntransport = \"roce\"\nsize = \"3 KB\"\ncount = 3\n\
         sources = [\"h0\"]\ndestinations = [\"h{half}\"]\n\
         [[flows]]\nname = \"incast\"\nkind = \"incast\"\ntransport = \"tcp\"\nfan_in = 3\nsize = \"20 KB\"\n\
         period = \"100 us\"\ncount = 2\nclients = [\"h{last}\"]\nservers = [\"h0..h{half}\"]\n\
         [[measure.goodput]]\ngroup = \"permutation\"\nperiod = \"10 us\"\n"
    )
}

const LEAF_SPINE: &str = "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 3\n\
                          core_link = { rate = \"10 Gbps\", delay = \"1 us\" }\n";
const FAT_TREE: &str = "kind = \"fat-tree\"\nk = 4\ncore_link = { rate = \"10 Gbps\", delay = \"500 ns\" }\n";

#[test]
fn failures_recovery_and_samples_are_the_same_in_pieces() {
    // A failure with frames in flight in both directions, and a failure that ends during its detection.
    for (period_us, outage_us) in [(500, 200), (100, 20)] {
        compare(&(failing(period_us, outage_us) + captures::SOME), &DIVISIONS);
    }
}

#[test]
fn a_run_until_all_flows_are_done_ends_at_the_same_time() {
    for (topology, hosts) in [(LEAF_SPINE, 12), (FAT_TREE, 16)] {
        compare(&mixed(topology, hosts, 1_000_000, 100, 1), &DIVISIONS);
    }
}

#[test]
fn windows_may_be_as_short_as_a_picosecond() {
    compare(&mixed(LEAF_SPINE, 12, 1, 6, 3), &[(2, 2), (ALL, 1), (ALL, 2)]);
}

/// Copies of LinkGuardian wait at the end in paused queues of switches that are joined by then (swarm, seed 58,000,100).
#[test]
fn a_run_in_pieces_ends_with_packets_of_mechanisms_in_stopped_queues() {
    compare_in_pieces(
        "name = \"world\"\nseed = 2320004000\nduration = \"60 ms\"\nuntil = \"all-flows-done\"\n\
         mechanism = [{ kind = \"linkguardian\", link = \"left->right\" }]\n\
         topology = { kind = \"dumbbell\", hosts_left = 1, hosts_right = 1, \
         bottleneck = { rate = \"10 Gbps\", delay = \"1 us\" }, host_link = { rate = \"10 Gbps\", delay = \"1 us\" } }\n\
         transport = [{ name = \"t0\", kind = \"tcp\" }]\n\
         [[flows]]\nname = \"g0\"\nkind = \"poisson\"\ntransport = \"t0\"\ncount = 1\nflows_per_second = 1\n\
         sizes = { kind = \"fixed\", bytes = \"1 B\" }\n",
        &[(2, 2)],
    );
}

#[test]
fn a_card_with_a_changing_line_is_the_same_in_pieces() {
    let text = "name = \"world\"\nseed = 2400126480\nduration = \"60 ms\"\nuntil = \"all-flows-done\"\n\
         topology = { kind = \"fat-tree\", k = 2, \
         core_link = { rate = \"100 Gbps\", delay = \"1 us\" }, host_link = { rate = \"100 Gbps\", delay = \"1 ns\" } }\n\
         transport = [{ name = \"t0\", kind = \"uet\", congestion = \"both\", mtu = \"1 B\" }]\n\
         [[flows]]\nname = \"g0\"\nkind = \"poisson\"\ntransport = \"t0\"\ncount = 7\nflows_per_second = 245\n\
         sizes = { kind = \"fixed\", bytes = \"3 B\" }\n\
         [[link]]\nname = \"h1->edge1\"\nchanges = [{ at = \"164329 ns\", rate = \"1 Gbps\", delay = \"7 us\" }]\n";
    compare_in_pieces(text, &DIVISIONS);
}

/// A sender divides its request for credit by the flows in line for its card. A flow that has ended there does not count,
/// even if its receiver is open in the same partition (swarm, seed 58,001,042).
#[test]
fn requests_for_credit_count_the_same_flows_in_pieces() {
    compare_in_pieces(
        "name = \"world\"\nseed = 2320041681\nduration = \"60 ms\"\nuntil = \"all-flows-done\"\n\
         switch = { pfc = {} }\n\
         topology = { kind = \"leaf-spine\", leaves = 2, spines = 1, hosts_per_leaf = 3, \
         core_link = { rate = \"400 Gbps\", delay = \"1 us\" }, host_link = { rate = \"25 Gbps\", delay = \"1 us\" } }\n\
         transport = [{ name = \"t0\", kind = \"uet\", congestion = \"both\" }]\n\
         [[flows]]\nname = \"g0\"\nkind = \"long\"\ntransport = \"t0\"\nsources = [\"h1\"]\n\
         destinations = [\"h4\"]\nstart = \"127 us\"\nstop = \"213 us\"\n\
         [[flows]]\nname = \"g1\"\nkind = \"poisson\"\ntransport = \"t0\"\nstart = \"75 us\"\ncount = 6\n\
         flows_per_second = 111673\nsizes = { kind = \"cdf\", table = \"google_searchrpc_homa\" }\n",
        &[(2, 2)],
    );
}

#[test]
fn datagrams_end_when_the_receiver_has_them_or_gives_up() {
    let (fabric, buffer) = (support::dumbbell(2, "1 us", "2 us"), support::ideal("20 packets"));
    for rate in ["1 Gbps", "7 Gbps"] {
        let text = format!(
            "name = \"datagrams\"\nuntil = \"all-flows-done\"\nduration = \"200 ms\"\n{fabric}{buffer}\
             [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"{rate}\"\n\
             [[flows]]\nname = \"one\"\nkind = \"schedule\"\ntransport = \"udp\"\ncount = 3\n\
             sizes = {{ kind = \"fixed\", bytes = \"300 KB\" }}\n\
             period = \"50 us\"\nsources = [\"h0\"]\ndestinations = [\"h2\"]\n\
             [[flows]]\nname = \"two\"\nkind = \"schedule\"\ntransport = \"udp\"\ncount = 3\n\
             sizes = {{ kind = \"fixed\", bytes = \"300 KB\" }}\n\
             period = \"50 us\"\nsources = [\"h1\"]\ndestinations = [\"h3\"]\n"
        );
        compare(&text, &DIVISIONS);
    }
}

/// Regression: one millisecond of a large fabric is a thousand windows, and no progress was reported before its end.
#[test]
fn a_run_of_few_windows_tells_of_its_progress() {
    let text = mixed(&FAT_TREE.replace("500 ns", "50 us"), 16, 1_000_000, 20_000, 1);
    let progress = Progress::default();
    let outcome = simulation(&sound(&text)).run_divided(2, 2, &progress);
    assert!(outcome.summary.transmissions > 300_000, "{}", outcome.summary.transmissions);
    assert!(progress.fraction() > 0.1, "{}", progress.fraction());
}

#[test]
fn what_cannot_be_divided_runs_whole() {
    let text = mixed(LEAF_SPINE, 12, 1_000_000, 10, 1);
    let scenario = sound(&text);
    assert_eq!(scenario.undivided_because(), None);
    let measured = "[[measure.goodput]]\ngroup = \"permutation\"\nperiod = \"10 us\"\n";
    let ordered = sound(&text.replace(measured, "[measure]\norder = true\n"));
    assert!(ordered.undivided_because().is_some_and(|reason| reason.contains("order")));
    assert_equal(&run(&ordered, 1, 1), &run(&ordered, 2, 2), "whole");
    let sequence = format!(
        "{text}[[flows]]\nname = \"loop\"\nkind = \"sequence\"\ntransport = \"roce\"\ncount = 2\n\
         sizes = {{ kind = \"fixed\", bytes = \"3 KB\" }}\nsources = [\"h0\"]\ndestinations = [\"h1\"]\n"
    );
    let sequence = sound(&sequence);
    assert!(sequence.undivided_because().is_some_and(|reason| reason.contains("sequence")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_mechanism_is_the_same_in_pieces(text in compositions::texts(), division in prop::sample::select(&DIVISIONS[..])) {
        if check(&text).is_ok() {
            compare(&(text + captures::SOME), &[division]);
        }
    }

    #[test]
    fn fabrics_are_the_same_in_pieces(
        fat_tree in any::<bool>(),
        delay_ps in prop_oneof![Just(1_000_000_u64), Just(50_000), 0_u64..200_000],
        size_kb in 1_u64..60,
        seed in 0_u64..1_000,
        partitions in prop_oneof![Just(2_usize), Just(5), Just(ALL)],
        threads in prop::sample::select(&[1_usize, 2, 4, 8][..]),
    ) {
        let (topology, hosts) = if fat_tree { (FAT_TREE, 16) } else { (LEAF_SPINE, 12) };
        compare(&mixed(topology, hosts, delay_ps, size_kb, seed), &[(partitions, threads)]);
    }
}

#[test]
fn examples_are_the_same_in_pieces() {
    for name in ["dumbbell", "bench-c", "link-failure"] {
        compare(support::example(name), &[(2, 2), (ALL, 2)]);
    }
}

/// Found by the swarm (seed 90293571).
#[test]
fn a_sender_that_becomes_faster_is_the_same_in_every_division() {
    compare_in_pieces(
        r#"
duration = "60 ms"
name = "world"
seed = 3611742840
until = "all-flows-done"

[[flows]]
count = 11
destinations = ["h3"]
kind = "schedule"
name = "g0"
period = "22 us"
sources = ["h1"]
start = "99 us"
transport = "t0"

[flows.sizes]
kind = "pareto"
mean = "5 KB"
shape = 1.2

[[link]]
name = "h1<->right"

[[link.changes]]
at = "212224 ns"
rate = "25 Gbps"

[topology]
hosts_left = 1
hosts_right = 3
kind = "dumbbell"

[topology.bottleneck]
delay = "1 us"
rate = "100 Gbps"

[topology.host_link]
delay = "1 ns"
rate = "10 Gbps"

[[transport]]
base_rtt = "7 us"
congestion = "both"
kind = "uet"
mtu = "1400 B"
name = "t0"
"#,
        &[(2, 1), (ALL, 1)],
    );
}
