//! The order checker and the other measurements of flows, compared with independent counts.

use hitless_simulation::Outcome;
use hitless_simulation::results::OrderCounts;
use proptest::prelude::*;

use super::triangle::{TRIANGLE, lost};
use crate::support::{numbers, of_link, run, texts, times};

/// TCP and RDMA flows in both directions between h and i, plus further sections.
fn mixed(seed: u64, load: f64, more: &str) -> String {
    let fabric = &TRIANGLE[..TRIANGLE.find("[[transport]]").expect("it has a transport")];
    let fabric = fabric.replace("duration = \"30 ms\"", &format!("until = \"all-flows-done\"\nseed = {seed}"));
    let group = |name: &str, transport: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nkind = \"poisson\"\ntransport = \"{transport}\"\nload = {load}\n\
             load_of = \"host-links\"\nsizes = {{ kind = \"fixed\", bytes = \"40 KB\" }}\ncount = 40\n"
        )
    };
    let transports = "[[transport]]\nname = \"tcp\"\nkind = \"tcp\"\ncongestion = \"cubic\"\nrto_min = \"1 ms\"\n\
                      [[transport]]\nname = \"roce\"\nkind = \"roce\"\n";
    format!("{fabric}{transports}{}{}{more}\n[measure]\norder = true\n", group("a", "tcp"), group("b", "roce"))
}

fn order(outcome: &Outcome) -> OrderCounts {
    outcome.summary.order.expect("the checker was on")
}

fn assert_sums(outcome: &Outcome) {
    let order = order(outcome);
    let sum = |name: &str| numbers(outcome, "flows", name).iter().sum::<u64>();
    assert_eq!(sum("network_packets_sent"), order.packets_sent);
    assert_eq!(sum("network_packets_lost"), order.packets_lost);
    assert_eq!(sum("network_packets_reordered"), order.packets_reordered);
    assert_eq!(sum("network_packets_duplicated"), order.packets_duplicated);
    let on_host_links = of_link(outcome, "h->sw3", "frames_sent") + of_link(outcome, "i->sw4", "frames_sent");
    assert_eq!(order.packets_sent, on_host_links);
}

const LOSSY: &str = "[[link]]\nname = \"sw3<->sw4\"\nloss = { kind = \"bernoulli\", rate = 0.02 }\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_network_without_faults_loses_reorders_and_duplicates_nothing(seed in 0u64..1 << 60, load in 0.05f64..0.4) {
        let outcome = run(&mixed(seed, load, ""));
        assert_sums(&outcome);
        let packets_sent = order(&outcome).packets_sent;
        prop_assert!(packets_sent > 1_000);
        prop_assert_eq!(order(&outcome), OrderCounts { packets_sent, ..OrderCounts::default() });
    }

    #[test]
    fn with_random_losses_just_what_the_links_dropped_is_lost(seed in 0u64..1 << 60, load in 0.05f64..0.4) {
        let outcome = run(&mixed(seed, load, LOSSY));
        assert_sums(&outcome);
        let dropped: u64 =
            ["sw3->sw4", "sw4->sw3"].into_iter().map(|link| of_link(&outcome, link, "frames_corrupted")).sum();
        prop_assert!(dropped > 0);
        let packets_sent = order(&outcome).packets_sent;
        let expected = OrderCounts { packets_sent, packets_lost: dropped, ..OrderCounts::default() };
        prop_assert_eq!(order(&outcome), expected);
    }

    #[test]
    fn linkguardian_loses_nothing_and_says_in_which_mode_it_reorders(seed in 0u64..1 << 60) {
        // In one direction only: requests for a retransmission must arrive.
        let lossy = LOSSY.replace("<->", "->");
        let guard = |mode: &str| {
            // Four copies each of five consecutive packets take 25 us at 10G; the paper's timeout there is 13.5 us.
            let link = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw3->sw4\"\ncopies = 4\n\
                ack_no_timeout = \"40 us\"\n";
            run(&mixed(seed, 0.2, &format!("{lossy}{link}mode = \"{mode}\"\n")))
        };
        let blocking = order(&guard("blocking"));
        prop_assert_eq!((blocking.packets_lost, blocking.packets_reordered, blocking.packets_duplicated), (0, 0, 0));
        let non_blocking = order(&guard("non-blocking"));
        prop_assert_eq!(non_blocking.packets_lost, 0);
        prop_assert!(non_blocking.packets_reordered > 0);
    }
}

