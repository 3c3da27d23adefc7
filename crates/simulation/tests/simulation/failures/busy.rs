//! SQR on busy links: the backlog after a failure drains faster than packets arrive, and then the state is as before.

use hitless_simulation::Outcome;

use crate::support::{check, numbers, run};

/// Two leaves and two spines. The hosts' packets cross the second spine, and its link to the second leaf fails at 1 ms.
struct Busy {
    rate: &'static str,
    /// `[[transport]]` named "u", and `[[flows]]`.
    traffic: String,
    /// Further lines of the failure, and the recovery scheme.
    outage: &'static str,
    scheme: &'static str,
    /// Settings of SQR; `None` without SQR.
    sqr: Option<&'static str>,
    /// Further failures and mechanisms.
    more: &'static str,
    duration: &'static str,
}

const SAME_PORT: (&str, &str) = ("", "same-port");
const REROUTE: (&str, &str) = ("outage = \"1 ms\"", "local-reroute");

impl Busy {
    fn new(rate: &'static str, traffic: String, (outage, scheme): (&'static str, &'static str)) -> Self {
        Self { rate, traffic, outage, scheme, sqr: Some(""), more: "", duration: "6 ms" }
    }

    fn text(&self) -> String {
        let Self { rate, traffic, outage, scheme, more, duration, .. } = self;
        let sqr = self.sqr.map_or(String::new(), |sqr| {
            format!("[[mechanism]]\nkind = \"sqr\"\nlinks = [\"spine1<->leaf1\"]\n{sqr}\n")
        });
        format!(
            "name = \"busy\"\nduration = \"{duration}\"\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\n\
             hosts_per_leaf = 1\nhost_link = {{ rate = \"{rate}\", delay = \"50 ns\" }}\n\
             core_link = {{ rate = \"{rate}\", delay = \"50 ns\" }}\n[routing]\nchoice = \"by-sum\"\n\
             [switch]\npreset = \"tofino-like\"\necn = {{ threshold = \"100 KB\" }}\n{traffic}\n\
             [[failure]]\nlink = \"spine1<->leaf1\"\nfirst = \"1 ms\"\n{outage}\n\
             [recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\nscheme = {{ kind = \"{scheme}\" }}\n\
             {sqr}{more}[measure]\norder = true\ngoodput = [{{ group = \"f\", period = \"1 ms\" }}]\n"
        )
    }

    fn run(&self) -> Outcome {
        run(&self.text())
    }
}

/// A host sends to the other at a constant rate of `mbps` until 1 ms before the end of 6 ms; with `both_ways`, both do.
fn constant(mbps: u64, both_ways: bool) -> String {
    let flow = |name: &str, from: &str, to: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nkind = \"constant-rate\"\ntransport = \"u\"\nsources = [\"{from}\"]\n\
             destinations = [\"{to}\"]\nstop = \"5 ms\"\n"
        )
    };
    let back = if both_ways { flow("r", "h1", "h0") } else { String::new() };
    format!("[[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"{mbps} Mbps\"\n{}{back}", flow("f", "h0", "h1"))
}

fn long(congestion: &str) -> String {
    format!(
        "[[transport]]\nname = \"u\"\nkind = \"tcp\"\ncongestion = \"{congestion}\"\nrto_min = \"1 ms\"\n\
         rto_initial = \"1 ms\"\nknown_rtt = \"30 us\"\n[[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"u\"\n\
         sources = [\"h0\"]\ndestinations = [\"h1\"]\n"
    )
}

fn lost_and_reordered(outcome: &Outcome) -> (u64, u64) {
    let order = outcome.summary.order.expect("the checker was on");
    (order.packets_lost, order.packets_reordered)
}

#[test]
fn a_long_flow_is_as_fast_after_a_failure_as_without_one() {
    for recovery in [SAME_PORT, REROUTE] {
        for caching in ["", "caching = \"delay-queue\""] {
            let failing = Busy { sqr: Some(caching), ..Busy::new("100 Gbps", long("dctcp"), recovery) };
            let calm = failing.text().replace("first = \"1 ms\"", "first = \"5999 us\"");
            let delivered = |outcome: &Outcome| numbers(outcome, "goodput", "delivered_bytes").to_vec();
            let (after, without) = (delivered(&failing.run()), delivered(&run(&calm)));
            for millisecond in 3..6 {
                let (after, without) = (after[millisecond], without[millisecond]);
                assert!(after * 100 >= without * 97, "{recovery:?} {caching}: {after} and {without} bytes");
            }
        }
    }
}

