//! Flows that do not finish: who waits for whom.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hitless_core::engine::Progress;
use hitless_simulation::results::{RowSink, Table};
use hitless_simulation::{Outcome, Simulation};

use crate::failures::triangle::TRIANGLE;
use crate::lossless::ring;
use crate::support::{self, numbers, simulation, sound, texts, times};

/// Flows from h0 to h2 of a dumbbell with two hosts on each side.
fn dumbbell(duration: &str, transport: &str, bytes: &str, more: &str) -> String {
    format!(
        "name = \"stalls\"\nuntil = \"all-flows-done\"\nduration = \"{duration}\"\n{}\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"bulk\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
         destinations = [\"h2\"]\nsizes = {{ kind = \"fixed\", bytes = \"{bytes}\" }}\nperiod = \"1 us\"\ncount = 1\n{more}\n",
        support::dumbbell(2, "1 us", "10 us")
    )
}

fn down(link: &str, at: &str) -> String {
    format!("[[link]]\nname = \"{link}\"\nschedule = [{{ at = \"{at}\", state = \"down\" }}]\n")
}

fn sentence(outcome: &Outcome) -> &str {
    outcome.summary.unfinished.as_deref().expect("flows are unfinished")
}

/// State, cause and place of each row.
fn rows(outcome: &Outcome) -> Vec<[&str; 3]> {
    let column = |name| texts(outcome, "stalls", name);
    let [states, causes, places] = ["state", "cause", "place"].map(column);
    states.iter().zip(causes).zip(places).map(|((state, cause), place)| [&**state, cause, place]).collect()
}

fn has_table(outcome: &Outcome) -> bool {
    outcome.tables.iter().any(|table| table.name == "stalls")
}

/// Runs a scenario, and asserts its only row and parts of the sentence.
fn explains(text: &str, expected: [&str; 3], parts: &[&str]) -> Outcome {
    let outcome = support::run(text);
    assert_eq!(rows(&outcome), [expected], "{}", sentence(&outcome));
    for part in parts {
        assert!(sentence(&outcome).contains(part), "{part}: {}", sentence(&outcome));
    }
    outcome
}

const TCP: &str = "kind = \"tcp\"";
const ROCE: &str = "kind = \"roce\"";

#[test]
fn a_run_with_every_flow_done_explains_nothing() {
    for more in [
        "",
        "[[flows]]\nname = \"e\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h1\"]\ndestinations = [\"h3\"]\n",
    ] {
        let text = dumbbell("5 ms", TCP, "100 KB", more);
        let text = if more.is_empty() { text } else { text.replace("until = \"all-flows-done\"\n", "") };
        let outcome = support::run(&text);
        assert_eq!((outcome.summary.unfinished.as_deref(), has_table(&outcome)), (None, false), "{more}");
    }
}

#[test]
fn a_flow_that_the_duration_cuts_off_moves_and_is_not_stalled() {
    for transport in [TCP, ROCE, "kind = \"uet\"\ncongestion = \"both\"\nbase_rtt = \"40 us\""] {
        let outcome = support::run(&dumbbell("1 ms", transport, "10 MB", ""));
        assert_eq!(rows(&outcome), [["moving", "", ""]], "{transport}: {}", sentence(&outcome));
        assert_eq!(sentence(&outcome), "1 flow unfinished, and moving");
    }
}

#[test]
fn ports_that_have_paused_each_other_are_named_with_the_cycle() {
    let scenario = sound(&ring("pfc = { xoff = \"30 KB\" }").replace("60 ms", "4 ms"));
    let outcome = support::run_scenario(&scenario);
    let found = rows(&outcome);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().all(|[state, cause, _]| (*state, *cause) == ("stalled", "paused port")), "{found:?}");
    let cycle = "for ever: in class 0 s0->s1 waits for s1->s2 waits for s2->s3 waits for s3->s4 waits for s4->s0 waits for s0->s1";
    for part in
        ["5 flows stalled: flow ", ", like 4 others, waits behind s", "waits behind s", "in class 0 since ", cycle]
    {
        assert!(sentence(&outcome).contains(part), "{part}: {}", sentence(&outcome));
    }
    let since = times(&outcome, "stalls", "since_ps");
    assert!(since.iter().all(|&since| (0..4_000_000_000).contains(&since)), "{since:?}");
    let divided = simulation(&scenario).run_divided(3, 2, &Progress::default());
    assert_eq!(divided.summary.unfinished, outcome.summary.unfinished);
    assert_eq!(support::table(&divided, "stalls"), support::table(&outcome, "stalls"));
}