#[test]
fn a_flow_has_the_frames_that_failures_cost_it_and_the_gap_that_they_made() {
    let failure =
        "[[failure]]\nlink = \"sw3<->sw4\"\nfirst = \"5 ms\"\n[recovery]\nscheme = { kind = \"same-port\" }\n";
    let outcome = run(&format!("clocks = \"ideal\"\n{TRIANGLE}{failure}[measure]\norder = true\n"));
    let column = |name: &str| numbers(&outcome, "flows", name)[0];
    assert_eq!(column("frames_lost_to_failures"), lost(&outcome));
    assert_eq!(column("network_packets_lost"), lost(&outcome));
    let gap_us = column("network_longest_gap_ps") as f64 / 1e6;
    let expected_us = (lost(&outcome) + 1) as f64 * 12.304;
    assert!((gap_us - expected_us).abs() < 0.001, "{gap_us} us, {expected_us} us expected");
}

#[test]
fn packets_under_way_at_the_end_are_not_lost() {
    // The run ends with datagrams in flight.
    let outcome = run(&format!("{}[measure]\norder = true\n", TRIANGLE.replace("stop = \"25 ms\"", "")));
    let order = order(&outcome);
    assert_eq!(order.packets_lost, 0);
    let received = numbers(&outcome, "flows", "packets_received")[0];
    assert_eq!(order.packets_sent, received + order.packets_under_way);
    let slow = TRIANGLE.replace("stop = \"25 ms\"", "").replace("delay = \"1 us\"", "delay = \"100 us\"");
    let outcome = run(&format!("{slow}[measure]\norder = true\n"));
    let expected = 300.0 / 12.304;
    assert!((self::order(&outcome).packets_under_way as f64 - expected).abs() <= 2.0, "{:?}", self::order(&outcome));
    assert_eq!(self::order(&outcome).packets_lost, 0);
}

#[test]
fn looking_does_not_change_what_happens() {
    let text = mixed(7, 0.3, LOSSY);
    let watched = text.replace("order = true", "order = true\nflow = [{ group = \"a\", period = \"10 us\" }]");
    let plain = text.replace("order = true", "");
    assert_eq!(run(&watched).summary.trace_hash, run(&plain).summary.trace_hash);
}

#[test]
fn the_progress_of_a_flow_rises_from_start_to_end() {
    let text = mixed(
        3,
        0.1,
        "[[flows]]\nname = \"one\"\nkind = \"requests\"\ntransport = \"tcp\"\nsources = [\"h\"]\n\
         destinations = [\"i\"]\nsize = \"300 KB\"\ncount = 1\n",
    );
    let outcome = run(&text.replace("order = true", "flow = [{ group = \"one\", period = \"10 us\" }]"));
    let column = |name: &str| numbers(&outcome, "flow_progress", name);
    let (sent, acknowledged, delivered) = (column("sequence"), column("acknowledged"), column("delivered_bytes"));
    assert!(sent.len() > 20);
    assert!(texts(&outcome, "flow_progress", "group").iter().all(|group| group == "one"));
    for series in [sent, acknowledged, delivered] {
        assert!(series.is_sorted());
        assert!(*series.last().unwrap() > 200_000 && *series.last().unwrap() <= 300_000);
    }
    for row in 0..sent.len() {
        assert!(acknowledged[row] <= delivered[row] && delivered[row] <= sent[row]);
    }
    assert_eq!(column("cwnd_bytes")[0] % 1_448, 0);
    let time = times(&outcome, "flow_progress", "time_ps");
    assert!(time.windows(2).all(|pair| pair[1] - pair[0] == 10_000_000));
}
