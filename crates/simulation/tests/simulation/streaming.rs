//! Rows handed over during a run equal the rows of a run that keeps them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hitless_core::engine::Progress;
use hitless_simulation::Outcome;
use hitless_simulation::results::{Column, RowSink, Table};
use proptest::prelude::*;

use crate::support::{self, simulation, sound};

/// Rows handed over: the concatenated table and the number of pieces, by table name.
#[derive(Default)]
struct Rows {
    tables: BTreeMap<&'static str, (Table, usize)>,
}

struct Sink(Arc<Mutex<Rows>>);

impl RowSink for Sink {
    fn take(&mut self, rows: Table) {
        let mut all = self.0.lock().expect("nobody has failed");
        let Some((table, pieces)) = all.tables.get_mut(rows.name) else {
            all.tables.insert(rows.name, (rows, 1));
            return;
        };
        *pieces += 1;
        for ((name, own), (other_name, other)) in table.columns.iter_mut().zip(rows.columns) {
            assert_eq!(*name, other_name);
            append(own, other);
        }
    }
}

fn append(own: &mut Column, other: Column) {
    match (own, other) {
        (Column::Unsigned(own), Column::Unsigned(other)) => own.extend(other),
        (Column::Signed(own), Column::Signed(other)) => own.extend(other),
        (Column::Text(own), Column::Text(other)) => own.extend(other),
        (own, other) => panic!("{own:?} goes on as {other:?}"),
    }
}

fn of_name<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a Table> {
    outcome.tables.iter().find(|table| table.name == name)
}

/// Compares a run that keeps its rows with a run that hands them over, in this many partitions and threads. Returns the
/// number of pieces of the flow table.
fn compare(text: &str, partitions: usize, threads: usize) -> usize {
    let scenario = sound(text);
    let progress = Progress::default();
    let kept = simulation(&scenario).run_divided(1, 1, &progress);
    assert_eq!(kept.violations, Vec::<String>::new(), "{text}");
    let rows = Arc::new(Mutex::new(Rows::default()));
    let streamed = simulation(&scenario).with_rows_to(Box::new(Sink(rows.clone())), 16);
    let streamed = streamed.run_divided(partitions, threads, &progress);
    let rows = rows.lock().expect("nobody has failed");
    for table in &kept.tables {
        let found = match table.name {
            "flows" | "messages" => rows.tables.get(table.name).map(|(rows, _)| rows),
            name => of_name(&streamed, name),
        };
        let found = found.unwrap_or_else(|| panic!("there is no table {}", table.name));
        assert!(found == table, "table {} in {partitions} partitions of\n{text}", table.name);
    }
    let summary = |outcome: &Outcome| serde_json::to_string(&outcome.summary).expect("a summary can be written");
    assert_eq!(summary(&streamed), summary(&kept), "in {partitions} partitions of\n{text}");
    assert_eq!(streamed.violations, kept.violations);
    assert!(of_name(&streamed, "flows").is_none() && of_name(&streamed, "messages").is_none());
    rows.tables["flows"].1
}

/// One partition, several on one thread, several on two threads.
fn compare_all(text: &str) {
    for (partitions, threads) in [(1, 1), (4, 1), (4, 2)] {
        let pieces = compare(text, partitions, threads);
        assert!(pieces > 1, "all flows came at the end, in {partitions} partitions of\n{text}");
    }
}

fn fabric() -> String {
    let (fabric, switch) = (support::leaf_spine([2, 2, 3], [10, 10]), support::ideal("20 packets"));
    format!(
        "{fabric}{switch}[[transport]]\nname = \"tcp\"\nkind = \"tcp\"\ncongestion = \"cubic\"\nrto_min = \"300 us\"\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"4 Gbps\"\n\
         [[transport]]\nname = \"roce\"\nkind = \"roce\"\n"
    )
}

fn poisson(name: &str, transport: &str, load: f64, more: &str) -> String {
    format!(
        "[[flows]]\nname = \"{name}\"\nkind = \"poisson\"\ntransport = \"{transport}\"\n\
         sizes = {{ kind = \"cdf\", table = \"websearch_dctcp_hpcc\", largest = \"40 KB\" }}\nload = {load}\n\
         load_of = \"source-host-links\"\nsources = [\"h0..h5\"]\ndestinations = [\"h0..h5\"]\n{more}\n"
    )
}