/// The later flow shares no port with the cycle except the one that it waits for, and its card is paused.
#[test]
fn a_flow_outside_of_the_cycle_waits_for_a_port_in_it_for_ever() {
    let late = "[[flows]]\nname = \"late\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
                destinations = [\"h1\"]\nsizes = { kind = \"fixed\", bytes = \"20 KB\" }\nperiod = \"1 us\"\ncount = 1\n\
                start = \"2 ms\"\n";
    let text = ring("pfc = { xoff = \"30 KB\" }").replace("60 ms", "4 ms") + late;
    let outcome = support::run(&text);
    let late = texts(&outcome, "stalls", "group").iter().position(|group| group == "late").expect("it has a row");
    assert_eq!(rows(&outcome)[late], ["stalled", "paused port", "h0->s0"], "{}", sentence(&outcome));
    let reason = &texts(&outcome, "stalls", "reason")[late];
    for part in ["waits behind h0->s0, paused by s0 in class 0 since ", "for ever: in class 0 s0->s1"] {
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn a_link_that_is_down_and_a_missing_route_are_named() {
    let cut = down("left->right", "200 us");
    let outcome = explains(
        &dumbbell("2 s", TCP, "10 MB", &cut),
        ["stalled", "link down", "left->right"],
        &[
            "flow 0 (bulk, h0->h2) needs left->right, which has been down since 200 us, and repeats at ",
            "timeouts in a row",
        ],
    );
    assert!(numbers(&outcome, "stalls", "timeouts")[0] >= 2);
    // Only the answers are lost.
    explains(
        &dumbbell("100 ms", TCP, "10 MB", &down("right->left", "200 us")),
        ["stalled", "link down", "right->left"],
        &[],
    );
    let withdrawn = "[[failure]]\nlink = \"left<->right\"\nfirst = \"200 us\"\noutage = \"1 s\"\n[recovery]\n\
                     detection = { kind = \"fixed\", delay = \"30 us\" }\nscheme = { kind = \"withdraw\", notice = \"20 us\" }\n";
    explains(
        &dumbbell("100 ms", TCP, "10 MB", withdrawn),
        ["stalled", "no route", "left"],
        &["has no route, because left knows no path to h2, and repeats at "],
    );
}

#[test]
fn a_lost_tail_waits_for_the_retransmission_timer() {
    // The link is up again, but the timer of 100 ms has not run out.
    let blink = "[[link]]\nname = \"left->right\"\nschedule = [{ at = \"100 us\", state = \"down\" }, { at = \"3 ms\", \
                 state = \"up\" }]\n";
    let roce = format!("{ROCE}\ntimeout = \"100 ms\"\nwindow = 16");
    explains(
        &dumbbell("20 ms", &roce, "10 MB", blink),
        ["stalled", "lost", ""],
        &["waits for lost packets (lost: ", "on failed links), and repeats at 100,"],
    );
}

#[test]
fn a_connection_that_gave_up_is_counted_with_its_timeouts_and_the_cause() {
    let roce = format!("{ROCE}\ntimeout = \"1 ms\"\nretries = 3");
    let text = dumbbell("100 ms", &roce, "10 MB", &down("left->right", "200 us"));
    let outcome = explains(
        &text,
        ["gave up", "link down", "left->right"],
        &["1 flow gave up: flow 0 (bulk, h0->h2) gave up after 4 timeouts, at ", " us; it needs left->right"],
    );
    assert_eq!((outcome.summary.flows.failed, outcome.summary.flows.unfinished), (1, 0));
    let divided = simulation(&sound(&text)).run_divided(2, 2, &Progress::default());
    assert_eq!(divided.summary.unfinished, outcome.summary.unfinished);
}

#[test]
fn a_connection_that_gave_up_is_not_blamed_on_a_link_that_failed_later() {
    let roce = format!("{ROCE}\ntimeout = \"1 ms\"\nretries = 3");
    let outages = "[[link]]\nname = \"left->right\"\nschedule = [{ at = \"200 us\", state = \"down\" }, \
                   { at = \"10 ms\", state = \"up\" }, { at = \"20 ms\", state = \"down\" }]\n";
    let text = dumbbell("30 ms", &roce, "10 MB", outages).replace("until = \"all-flows-done\"\n", "");
    let outcome = support::run(&text);
    assert_eq!(rows(&outcome), [["gave up", "lost", ""]], "{}", sentence(&outcome));
}

#[test]
fn a_flow_that_waits_for_another_names_it() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stalls");
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join("chain.flows"), "0 2 10000000 0\n2 1 1000 0 after 0\n1 3 1000 0 after 1\n1 0 1000 0\n")
        .expect("the list can be written");
    let text = dumbbell("100 ms", TCP, "1 KB", &down("left->right", "200 us"));
    let list = "[[flows]]\nname = \"chain\"\nkind = \"dependency-list\"\ntransport = \"t\"\nfile = \"chain.flows\"\n";
    let file = folder.join("chain.toml").to_string_lossy().into_owned();
    let scenario = hitless_scenario::check(&(text + list), &file, hitless_mechanisms::builtin()).expect("it is sound");
    let outcome = support::run_scenario(&scenario);
    let found = rows(&outcome);
    assert_eq!(found[0], ["stalled", "link down", "left->right"]);
    assert_eq!(found[1..], [["not started", "flow", ""]; 2]);
    let started = times(&outcome, "stalls", "flow")[0];
    assert_eq!(times(&outcome, "stalls", "needs_flow"), [-1, started, -1]);
    let expected = format!("2 flows not started: position 1 of chain (h2->h1) waits for flow {started} (position 0)");
    assert!(sentence(&outcome).ends_with(&expected), "{}", sentence(&outcome));
    assert_eq!(texts(&outcome, "stalls", "reason")[2], "waits for position 1, which has not started");
}

/// Position 2 waits for position 0, which ends, and for position 1, which starts after the run.
#[test]
fn a_flow_that_waits_names_no_flow_that_has_ended() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stalls");
    fs::create_dir_all(&folder).expect("the folder can be made");
    fs::write(folder.join("ended.flows"), "0 2 1000 0\n2 1 1000 1000000000\n1 3 1000 0 after 0 1\n")
        .expect("it can be written");
    let list = "[[flows]]\nname = \"two\"\nkind = \"dependency-list\"\ntransport = \"t\"\nfile = \"ended.flows\"\n";
    let file = folder.join("ended.toml").to_string_lossy().into_owned();
    let text = dumbbell("100 ms", TCP, "1 KB", list);
    let scenario = hitless_scenario::check(&text, &file, hitless_mechanisms::builtin()).expect("it is sound");
    let outcome = support::run_scenario(&scenario);
    assert_eq!(rows(&outcome), [["not started", "flow", ""]], "{}", sentence(&outcome));
    assert_eq!(texts(&outcome, "stalls", "reason"), ["waits for position 1, which has not started"]);
}

