//! Requested flows: the client opens a connection and sends a request, and the flow is the response.

use hitless_simulation::Outcome;

use crate::support::{self, run, sum};

const REQUEST: &str = "request = { size = \"250 B\", think = { mean = \"20 us\", deviation = \"3 us\" } }\n";
const INET: &str = "kind = \"tcp\"\ncongestion = \"newreno\"\nhandshake = true\nsack = false\nrack_tlp = false\n\
                    nagle = true\nmss = \"1452 B\"\nreceive_window = \"65535 B\"\nrto_formula = \"rfc6298\"\n\
                    rto_min = \"10 ms\"\nrto_initial = \"10 ms\"\nsyn_timeout = \"10 ms\"\n";
const INCAST: &str =
    "kind = \"incast\"\nfan_in = 6\nsize = \"15 KB\"\nperiod = \"1 ms\"\ncount = 8\nclients = [\"h0\"]\n";
const POISSON: &str = "kind = \"poisson\"\nsizes = { kind = \"fixed\", bytes = \"40 KB\" }\nload = 0.3\n\
                       load_of = \"host-links\"\nstop = \"4 ms\"\n";

fn text(end: &str, transport: &str, group: &str) -> String {
    let (fabric, switch) = (support::leaf_spine([2, 2, 4], [10, 40]), support::ideal("40 KB"));
    format!(
        "name = \"requests\"\n{end}\n{fabric}{switch}[measure]\norder = true\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"asked\"\ntransport = \"t\"\n{group}\n"
    )
}

const ALL: &str = "until = \"all-flows-done\"";

fn times(outcome: &Outcome, name: &str) -> Vec<i64> {
    support::times(outcome, "messages", name).to_vec()
}

fn numbers(outcome: &Outcome, name: &str) -> Vec<u64> {
    support::numbers(outcome, "messages", name).to_vec()
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
    let down = "[[link]]\nname = \"h0->leaf0\"\n\
        schedule = [{ at = \"0 s\", state = \"down\" }, { at = \"500 us\", state = \"up\" }]\n";
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
    // Data delivered but not acknowledged is unfinished too, and has a time of delivery.
    assert!(unanswered <= outcome.summary.flows.unfinished);
}

#[test]
fn messages_that_the_end_finds_under_way_are_in_the_table() {
    // (transport, group): one message per flow, messages on open connections, datagrams. The oracle is the run without
    // a cut.
    let tcp = "kind = \"tcp\"\n";
    let connections = format!("{POISSON}connections = 2\n");
    let requests = "kind = \"requests\"\nsize = \"30 KB\"\ncount = 20\nsources = [\"h0\"]\ndestinations = [\"h4\"]\n";
    for (transport, group) in [
        (tcp, POISSON),
        (tcp, INCAST),
        (tcp, &connections),
        (tcp, requests),
        ("kind = \"roce\"\n", POISSON),
        ("kind = \"packet-pair\"\nrto_min = \"1 ms\"\n", POISSON),
        ("kind = \"udp\"\nrate = \"1 Gbps\"\n", POISSON),
    ] {
        let ended_at = 251_000_000;
        // In this run, messages of each kind are in flight at the end.
        let ideal = |end: &str| run(&text(&format!("clocks = \"ideal\"\n{end}"), transport, group));
        let (whole, cut) = (ideal(ALL), ideal("duration = \"251 us\""));
        let columns = ["started_ps", "delivered_ps", "acknowledged_ps"].map(|name| times(&whole, name));
        let until = |at: i64| if at < ended_at { at } else { -1 };
        let row = |row: usize| columns.each_ref().map(|column| until(column[row]));
        let mut expected: Vec<_> = (0..columns[0].len()).map(row).filter(|row| row[0] >= 0).collect();
        let columns = ["started_ps", "delivered_ps", "acknowledged_ps"].map(|name| times(&cut, name));
        let mut found: Vec<_> = (0..columns[0].len()).map(|row| columns.each_ref().map(|column| column[row])).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{transport}{group}");
        let under_way = found.iter().filter(|row| row[1] < 0).count();
        assert!(under_way > 0, "{transport}{group}: none was under way");
    }
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
    // One direction carries a single segment; the packets of the other direction overtake each other.
    for (answer, request) in [("1 KB", "60 KB"), ("60 KB", "1 KB")] {
        let group = format!(
            "kind = \"poisson\"\nsizes = {{ kind = \"fixed\", bytes = \"{answer}\" }}\nflows_per_second = 90000.0\n\
             stop = \"6 ms\"\nrequest = {{ size = \"{request}\" }}\n"
        );
        let with = |host: &str| {
            let sections = format!(
                "[host]\npriority_tagger = {{ by = \"remaining-bytes\" }}\n{host}\n[routing]\nchoice = \"two-choices\"\n\
                 [topology]"
            );
            let slow = text(ALL, INET, &group).replace("40 Gbps", "10 Gbps").replace("40 KB", "1 MB");
            let outcome = run(&slow.replace("[topology]", &sections));
            assert_eq!(outcome.summary.flows.completed, outcome.summary.flows.started);
            outcome
        };
        let bare = sum(&with(""), "flows", "packets_reordered");
        let outcome = with("reorder_buffer = { timeout = \"1 ms\" }");
        let of = |column: &str| sum(&outcome, "flows", column);
        let (late, held) = (of("packets_arrived_late"), of("packets_held"));
        assert!(bare > 20 && late > 20 && held > 20, "{request}: {bare} out of order; {late} late, {held} held");
        assert_eq!(of("reorder_timeouts"), 0, "{request}: every gap was filled");
        assert_eq!(of("packets_reordered"), 0, "{request}: the transports got all in order");
    }
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
        let error = support::check(&text("duration = \"1 ms\"", transport, &group)).expect_err(rule);
        assert!(error.contains(rule), "{error}");
    }
}
