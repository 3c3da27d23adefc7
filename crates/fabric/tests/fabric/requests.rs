//! Flows that are asked for: the client opens a connection and sends a request, the flow is the answer.

use hitless_fabric::results::{Column, Table};
use hitless_fabric::{Outcome, Progress, Simulation, scenario};

const REQUEST: &str = "request = { size = \"250 B\", think = { mean = \"20 us\", deviation = \"3 us\" } }\n";
const INET: &str = "kind = \"tcp\"\ncongestion = \"newreno\"\nhandshake = true\nsack = false\nrack_tlp = false\n\
                    nagle = true\nmss = \"1452 B\"\nreceive_window = \"65535 B\"\nrto_formula = \"rfc6298\"\n\
                    rto_min = \"10 ms\"\nrto_initial = \"10 ms\"\nsyn_timeout = \"10 ms\"\n";
const INCAST: &str =
    "kind = \"incast\"\nfan_in = 6\nsize = \"15 KB\"\nperiod = \"1 ms\"\ncount = 8\nclients = [\"h0\"]\n";
const POISSON: &str = "kind = \"poisson\"\nsizes = { kind = \"fixed\", bytes = \"40 KB\" }\nload = 0.3\n\
                       load_of = \"host-links\"\nstop = \"4 ms\"\n";

fn text(end: &str, transport: &str, group: &str) -> String {
    format!(
        "name = \"requests\"\n{end}\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"40 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"40 KB\" }}\n[measure]\norder = true\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"asked\"\ntransport = \"t\"\n{group}\n"
    )
}

fn run(text: &str) -> Outcome {
    let scenario = scenario::check(text, "requests").unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let outcome = simulation.run(&Progress::default());
    assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    outcome
}

const ALL: &str = "until = \"all-flows-done\"";

fn messages(outcome: &Outcome) -> &Table {
    outcome.tables.iter().find(|table| table.name == "messages").expect("the table of messages")
}

fn times(outcome: &Outcome, name: &str) -> Vec<i64> {
    match messages(outcome).columns.iter().find(|(known, _)| *known == name) {
        Some((_, Column::Signed(values))) => values.clone(),
        found => panic!("{name}: {found:?}"),
    }
}

fn numbers(outcome: &Outcome, name: &str) -> Vec<u64> {
    match messages(outcome).columns.iter().find(|(known, _)| *known == name) {
        Some((_, Column::Unsigned(values))) => values.clone(),
        found => panic!("{name}: {found:?}"),
    }
}

#[test]
fn every_answer_is_a_message_and_requests_are_none() {
    for transport in [INET, "kind = \"tcp\"\n", "kind = \"packet-pair\"\nrto_min = \"1 ms\"\n"] {
        let outcome = run(&text(ALL, transport, &format!("{INCAST}{REQUEST}")));
        assert_eq!(numbers(&outcome, "bytes"), [15_000; 48], "{transport}");
        assert_eq!((outcome.summary.flows.started, outcome.summary.flows.completed), (48, 48));
        let queries = numbers(&outcome, "query");
        let columns = ["started_ps", "requested_ps", "delivered_ps"].map(|name| times(&outcome, name));
        for (row, query) in queries.into_iter().enumerate() {
            let [started, requested, delivered] = columns.each_ref().map(|column| column[row]);
            assert_eq!(started, query as i64 * 1_000_000_000);
            let opening = if transport == INET { 4_000_000 } else { 0 };
            assert!(requested >= started + opening && delivered > requested + 15_000_000, "row {row}");
        }
    }
}

#[test]
fn a_lost_syn_counts_in_the_query_and_not_in_its_own_flow() {
    let down = "[[link]]\nname = \"h0->leaf0\"\nschedule = [{ at = \"0 s\", state = \"down\" }, { at = \"500 us\", state = \"up\" }]\n";
    let one = INCAST.replace("count = 8", "count = 1").replace("fan_in = 6", "fan_in = 1");
    let outcome = run(&format!("{}{down}", text(ALL, INET, &format!("{one}{REQUEST}"))));
    let [started, requested, delivered] =
        ["started_ps", "requested_ps", "delivered_ps"].map(|name| times(&outcome, name)[0]);
    assert!((10_000_000_000..10_100_000_000).contains(&(requested - started)), "{requested} ps");
    assert!(delivered - requested < 200_000_000, "{} ps", delivered - requested);
}

#[test]
fn answers_that_never_came_are_in_the_table() {
    let outcome = run(&text("duration = \"1040 us\"", INET, &format!("{INCAST}{REQUEST}")));
    assert_eq!(outcome.summary.flows.started, 12);
    let (started, delivered) = (times(&outcome, "started_ps"), times(&outcome, "delivered_ps"));
    assert_eq!(started.len(), 12);
    let unanswered = delivered.iter().filter(|&&at| at < 0).count() as u64;
    assert!(unanswered >= 5, "{unanswered} of 12");
    // What is delivered and not acknowledged is unfinished too, and has its time.
    assert!(unanswered <= outcome.summary.flows.unfinished);
}

#[test]
fn a_load_counts_answers_only_and_thinking_moves_no_other_draw() {
    let sorted = |request: &str| {
        let outcome = run(&text(ALL, INET, &format!("{POISSON}{request}")));
        let mut rows: Vec<_> = times(&outcome, "started_ps").into_iter().zip(numbers(&outcome, "bytes")).collect();
        rows.sort_unstable();
        rows
    };
    let (asked, unasked) = (sorted(REQUEST), sorted(""));
    assert!(asked.len() > 200);
    assert_eq!(asked, unasked);
    let deviation = REQUEST.replace("3 us", "9 us");
    assert_eq!(sorted(&deviation), asked);
}

#[test]
fn marks_and_order_hold_for_both_ways() {
    let host = "[host]\nmarking = { by = \"remaining-bytes\" }\nordering = { timeout = \"100 us\" }\n\
                [routing]\nchoice = \"two-choices\"\n[topology]";
    let request = REQUEST.replace("250 B", "10 KB");
    let text = text(ALL, INET, &format!("{POISSON}{request}")).replace("[topology]", host);
    let outcome = run(&text);
    assert_eq!(outcome.summary.flows.completed, outcome.summary.flows.started);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let udp = "kind = \"udp\"\nrate = \"1 Gbps\"\n";
    let table = [
        (udp, format!("{INCAST}{REQUEST}"), "needs a transport that repeats a request that was lost"),
        (udp, format!("{POISSON}{REQUEST}"), "needs a transport that repeats a request that was lost"),
        (INET, format!("{POISSON}connections = 2\n{REQUEST}"), "it does not go with connections"),
        (INET, format!("{INCAST}request = {{ size = \"0 B\" }}\n"), "must be above zero"),
    ];
    for (transport, group, rule) in table {
        let error = scenario::check(&text("duration = \"1 ms\"", transport, &group), "requests").expect_err(rule);
        assert!(error.to_string().contains(rule), "{error}");
    }
}
