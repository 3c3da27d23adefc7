//! BBR, selective repeat, DCQCN and probabilistic marking in a whole fabric, and goodput over time.

use hitless_simulation::Outcome;

use crate::support::{self, dumbbell, ideal, numbers};

/// Two senders towards one port of 10 Gb/s for 20 ms.
fn run(switch: &str, transport: &str, link: &str) -> Outcome {
    let (fabric, buffer) = (dumbbell(2, "2 us", "5 us"), ideal("2 MB"));
    let text = format!(
        "name = \"congestion\"\nduration = \"20 ms\"\n{fabric}{buffer}{switch}\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"two\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\", \"h1\"]\n\
         destinations = [\"h2\", \"h3\"]\n{link}\n\
         [[measure.goodput]]\ngroup = \"two\"\nperiod = \"1 ms\"\n\
         [[measure.queue]]\nports = [\"left->right\"]\nperiod = \"10 us\"\n"
    );
    support::run(&text)
}

fn sum(values: &[u64]) -> u64 {
    values.iter().sum()
}

const RAMP: &str = "ecn = { threshold = \"100 KB\", maximum = \"240 KB\", probability = 0.2 }";
const LOSS: &str = "[[link]]\nname = \"left->right\"\nloss = { kind = \"bernoulli\", rate = 0.01 }\n";

/// Goodput in bit/s in the second half of the run.
fn goodput_bps(outcome: &Outcome) -> f64 {
    let delivered = numbers(outcome, "goodput", "delivered_bytes");
    sum(&delivered[10..]) as f64 * 8.0 / 10e-3
}

#[test]
fn goodput_over_time_adds_up_to_what_flows_report() {
    let outcome = run("", "kind = \"tcp\"\nrto_min = \"5 ms\"", LOSS);
    let columns = [("delivered_bytes", "delivered_bytes"), ("packets_sent", "packets_sent"), ("timeouts", "timeouts")];
    for (over_time, of_flows) in columns {
        let (parts, whole) = (numbers(&outcome, "goodput", over_time), numbers(&outcome, "flows", of_flows));
        // The last sample is at the end of the run, so the samples add up to the total.
        assert_eq!(sum(parts), sum(whole), "{over_time}");
        assert_eq!(parts.len(), 20);
    }
    let again = numbers(&outcome, "goodput", "packets_retransmitted");
    assert!(sum(again) > 100);
    assert_eq!(sum(again), sum(numbers(&outcome, "flows", "packets_retransmitted")));
}

#[test]
fn dcqcn_under_marking_by_chance_holds_the_queue_where_marks_begin() {
    let outcome = run(RAMP, "kind = \"roce\"\ndcqcn = {}", "");
    let echoes = sum(numbers(&outcome, "goodput", "congestion_echoes"));
    assert!(echoes > 20, "{echoes} notifications");
    let depths = numbers(&outcome, "queues", "value_bytes");
    let late = &depths[depths.len() / 2..];
    let mean = sum(late) / late.len() as u64;
    assert!(mean < 240_000, "{mean} bytes");
    assert!(goodput_bps(&outcome) > 0.7 * 10e9, "{}", goodput_bps(&outcome));
    let without = run(RAMP, "kind = \"roce\"", "");
    let most = numbers(&without, "queues", "value_bytes").iter().copied().max().unwrap_or(0);
    assert!(most > 900_000, "two windows of 512 packets, but the queue has {most} bytes");
}

#[test]
fn selective_repeat_sends_less_again_than_go_back_n() {
    let of = |recovery: &str| run("", &format!("kind = \"roce\"\nrecovery = \"{recovery}\""), LOSS);
    let (selective, back) = (of("selective-repeat"), of("go-back-n"));
    let share = |outcome: &Outcome| {
        let again = sum(numbers(outcome, "goodput", "packets_retransmitted"));
        again as f64 / sum(numbers(outcome, "goodput", "packets_sent")) as f64
    };
    // 1 % of the packets are lost, and each loss costs go-back-N about one round trip of packets.
    assert!((0.008..0.02).contains(&share(&selective)), "{}", share(&selective));
    assert!(share(&back) > 5.0 * share(&selective), "{} against {}", share(&back), share(&selective));
    assert!(goodput_bps(&selective) > 1.2 * goodput_bps(&back));
}

#[test]
fn bbr_shares_a_port_and_keeps_its_rate_where_one_packet_in_a_hundred_is_lost() {
    let tcp = "kind = \"tcp\"\nrto_min = \"5 ms\"\ncongestion";
    let (clean, lossy) = (run("", &format!("{tcp} = \"bbr\""), ""), run("", &format!("{tcp} = \"bbr\""), LOSS));
    let cubic = run("", &format!("{tcp} = \"cubic\""), LOSS);
    assert!(goodput_bps(&clean) > 0.9 * 10e9, "{}", goodput_bps(&clean));
    assert!(goodput_bps(&lossy) > 0.8 * goodput_bps(&clean), "{}", goodput_bps(&lossy));
    assert!(goodput_bps(&cubic) < goodput_bps(&lossy), "{}", goodput_bps(&cubic));
}

/// Found by the swarm: an acknowledgement arrived after a probe's timer but before the probe, which waited for the
/// card, and left the fast path enabled for a flight with a segment sent twice.
#[test]
fn a_probe_that_waits_for_the_card_keeps_the_short_way_closed() {
    let fabric = dumbbell(3, "1 ps", "1 ps");
    let text = format!(
        "name = \"probe\"\nseed = 365280\nuntil = \"all-flows-done\"\nduration = \"60 ms\"\n{fabric}\
         [[transport]]\nname = \"t0\"\nkind = \"tcp\"\nhandshake = true\n\
         [[flows]]\nname = \"g0\"\nkind = \"schedule\"\ntransport = \"t0\"\ncount = 7\nperiod = \"7 us\"\n\
         sources = [\"h0\", \"h1\", \"h2\"]\ndestinations = [\"h5\", \"h4\", \"h3\"]\n\
         sizes = {{ kind = \"pareto\", mean = \"20 KB\", shape = 1.2 }}\n"
    );
    assert_eq!(support::run(&text).summary.flows.completed, 7);
}
