//! If all flows start later, the results are the same but later: no default of 0 acts as an event in the past.
//!
//! The shift is 2^30 ps, a whole number of ticks of TCP's timestamps (2^20 ps) and of receive offload's (2^30 ps).
//! Random draws depend on counts, not on time, so the tests include stack delays, arrivals, probabilistic marks and
//! BBR's phases.
//!
//! Excluded are mechanisms with ticks counted from the beginning of the run, like a real clock: timer interrupts of
//! hosts (`host.timer_tick`), samplers (`[measure]`), timer packets of LinkGuardian, rounds of an idle AFQ port, SFQ's
//! perturbation, ingress views with `update_gap`, and RIMM's telemetry.

use hitless_simulation::Outcome;
use hitless_simulation::results::Column;
use proptest::prelude::*;

use crate::support;

const SHIFT_PS: u64 = 1 << 30;

/// Four hosts on each side of a bottleneck at a tenth of their total rate: long flows, random flows, sequences of
/// messages, and responses to queries, all starting at `start_ps`.
fn text(transport: &str, rest: &str, start_ps: u64) -> String {
    let (fabric, switch) = (support::dumbbell(4, "2 us", "5 us"), support::ideal("60 KB"));
    let is_udp = transport.contains("\"udp\"");
    let stop = format!("start = \"{start_ps} ps\"\nstop = \"{} ps\"\n", start_ps + 2_000_000_000);
    let groups = if is_udp {
        format!(
            "[[flows]]\nname = \"rate\"\nkind = \"constant-rate\"\ntransport = \"t\"\nsources = [\"h0..h3\"]\n\
             destinations = [\"h4..h7\"]\nspacing = \"3 us\"\n{stop}"
        )
    } else {
        format!(
            "[[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\", \"h1\"]\n\
             destinations = [\"h4\", \"h5\"]\nspacing = \"7 us\"\n{stop}\
             [[flows]]\nname = \"requests\"\nkind = \"requests\"\ntransport = \"t\"\nsources = [\"h2\"]\n\
             destinations = [\"h6\"]\nsize = \"20 KB\"\ncount = 20\ngap = \"11 us\"\n{stop}\
             [[flows]]\nname = \"incast\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 3\nsize = \"40 KB\"\n\
             clients = [\"h7\"]\nservers = [\"h0..h3\"]\nqueries_per_second = 2000\n{stop}\
             [[flows]]\nname = \"random\"\nkind = \"poisson\"\ntransport = \"t\"\nflows_per_second = 5000\n\
             sources = [\"h0..h3\"]\ndestinations = [\"h4..h7\"]\n\
             sizes = {{ kind = \"cdf\", table = \"websearch_dctcp_hpcc\", largest = \"200 KB\" }}\n{stop}"
        )
    };
    format!(
        "name = \"shifted\"\nduration = \"{} ps\"\n{fabric}{switch}\
         ecn = {{ threshold = \"20 KB\", maximum = \"50 KB\", probability = 0.5 }}\n\
         [[transport]]\nname = \"t\"\n{transport}\n{groups}{rest}",
        start_ps + 4_000_000_000
    )
}

/// The first difference between a run's results and those of the run `SHIFT_PS` later.
fn difference(early: &Outcome, late: &Outcome) -> Option<String> {
    let shift = SHIFT_PS as i64;
    for (a, b) in early.tables.iter().zip(&late.tables) {
        // The sentences of stalls name times.
        let is_compared = |name: &str| (a.name, name) != ("stalls", "reason");
        for ((name, before), (_, after)) in a.columns.iter().zip(&b.columns).filter(|((name, _), _)| is_compared(name))
        {
            let is_shifted = match (before, after) {
                (Column::Signed(before), Column::Signed(after)) if name.ends_with("_ps") => {
                    // "Never", or a link without frames.
                    let fits = |(&early, &late): (&i64, &i64)| late == early + shift || (early <= 0 && late == early);
                    before.len() == after.len() && before.iter().zip(after).all(fits)
                }
                (before, after) => before == after,
            };
            if !is_shifted {
                return Some(format!("{}.{name}: {before:?} and {after:?}", a.name));
            }
        }
    }
    (early.summary.drops != late.summary.drops).then(|| format!("{:?}, {:?}", early.summary.drops, late.summary.drops))
}

fn is_the_same_later(transport: &str, rest: &str) {
    let [early, late] = [0, SHIFT_PS].map(|start_ps| support::run(&text(transport, rest, start_ps)));
    let messages = support::numbers(&early, "messages", "bytes").len();
    let flows = support::numbers(&early, "flows", "packets_sent").iter().sum::<u64>();
    assert!(messages + flows as usize > 1_000, "{transport}: {messages} messages, {flows} packets");
    assert_eq!(difference(&early, &late), None, "{transport}");
}