#[test]
fn a_constant_rate_loses_nothing_at_any_rate_of_the_link() {
    let table = [
        ("1 Gbps", 900, true, SAME_PORT),
        ("10 Gbps", 9_400, false, SAME_PORT),
        ("10 Gbps", 9_000, true, SAME_PORT),
        ("10 Gbps", 4_000, true, REROUTE),
        ("25 Gbps", 20_000, true, SAME_PORT),
        ("25 Gbps", 20_000, false, REROUTE),
        // At 60 Gbps the ring of a switch with two ports fills up, and packets leave without a copy.
        ("100 Gbps", 40_000, true, SAME_PORT),
        ("100 Gbps", 60_000, false, REROUTE),
    ];
    for (rate, mbps, both_ways, recovery) in table {
        for caching in ["", "caching = \"delay-queue\""] {
            let busy = Busy { sqr: Some(caching), ..Busy::new(rate, constant(mbps, both_ways), recovery) };
            let outcome = busy.run();
            assert_eq!(lost_and_reordered(&outcome), (0, 0), "{mbps} of {rate}, {recovery:?} {caching}");
            let lost = outcome.summary.failures.expect("it fails").happened;
            assert_eq!(lost, 1, "{rate}, {recovery:?}");
        }
    }
}

#[test]
fn packets_without_a_copy_are_a_warning() {
    let warned = |mbps: u64| {
        let busy = Busy::new("100 Gbps", constant(mbps, true), SAME_PORT);
        busy.run().summary.warnings.iter().any(|warning| warning.contains("without a copy"))
    };
    assert_eq!([40_000, 60_000].map(warned), [false, true]);
}

#[test]
fn two_links_of_a_switch_that_may_be_down_together_are_refused_under_local_rerouting() {
    let with = |first: &str, (outage, scheme): (&'static str, &'static str)| {
        let busy = Busy::new("10 Gbps", constant(3_000, false), (outage, scheme));
        let second = format!("[[failure]]\nlink = \"spine0<->leaf1\"\nfirst = \"{first}\"\n{outage}\n");
        check(&format!("{}{second}", busy.text())).map(drop)
    };
    let rule =
        "may be down at the same time: packets that one switch keeps are overtaken by those that another reroutes";
    let refused = with("1400 us", REROUTE).expect_err("they overlap");
    assert!(refused.contains(rule), "{refused}");
    with("4 ms", REROUTE).expect("one is whole before the other fails");
    with("1400 us", SAME_PORT).expect("packets keep their way");
}

#[test]
fn a_load_whose_copies_the_ring_cannot_read_is_refused_with_the_arithmetic() {
    // With two paths, the check cannot tell which of them a flow takes.
    let one_way = |busy: &Busy| busy.text().replace("spines = 2", "spines = 1").replace("spine1", "spine0");
    let busy = Busy::new("100 Gbps", constant(80_000, true), SAME_PORT);
    let refused = check(&one_way(&busy)).map(drop).expect_err("refused");
    let rule = "copies of 80 Gbps have to be read one and a half times each at spine0, 120 Gbps, and its caching ports \
                have the time to read 40 Gbps beside flows of constant rate";
    assert!(refused.contains(rule), "{refused}");
    let busy = Busy::new("10 Gbps", constant(10_100, false), SAME_PORT);
    let full = check(&one_way(&busy)).map(drop).expect_err("refused");
    assert!(full.contains("after a failure spine0->leaf1 has to carry them, and carries 10 Gbps"), "{full}");
}

#[test]
fn a_link_with_linkguardian_and_sqr_loses_nothing() {
    let linkguardian = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"spine1->leaf1\"\n";
    let loss = "[[link]]\nname = \"spine1->leaf1\"\nloss = { kind = \"bernoulli\", rate = 1e-3 }\n";
    for (rate, mbps) in [("10 Gbps", 5_000), ("25 Gbps", 12_500), ("100 Gbps", 30_000)] {
        let busy = Busy { more: linkguardian, ..Busy::new(rate, constant(mbps, false), SAME_PORT) };
        for text in [busy.text(), format!("{}{loss}", busy.text())] {
            // LinkGuardian repairs a few packets of the outage before SQR sends the copies of earlier ones.
            let (lost, reordered) = lost_and_reordered(&run(&text));
            assert!(lost == 0 && reordered <= 2, "{rate}: {lost} lost, {reordered} reordered");
        }
    }
}

#[test]
fn packets_that_return_from_a_long_detour_overtake_nobody() {
    let busy = Busy { duration: "8 ms", ..Busy::new("10 Gbps", constant(5_000, false), REROUTE) };
    let far = busy.text().replace(
        "core_link = { rate = \"10 Gbps\", delay = \"50 ns\"",
        "core_link = { rate = \"10 Gbps\", delay = \"200 us\"",
    );
    assert_eq!(lost_and_reordered(&run(&far)), (0, 0));
    let short = far.replace("kind = \"sqr\"", "kind = \"sqr\"\nreturn_hold = \"100 us\"");
    assert!(lost_and_reordered(&run(&short)).1 > 10, "the default depends on the cables");
}