#[test]
fn a_request_that_never_arrives_is_told_from_its_response() {
    let text = dumbbell("100 ms", TCP, "1 KB", &down("right->left", "1 us"));
    let asked = "[[flows]]\nname = \"asked\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 3\nsize = \"1 KB\"\n\
                 clients = [\"h2\"]\nperiod = \"1 ms\"\ncount = 1\nrequest = { size = \"100 B\" }\n";
    let outcome = support::run(&(text + asked));
    // The third server is on the client's side.
    let expected = [["stalled", "link down", "right->left"]; 3];
    assert_eq!(rows(&outcome), expected, "{}", sentence(&outcome));
    let reasons = texts(&outcome, "stalls", "reason").iter().zip(texts(&outcome, "stalls", "group"));
    for (reason, group) in reasons {
        assert_eq!(
            reason.starts_with("waits for its request, which needs right->left, "),
            group == "asked",
            "{reason}"
        );
    }
}

#[test]
fn a_sender_whose_request_for_credit_was_lost_says_when_it_asks_again() {
    let uet = "kind = \"uet\"\ncongestion = \"rccc\"\nbase_rtt = \"40 us\"\ntimeout = \"50 ms\"";
    let blink = "[[link]]\nname = \"right->left\"\nschedule = [{ at = \"300 us\", state = \"down\" }, { at = \"2 ms\", \
                 state = \"up\" }]\n";
    let outcome = support::run(&dumbbell("10 ms", uet, "10 MB", blink));
    assert_eq!(rows(&outcome), [["stalled", "credit", "h2"]], "{}", sentence(&outcome));
    assert!(sentence(&outcome).contains("has no credit of h2 left, and repeats at 50,"), "{}", sentence(&outcome));
}