const BOLT: &str = "[[mechanism]]\nkind = \"bolt\"\nthreshold = \"10 KB\"\n";
const STACK: &str = "[host.kernel]\nsend = \"3 us\"\nreceive = \"5 us\"\n\
    jitter = { kind = \"exponential\", mean = \"2 us\" }\n[host.network_card]\n\
    jitter = { kind = \"exponential\", mean = \"200 ns\" }\n";

fn tcp(settings: &str) -> String {
    format!("kind = \"tcp\"\nrto_min = \"1 ms\"\nrto_initial = \"2 ms\"\n{settings}")
}

#[test]
fn every_congestion_control_of_tcp_is_the_same_later() {
    for control in ["newreno", "cubic", "dctcp", "bbr", "swift", "bolt"] {
        let rest = if control == "bolt" { BOLT } else { "" };
        for stack in ["", STACK] {
            is_the_same_later(&tcp(&format!("congestion = \"{control}\"")), &format!("{rest}{stack}"));
        }
    }
}

#[test]
fn tcp_with_other_settings_is_the_same_later() {
    let table = [
        "congestion = \"newreno\"\npacing = true\nhandshake = true",
        "congestion = \"cubic\"\nsack = false\nrack_tlp = false\nslow_start_after_idle = true",
        "congestion = \"newreno\"\necn = true\nburst_segments = 8\ndelayed_ack_segments = 2",
        "congestion = \"bbr\"\nhandshake = true\nburst_segments = 16",
        "congestion = { kind = \"swift\", base_target = \"20 us\", fs_max_cwnd = 4.0 }\ninitial_window = 1",
    ];
    table.iter().for_each(|settings| is_the_same_later(&tcp(settings), ""));
}

#[test]
fn every_other_transport_is_the_same_later() {
    let table = [
        "kind = \"roce\"",
        "kind = \"roce\"\nrecovery = \"selective-repeat\"\nwindow = 64\nacknowledge_every = 4",
        "kind = \"roce\"\ndcqcn = {}\ntimeout = \"2 ms\"",
        "kind = \"roce\"\ndcqcn = \"vendor\"\ntimeout = \"2 ms\"",
        "kind = \"packet-pair\"\nrto_min = \"1 ms\"\nrto_initial = \"2 ms\"",
        "kind = \"udp\"\nrate = \"4 Gbps\"",
    ];
    for transport in table {
        is_the_same_later(transport, "");
        is_the_same_later(transport, STACK);
    }
}

#[test]
fn queues_of_flows_are_the_same_later() {
    for queueing in ["kind = \"ideal-fq\"", "kind = \"drr\"", "kind = \"sfq\"", "kind = \"fq-codel\""] {
        let transport = tcp("congestion = \"newreno\"\nhandshake = true");
        let with = |start_ps| {
            let text = text(&transport, "", start_ps);
            let (before, after) = text.split_once("ecn = {").expect("switches mark");
            let after = after.split_once('\n').expect("in one line").1;
            support::run(&format!("{before}flow_queueing = {{ {queueing} }}\n{after}"))
        };
        assert_eq!(difference(&with(0), &with(SHIFT_PS)), None, "{queueing}");
    }
}

/// A single BBR flow: the pacing of its first bursts starts with the flow.
#[test]
fn a_flow_of_bbr_alone_takes_the_same_time_whenever_it_starts() {
    let fct_ps = |start: &str| {
        let outcome = support::run(&format!(
            "name = \"alone\"\nduration = \"10 ms\"\n{}{}[[transport]]\nname = \"t\"\nkind = \"tcp\"\n\
             congestion = \"bbr\"\n[[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nstart = \"{start}\"\n\
             sources = [\"h0\"]\ndestinations = [\"h1\"]\nsize = \"30 KB\"\ncount = 1\n",
            support::dumbbell(1, "1 us", "1 us").replace("10 Gbps", "100 Gbps"),
            support::ideal("1 MB"),
        ));
        let of = |column| support::times(&outcome, "messages", column)[0];
        of("delivered_ps") - of("started_ps")
    };
    let first = fct_ps("0 s");
    for start in ["1.05 ms", "3 ps", "2 ms"] {
        assert_eq!(fct_ps(start), first, "from {start} on");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any shift by whole ticks of both clocks.
    #[test]
    fn any_whole_number_of_ticks_later_is_the_same(ticks in 1u64..4, seed in 1u64..1_000) {
        let run = |start_ps| {
            let transport = tcp("congestion = \"cubic\"\necn = true");
            support::run(&text(&transport, "", start_ps).replacen("duration", &format!("seed = {seed}\nduration"), 1))
        };
        let [early, late] = [(ticks - 1) * SHIFT_PS, ticks * SHIFT_PS].map(run);
        prop_assert_eq!(difference(&early, &late), None);
    }
}