/// TCP with losses, lost datagrams, RoCE messages, and two flows that outlive the run.
fn workload(seed: u64, duration_us: u64, load: f64, end: &str, more: &str) -> String {
    format!(
        "name = \"streamed\"\nseed = {seed}\nduration = \"{duration_us} us\"\n{end}\n{}{}{}{}{more}",
        fabric(),
        poisson("short", "tcp", load, "stop = \"15 ms\""),
        poisson("datagrams", "udp", load / 3.0, "stop = \"15 ms\""),
        "[[flows]]\nname = \"messages\"\nkind = \"requests\"\ntransport = \"roce\"\nsize = \"3 KB\"\ncount = 300\n\
         sources = [\"h0\"]\ndestinations = [\"h4\"]\n",
    )
}

const LONG: &str = "[[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"tcp\"\nsources = [\"h1\", \"h2\"]\n\
                    destinations = [\"h3\", \"h5\"]\n";

#[test]
fn a_run_that_ends_amid_flows_has_the_rows_of_one_that_keeps_them() {
    compare_all(&workload(1, 15_000, 0.5, "warmup = \"2 ms\"", LONG));
}

#[test]
fn a_run_until_all_flows_are_done_has_the_rows_of_one_that_keeps_them() {
    compare_all(&workload(2, 80_000, 0.4, "until = \"all-flows-done\"", ""));
}

#[test]
fn samples_of_flows_and_groups_are_those_of_a_run_that_keeps_its_rows() {
    let sampled = "[[measure.flow]]\ngroup = \"short\"\nperiod = \"900 us\"\n\
                   [[measure.goodput]]\ngroup = \"short\"\nperiod = \"700 us\"\n\
                   [[measure.goodput]]\ngroup = \"datagrams\"\nperiod = \"1100 us\"\n";
    compare_all(&workload(3, 15_000, 0.4, "", &format!("{LONG}{sampled}")));
}

#[test]
fn losses_on_links_that_fail_are_counted_for_their_flows() {
    let failing = "[[failure]]\nlink = \"leaf0<->spine0\"\nfirst = \"1 ms\"\nevery = \"2 ms\"\noutage = \"300 us\"\n\
                   [recovery]\ndetection = { kind = \"fixed\", delay = \"30 us\" }\n\
                   scheme = { kind = \"local-reroute\", reconfiguration = \"70 us\", backup = \"first\" }\n";
    compare_all(&workload(4, 15_000, 0.5, "", failing));
}

#[test]
fn the_order_checker_says_the_same_of_flows_that_are_gone() {
    for mechanism in ["linkguardian", "link-layer-retry", "wharf"] {
        let lossy = format!(
            "[measure]\norder = true\n[[mechanism]]\nkind = \"{mechanism}\"\nlink = \"leaf0->spine0\"\n\
             [[link]]\nname = \"leaf0->spine0\"\nloss = {{ kind = \"bernoulli\", rate = 1e-2 }}\n"
        );
        let pieces = compare(&workload(5, 15_000, 0.4, "", &lossy), 1, 1);
        assert!(pieces > 1, "{mechanism}: all flows came at the end");
    }
}

#[test]
fn messages_on_open_connections_leave_before_their_connection_ends() {
    let text = format!(
        "name = \"open\"\nduration = \"12 ms\"\n{}{}{}",
        fabric(),
        poisson("open", "tcp", 0.3, "connections = 2"),
        poisson("short", "tcp", 0.1, ""),
    );
    let pieces = compare(&text, 1, 1);
    assert!(pieces > 1, "all flows came at the end");
}

#[test]
fn a_run_without_flows_has_the_columns_of_its_tables() {
    let text = format!(
        "name = \"none\"\nduration = \"10 us\"\n{}{}",
        fabric(),
        poisson("late", "tcp", 0.1, "start = \"9 us\"")
    );
    assert_eq!(compare(&text, 1, 1), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn streamed_and_kept_runs_give_the_same_tables(
        seed in 0u64..1_000,
        duration_us in 4_000u64..12_000,
        load in 0.1f64..0.9,
        until_done in any::<bool>(),
        has_long in any::<bool>(),
        partitions in 1usize..5,
    ) {
        let end = if until_done && !has_long { "until = \"all-flows-done\"" } else { "" };
        let long = if has_long { LONG } else { "" };
        compare(&workload(seed, duration_us, load, end, long), partitions, 2);
    }
}
