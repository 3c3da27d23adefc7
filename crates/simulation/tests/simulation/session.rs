//! A run in steps equals an uninterrupted run, and obeys commands between its steps.

use hitless_core::engine::Progress;
use hitless_core::wire::{Duration, Time};
use hitless_scenario::network::loss::{BernoulliLoss, LossModel};
use hitless_simulation::results::{Column, Outcome, Table};
use hitless_simulation::{Session, Simulation};
use hitless_switch::LinkEnd;

use crate::support::{self, sound};

const LINK: &str = "sw2->sw6";
const BACK: &str = "sw6->sw2";

fn at_us(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// 25G, full frames at line rate for `ms`, loss rate 1e-2, LinkGuardian configured but off.
fn dormant(ms: u64) -> String {
    format!(
        r#"
name = "dormant"
duration = "{ms} ms"
topology = {{ kind = "chain", hosts_left = ["h4"], switches = ["sw2", "sw6"], hosts_right = ["h8"], host_link = {{ rate = "25 Gbps", delay = "50 ns" }}, switch_link = {{ rate = "25 Gbps", delay = "50 ns" }} }}
switch = {{ preset = "tofino-like" }}
transport = [{{ name = "udp", kind = "udp", rate = "20 Gbps" }}]
flows = [{{ name = "all", kind = "constant-rate", transport = "udp", sources = ["h4"], destinations = ["h8"] }}]
link = [{{ name = "sw2->sw6", loss = {{ kind = "bernoulli", rate = 1e-2 }} }}]
mechanism = [{{ kind = "linkguardian", link = "sw2->sw6", activation = [{{ at = "0 s", active = false }}] }}]
"#
    )
}

fn counter(table: &Table, scope: &str, name: &str) -> u64 {
    counter_of(table, "", scope, name)
}

/// A counter of the switches with this prefix in their names.
fn counter_of(table: &Table, switch: &str, scope: &str, name: &str) -> u64 {
    let column = |wanted| &table.columns.iter().find(|(name, _)| *name == wanted).expect("a column").1;
    let (Column::Text(switches), Column::Text(scopes), Column::Text(counters), Column::Unsigned(values)) =
        (column("switch"), column("scope"), column("counter"), column("value"))
    else {
        panic!("the table has other columns");
    };
    let rows = switches.iter().zip(scopes).zip(counters).zip(values);
    let is_meant = |((of, row), counter): &((&String, &String), &String)| {
        of.starts_with(switch) && row.ends_with(scope) && *counter == name
    };
    rows.filter(|(row, _)| is_meant(row)).map(|(_, value)| value).sum()
}

fn session(ms: u64) -> Session {
    Session::new(sound(&dormant(ms))).expect("the scenario can be built")
}

#[test]
fn a_run_in_steps_is_the_run_at_once() {
    let progress = Progress::default();
    for name in ["linkguardian-testbed", "link-failure"] {
        let at_once = Simulation::new(sound(support::example(name))).expect("it can be built").run(&progress);
        for step_us in [7, 1_000] {
            let mut session = Session::new(sound(support::example(name))).expect("it can be built");
            let mut until = Time::ZERO;
            for _ in 0..300 {
                until += Duration::from_us(step_us);
                session.advance(until, &progress);
            }
            let in_steps = session.finish(&progress);
            assert_eq!(in_steps.summary.trace_hash, at_once.summary.trace_hash, "{name} by {step_us} us");
            assert_eq!(in_steps.tables, at_once.tables, "{name} by {step_us} us");
            assert_eq!(in_steps.summary.ended_by, at_once.summary.ended_by, "{name} by {step_us} us");
        }
    }
}

#[test]
fn a_step_beyond_the_last_event_does_not_move_the_end() {
    let progress = Progress::default();
    // Nobody learns of the lost packets: after the last packet, no event is left.
    let text = dormant(1)
        .replace("duration =", "until = \"all-flows-done\"\nduration =")
        .replace("rate = 1e-2", "rate = 1.0")
        .replace(r#"destinations = ["h8"]"#, r#"destinations = ["h8"], stop = "100 us""#);
    let at_once = Simulation::new(sound(&text)).expect("it can be built").run(&progress);
    let mut session = Session::new(sound(&text)).expect("it can be built");
    assert!(session.advance(at_us(10), &progress));
    assert!(!session.advance(at_us(900_000), &progress), "there is nothing to wait for");
    let told = |outcome: &Outcome| {
        let summary = &outcome.summary;
        (summary.trace_hash.clone(), summary.events, summary.simulated_s, summary.ended_by, summary.flows.unfinished)
    };
    let in_steps = session.finish(&progress);
    assert_eq!(told(&in_steps), told(&at_once));
}

#[test]
fn a_run_until_a_time_goes_on_where_nothing_happens() {
    let progress = Progress::default();
    let text = dormant(4).replace(r#"destinations = ["h8"]"#, r#"destinations = ["h8"], stop = "100 us""#);
    let mut session = Session::new(sound(&text)).expect("it can be built");
    for until in [at_us(1_000), at_us(3_999), at_us(4_000)] {
        assert!(session.advance(until, &progress));
        assert_eq!(session.now(), until);
    }
    assert!(!session.advance(at_us(4_001), &progress));
    assert_eq!(session.finish(&progress).summary.ended_by, "duration");
}

#[test]
fn counters_show_the_corruption_of_the_link() {
    let mut session = session(4);
    session.advance(at_us(2_000), &Progress::default());
    let counters = session.receive_counters(LINK).expect("the link exists");
    let loss = 1.0 - counters.frames_ok as f64 / counters.frames_all as f64;
    assert!(counters.frames_all > 2_000, "{counters:?}");
    assert!((0.004..0.02).contains(&loss), "{loss}");
    assert_eq!(session.now(), at_us(2_000));
    assert_eq!(counter(&session.mechanisms(), "sender", "packets_protected"), 0, "nobody has switched it on");
}

#[test]
fn commands_take_effect_between_two_steps() {
    let progress = Progress::default();
    let mut session = session(30);
    session.advance(at_us(5_000), &progress);
    for end in [LinkEnd::Receiver, LinkEnd::Sender] {
        session.protect(LINK, end, 3, true).expect("LinkGuardian is configured");
    }
    session.advance(at_us(15_000), &progress);
    let active = session.mechanisms();
    assert!(counter(&active, "sender", "packets_protected") > 10_000);
    assert_eq!(counter(&active, "sender", "copies_per_loss"), 3);
    assert!(counter(&active, "receiver", "packets_recovered") > 50);
    session.unprotect(LINK, LinkEnd::Sender).expect("LinkGuardian is configured");
    session.advance(at_us(16_000), &progress);
    let after = counter(&session.mechanisms(), "sender", "packets_protected");
    let outcome = session.finish(&progress);
    assert_eq!(outcome.violations, Vec::<String>::new());
    let mechanisms = outcome.tables.iter().find(|table| table.name == "mechanisms").expect("the table is kept");
    assert_eq!(counter(mechanisms, "sender", "packets_protected"), after);
    assert_eq!(counter(mechanisms, "receiver", "packets_lost"), 0);
}

#[test]
fn a_command_reaches_one_direction_of_a_link_that_is_protected_both_ways() {
    let progress = Progress::default();
    let hosts = |both: [&str; 2]| format!("sources = {both:?}, destinations = {:?}", [both[1], both[0]]);
    let text = dormant(4).replace(r#"sources = ["h4"], destinations = ["h8"]"#, &hosts(["h4", "h8"]));
    let (before, guardian) = text.split_once("mechanism = [").expect("LinkGuardian stands last");
    let guardian = guardian.trim_end().trim_end_matches(']');
    let text = format!("{before}mechanism = [{guardian}, {}]", guardian.replace(LINK, BACK));
    let mut session = Session::new(sound(&text)).expect("the scenario can be built");
    session.advance(at_us(1), &progress);
    for link in [LINK, BACK] {
        for end in [LinkEnd::Receiver, LinkEnd::Sender] {
            session.protect(link, end, 1, true).expect("LinkGuardian is configured");
        }
    }
    session.advance(at_us(1_000), &progress);
    session.protect(LINK, LinkEnd::Receiver, 4, false).expect("LinkGuardian is configured");
    session.unprotect(LINK, LinkEnd::Sender).expect("LinkGuardian is configured");
    let protected = |session: &Session| {
        let table = session.mechanisms();
        ["sw2", "sw6"].map(|switch| counter_of(&table, switch, "sender", "packets_protected"))
    };
    let before = protected(&session);
    assert!(before.iter().all(|&packets| packets > 1_000), "{before:?}");
    session.advance(at_us(3_000), &progress);
    let after = protected(&session);
    assert_eq!(after[0], before[0], "it was switched off");
    assert!(after[1] > 2 * before[1], "{before:?} and {after:?}");
    assert_eq!(counter_of(&session.mechanisms(), "sw6", "sender", "copies_per_loss"), 1);
    assert_eq!(session.finish(&progress).violations, Vec::<String>::new());
}

#[test]
fn a_change_of_mode_under_way_reaches_the_packets() {
    let progress = Progress::default();
    let mut session = session(10);
    session.advance(at_us(1), &progress);
    for end in [LinkEnd::Receiver, LinkEnd::Sender] {
        session.protect(LINK, end, 2, false).expect("LinkGuardian is configured");
    }
    session.advance(at_us(5_000), &progress);
    assert!(counter(&session.mechanisms(), "receiver", "packets_recovered") > 20);
    assert_eq!(counter(&session.mechanisms(), "receiver", "packets_buffered"), 0);
    session.protect(LINK, LinkEnd::Sender, 2, true).expect("LinkGuardian is configured");
    session.advance(at_us(9_000), &progress);
    assert!(counter(&session.mechanisms(), "receiver", "packets_buffered") > 0);
    assert_eq!(session.finish(&progress).violations, Vec::<String>::new(), "order is promised of blocking mode alone");
}

#[test]
fn links_with_credits_are_not_broken_in_a_scenario_that_does_not_repair_credits() {
    let text = crate::lossless::Incast { pfc: "cbfc = {}", ..crate::lossless::INCAST }.text(22_000_000);
    let open = |text: &str| Session::new(sound(text)).expect("the scenario can be built");
    let loss = LossModel::Bernoulli(BernoulliLoss { rate: 0.1, repair_rate: None });
    let mut steps = open(&text);
    for refused in [steps.fail("left->right"), steps.corrupt("left->right", &loss)] {
        let reason = refused.expect_err("the credits would be lost");
        assert!(
            reason.contains("switch.cbfc") && reason.contains("add a [[failure]] or a loss in [[link]]"),
            "{reason}"
        );
    }
    let failure = "[[failure]]\nlink = \"left<->right\"\nfirst = \"1 s\"\noutage = \"30 us\"\n";
    let mut steps = open(&(text + failure));
    steps.advance(at_us(20), &Progress::default());
    steps.fail("left->right").expect("it is repaired");
    steps.advance(at_us(60), &Progress::default());
    steps.repair("left->right").expect("it is down");
    let outcome = steps.finish(&Progress::default());
    assert_eq!(outcome.summary.flows.completed, 4, "{:?}", outcome.summary.warnings);
}

#[test]
fn what_cannot_be_done_says_why() {
    let mut session = session(1);
    let table = [
        ("sw2->sw9", "there is no node called 'sw9'"),
        ("sw2<->sw6", "'sw2<->sw6' is both directions of a link, and one is wanted: \"a->b\""),
        ("sw6->sw2", "no protection that can be switched on is configured on 'sw6->sw2'"),
    ];
    for (link, expected) in table {
        assert_eq!(session.protect(link, LinkEnd::Sender, 1, true), Err(expected.into()));
    }
    let refused = session.protect(LINK, LinkEnd::Sender, 0, true);
    assert_eq!(refused, Err("at least one copy is retransmitted of a lost packet".into()));
    let refused = session.receive_counters("sw6->h8");
    assert_eq!(refused, Err("'sw6->h8' ends at a host, and only switches show their counters".into()));
}

#[test]
fn an_ended_session_stays_where_it_ended() {
    let progress = Progress::default();
    let mut session = session(1);
    assert!(session.advance(at_us(500), &progress));
    assert!(!session.advance(at_us(5_000), &progress));
    assert_eq!(session.now(), at_us(1_000));
    assert!(!session.advance(at_us(6_000), &progress));
    assert_eq!(session.finish(&progress).summary.ended_by, "duration");
}
