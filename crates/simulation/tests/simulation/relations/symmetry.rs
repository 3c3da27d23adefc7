//! Equal senders get equal shares, regardless of the numbers of their ports.

use std::collections::BTreeMap;

use super::{delivered, star};
use crate::support::{self, run};

const LINE_RATE: &str = "[[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"100 Gbps\"\n\
                         [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"t\"\n";
const RDMA: &str = "[[transport]]\nname = \"t\"\nkind = \"roce\"\n\
                    [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\n";
const RENO: &str = "[[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"newreno\"\nrto_min = \"1 ms\"\n\
                    [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\n";

fn two_senders(hosts: &[&str], duration: &str, flows: &str, seed: u64) -> String {
    format!(
        "name = \"two\"\nduration = \"{duration}\"\nseed = {seed}\n{}{flows}\
         sources = [\"a\", \"b\"]\ndestinations = [\"c\", \"c\"]\n",
        star(hosts, 100, "300 KB")
    )
}

fn five_reno(seed: u64) -> String {
    format!(
        "name = \"five\"\nduration = \"400 ms\"\nseed = {seed}\n\
         [topology]\nkind = \"dumbbell\"\nhosts_left = 5\nhosts_right = 1\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1.667 us\" }}\n\
         bottleneck = {{ rate = \"10 Gbps\", delay = \"1.667 us\" }}\n{}{RENO}\
         sources = [\"h0..h4\"]\ndestinations = [\"h5\", \"h5\", \"h5\", \"h5\", \"h5\"]\n",
        support::ideal("512 KB")
    )
}

/// Shares of the delivered bytes over several runs, relative to an equal share.
fn shares(runs: impl Iterator<Item = String>) -> BTreeMap<String, f64> {
    let mut bytes: BTreeMap<String, u64> = BTreeMap::new();
    for text in runs {
        for (source, delivered) in delivered(&run(&text)) {
            *bytes.entry(source).or_insert(0) += delivered;
        }
    }
    let equal = bytes.values().sum::<u64>() as f64 / bytes.len() as f64;
    bytes.into_iter().map(|(source, bytes)| (source, bytes as f64 / equal)).collect()
}

fn assert_equal(what: &str, shares: &BTreeMap<String, f64>) {
    let is_equal = shares.values().all(|share| (0.9..1.1).contains(share));
    assert!(is_equal, "{what}: shares of {shares:?}, 1 being an equal one");
}

#[test]
fn two_line_rate_senders_share_a_port_in_each_run() {
    for seed in 1..=10 {
        assert_equal(
            &format!("seed {seed}"),
            &shares(std::iter::once(two_senders(&["a", "b", "c"], "4 ms", LINE_RATE, seed))),
        );
    }
}

/// Each run has three or four timeouts, and each costs a sender a quarter of the run, so a single run says little.
#[test]
fn two_rdma_senders_share_a_port_over_many_runs() {
    assert_equal("RDMA", &shares((1..=400).map(|seed| two_senders(&["a", "b", "c"], "4 ms", RDMA, seed))));
}

#[test]
fn five_newreno_flows_with_hosts_as_fast_as_the_bottleneck_share_it() {
    assert_equal("NewReno", &shares((1..=10).map(five_reno)));
}

/// Random streams of a transmitter are named by its link.
#[test]
fn the_order_of_hosts_and_links_changes_no_result() {
    for flows in [LINE_RATE, RDMA, RENO] {
        let [first, second, third] = [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]]
            .map(|hosts| delivered(&run(&two_senders(&hosts, "1 ms", flows, 7))));
        assert_eq!(first, second, "{flows}");
        assert_eq!(first, third, "{flows}");
    }
}

#[test]
fn answers_of_an_incast_take_different_times_and_no_host_is_slower_than_another() {
    let text = format!(
        "name = \"incast\"\nduration = \"1 s\"\n\
         [topology]\nkind = \"dumbbell\"\nhosts_left = 16\nhosts_right = 1\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\nbottleneck = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         {}[[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"newreno\"\nrto_min = \"1 ms\"\nrto_initial = \"1 ms\"\n\
         [[flows]]\nname = \"f\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 16\nsize = \"60 KB\"\n\
         clients = [\"h16\"]\nservers = [\"h0..h15\"]\nperiod = \"10 ms\"\n",
        support::ideal("100 packets")
    );
    let outcome = run(&text);
    let mut by_host: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for (source, _, started, delivered) in
        super::messages(&outcome).into_iter().filter(|&(.., delivered)| delivered >= 0)
    {
        by_host.entry(source).or_default().push(delivered - started);
    }
    let mut all: Vec<i64> = by_host.values().flatten().copied().collect();
    let count = all.len();
    let mean = all.iter().sum::<i64>() as f64 / count as f64;
    all.sort_unstable();
    all.dedup();
    assert!(all.len() > count * 99 / 100, "{} different times of {count}", all.len());
    for (host, times) in by_host {
        let of_host = times.iter().sum::<i64>() as f64 / times.len() as f64;
        assert!((0.9..1.1).contains(&(of_host / mean)), "{host}: {of_host} ps, and {mean} ps of all");
    }
}
