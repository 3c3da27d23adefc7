//! Collections are an implementation detail: the tables do not depend on them.

use hitless_core::engine::Progress;
use hitless_mechanisms::builtin;
use hitless_scenario::workload::{FlowSize, FlowSpec};

use super::super::build::build;
use super::super::outcome::close;
use super::Autopsy;
use crate::bench::Work;
use crate::results::Table;

/// Returns the tables of a workload with flows of 40 packets, and whether there were collections.
fn tables(work: &str, spare: usize) -> (Vec<Table>, bool) {
    let mut scenario = Work::named(work).expect("it is in the list").scenario(builtin()).expect("it is sound");
    scenario.measure.autopsy = true;
    let mut run = build(scenario, None, Autopsy::default()).expect("it can be built");
    run.network.shared.edge = Autopsy::new(&run.network);
    run.network.shared.edge.departures.collect_after(spare);
    run.global.flow_starts.change(|flow| FlowSpec { size: FlowSize::Bytes(40 * 1_460), ..flow });
    run.start();
    let (end, ended_at) = run.run_until_end(&Progress::default());
    let has_collected = run.network.shared.edge.departures.has_collected(spare);
    let outcome = close(run, end, ended_at);
    assert_eq!(outcome.violations, Vec::<String>::new(), "{work}");
    (outcome.tables, has_collected)
}

#[test]
fn tables_do_not_depend_on_the_times_of_collections() {
    // Plain FIFOs, two queues, rounds and sorted queues that packets join without an event, copies that wait.
    for work in ["A", "strict", "afq", "deflection", "linkguardian"] {
        let ((kept, false), (collected, true)) = (tables(work, 1 << 30), tables(work, 1)) else {
            panic!("{work}: departures are collected in the second run only")
        };
        assert!(kept == collected, "{work}: the tables depend on collections");
    }
}