#[test]
fn a_queue_that_a_mechanism_holds_names_it() {
    // Until the switch knows a backup, SQR holds the packets for the failed link.
    let text = TRIANGLE.replace("kind = \"udp\"\nrate = \"1 Gbps\"", "kind = \"roce\"\ntimeout = \"1 s\"").replace(
        "kind = \"constant-rate\"\n",
        "kind = \"schedule\"\nsizes = { kind = \"fixed\", bytes = \"20 MB\" }\nperiod = \"1 us\"\ncount = 1\n",
    );
    let text = text.replace("stop = \"25 ms\"\n", "").replace("duration = \"30 ms\"", "duration = \"9 ms\"");
    let held = format!(
        "{text}[[failure]]\nlink = \"sw3<->sw4\"\nfirst = \"5 ms\"\noutage = \"1 s\"\n[recovery]\n\
         detection = {{ kind = \"fixed\", delay = \"30 us\" }}\n\
         scheme = {{ kind = \"local-reroute\", reconfiguration = \"8 ms\" }}\n\
         [[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw3<->sw4\"]\n\
         [[mechanism]]\nkind = \"every-nth\"\nports = [\"sw3->sw5\"]\ndrop_every = 1000000\n"
    );
    let outcome = explains(&held, ["stalled", "mechanism", "sw3->sw4"], &[]);
    // The other mechanism of sw3 has no hook at this port.
    assert_eq!(sentence(&outcome), "1 flow stalled: flow 0 (steady, h->i) waits at sw3->sw4, held by sqr");
}

#[test]
fn packets_behind_a_gap_wait_in_the_reorder_buffer() {
    let text = dumbbell("20 ms", &format!("{ROCE}\ntimeout = \"1 s\"\nwindow = 64"), "10 MB", "");
    let blink = "[[link]]\nname = \"left->right\"\nschedule = [{ at = \"300 us\", state = \"down\" }, { at = \"301 us\", \
                 state = \"up\" }]\n[host]\npriority_tagger = { by = \"remaining-bytes\" }\n\
                 reorder_buffer = { timeout = \"500 ms\" }\n";
    explains(
        &(text + blink),
        ["stalled", "reorder buffer", "h2"],
        &["waits in the reorder buffer of h2 for an earlier packet, until 500,"],
    );
}

/// Asks the run when it hands over rows.
struct Asking(Arc<Progress>);

impl RowSink for Asking {
    fn take(&mut self, _rows: Table) {
        self.0.ask();
    }
}

#[test]
fn a_question_is_answered_while_the_run_goes_on_and_leaves_no_trace() {
    let short = "[[flows]]\nname = \"short\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h1\"]\n\
                 destinations = [\"h3\"]\nsizes = { kind = \"fixed\", bytes = \"1 KB\" }\nperiod = \"1 us\"\ncount = 1\n";
    let scenario = sound(&dumbbell("100 ms", ROCE, "60 MB", short));
    let plain = simulation(&scenario).run(&Progress::default()).summary;
    let asked = |run: fn(Simulation, &Progress) -> Outcome| {
        let progress = Arc::new(Progress::default());
        let outcome = run(simulation(&scenario).with_rows_to(Box::new(Asking(progress.clone())), 1), &progress);
        let answer = progress.take_answer().expect("the run has answered");
        let expected = "2 flows started, 1 completed\n  bulk: 1 unfinished, 0 of them stalled\n";
        assert!(answer.text.contains(expected), "{}", answer.text);
        assert!((1..plain.events).contains(&answer.events), "{}", answer.events);
        assert_eq!(outcome.summary.trace_hash, plain.trace_hash);
    };
    asked(|simulation, progress| simulation.run(progress));
    asked(|simulation, progress| simulation.run_divided(2, 2, progress));
}
