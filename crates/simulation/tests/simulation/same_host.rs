//! Equal flows of one host: neither their numbers nor the names of their groups decide which of them is served first.

use hitless_simulation::Outcome;

use crate::support::{drops, numbers, run, texts, times};

/// `links` gives the rate in Gb/s of each host's link to one switch; flows go between the hosts of `pairs`.
struct World<'a> {
    links: &'a [u32],
    pairs: &'a [(u32, u32)],
    us: u32,
    /// `[switch]` without its preset, `[host]` and `[[transport]]` "t".
    rest: &'a str,
    /// Settings of `[[flows]]`.
    flows: &'a str,
}

impl World<'_> {
    fn run(&self, seed: u64) -> Outcome {
        let Self { links, pairs, us, rest, flows } = self;
        let list = |items: Vec<String>| items.join(", ");
        let hosts = list((0..links.len()).map(|host| format!("\"h{host}\"")).collect());
        let link =
            |(host, gbps)| format!("{{ ends = [\"h{host}\", \"s\"], rate = \"{gbps} Gbps\", delay = \"1 us\" }}");
        let links = list(links.iter().enumerate().map(link).collect());
        let ends = |end: fn(&(u32, u32)) -> u32| list(pairs.iter().map(|pair| format!("\"h{}\"", end(pair))).collect());
        run(&format!(
            "name = \"same-host\"\nduration = \"{us} us\"\nseed = {seed}\n\
             topology = {{ kind = \"graph\", hosts = [{hosts}], switches = [\"s\"], links = [{links}] }}\n{rest}\n\
             [[flows]]\nname = \"f\"\ntransport = \"t\"\n{flows}\nsources = [{}]\ndestinations = [{}]\n",
            ends(|pair| pair.0),
            ends(|pair| pair.1),
        ))
    }
}

fn udp(gbps: u32) -> String {
    format!("[[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"{gbps} Gbps\"")
}

fn ideal(buffer: &str) -> String {
    format!("[switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"{buffer}\" }}\n")
}

/// Shares of the flows in order of their numbers.
fn shares(outcome: &Outcome) -> Vec<f64> {
    let mut bytes: Vec<(u64, u64)> = numbers(outcome, "flows", "flow")
        .iter()
        .zip(numbers(outcome, "flows", "delivered_bytes"))
        .map(|(&flow, &bytes)| (flow, bytes))
        .collect();
    bytes.sort_unstable();
    let sum: u64 = bytes.iter().map(|of| of.1).sum();
    bytes.iter().map(|of| of.1 as f64 / sum as f64).collect()
}

#[test]
fn equal_datagram_flows_of_one_host_get_equal_shares_of_a_full_port_in_each_run() {
    let of_one_host = ([10, 5].as_slice(), [(0, 1), (0, 1)].as_slice(), 4, "100 KB");
    let of_two_hosts = [(0, 2), (0, 2), (0, 2), (1, 2), (1, 2), (1, 2)];
    let of_two_hosts = ([100, 100, 100].as_slice(), of_two_hosts.as_slice(), 25, "300 KB");
    for (links, pairs, gbps, buffer) in [of_one_host, of_two_hosts] {
        let rest = format!("{}{}", ideal(buffer), udp(gbps));
        let world = World { links, pairs, us: 8_000, rest: &rest, flows: "kind = \"constant-rate\"" };
        for seed in 1..=3 {
            let shares = shares(&world.run(seed));
            let equal = 1.0 / pairs.len() as f64;
            assert!(shares.iter().all(|share| (share / equal - 1.0).abs() < 0.05), "seed {seed}: {shares:?}");
        }
    }
}

#[test]
fn flows_that_start_together_come_first_equally_often_whatever_their_numbers() {
    let rest = format!("{}[[transport]]\nname = \"t\"\nkind = \"roce\"\n", ideal("20 MB"));
    let flows = "kind = \"requests\"\nsize = \"10 KB\"\ncount = 1";
    let world = World { links: &[10, 10, 10], pairs: &[(0, 1), (0, 2)], us: 1_000, rest: &rest, flows };
    let first = (1..=60).filter(|&seed| {
        let outcome = world.run(seed);
        let finished = times(&outcome, "flows", "finished_ps");
        texts(&outcome, "flows", "destination")[usize::from(finished[1] < finished[0])] == "h1"
    });
    let first = first.count();
    assert!((18..=42).contains(&first), "the first flow comes first in {first} of 60 runs");
}

#[test]
fn flow_control_that_never_acts_moves_no_message_by_the_time_of_a_frame() {
    /// 4 KB at 10 Gb/s.
    const FRAME_PS: u64 = 3_300_000;
    for host in ["", "[host]\nnetwork_card = { send = \"2 us\" }\n", "[host]\nnic_queue = \"8 packets\"\n"] {
        let finished = |pfc: &str| {
            let transport = "[[transport]]\nname = \"t\"\nkind = \"roce\"\n";
            let rest = format!("{}{pfc}{host}{transport}", ideal("20 MB"));
            let flows = "kind = \"requests\"\nsize = \"100 KB\"\ncount = 2";
            let pairs = &[(0, 1), (0, 2), (3, 2)];
            let world = World { links: &[10, 10, 100, 100], pairs, us: 2_000, rest: &rest, flows };
            let outcome = world.run(7);
            times(&outcome, "messages", "delivered_ps").to_vec()
        };
        let (without, with) = (finished(""), finished("pfc = {}\n"));
        let is_close = |(before, after): (&i64, &i64)| before.abs_diff(*after) < FRAME_PS;
        assert!(without.iter().zip(&with).all(is_close), "{host}: {without:?} and {with:?}");
    }
}

#[test]
fn a_stack_delay_does_not_let_a_sender_overrun_the_queue_of_a_card_with_flow_control() {
    let flows = "kind = \"requests\"\nsize = \"2 MB\"\ncount = 1";
    for pfc in ["", "pfc = {}\n"] {
        let host = "[host]\nnic_queue = \"20 packets\"\nnetwork_card = { send = \"2 us\" }\n";
        let transport = "[[transport]]\nname = \"t\"\nkind = \"roce\"\n";
        let rest = format!("{}{pfc}{host}{transport}", ideal("20 MB"));
        let world = World { links: &[10, 10], pairs: &[(0, 1)], us: 4_000, rest: &rest, flows };
        let outcome = world.run(1);
        assert_eq!(drops(&outcome, "network card full"), 0, "{pfc}");
        // 2 MB in packets of 4 KB with their headers.
        let (ideal_us, finished) = (1_750, times(&outcome, "flows", "finished_ps")[0]);
        assert!(finished < (ideal_us + 20) * 1_000_000, "{pfc}: {finished} ps");
    }
}

#[test]
fn flows_of_one_host_share_a_short_queue_and_keep_the_line_busy() {
    for (queue_packets, gbps, expected_gbps) in [(1, 2, 4), (4, 8, 10)] {
        let host = format!("[host]\nnic_queue = \"{queue_packets} packets\"\n");
        let rest = format!("[switch]\npreset = \"ideal\"\n{host}{}", udp(gbps));
        let pairs = &[(0, 1), (0, 1)];
        let world = World { links: &[10, 10], pairs, us: 2_000, rest: &rest, flows: "kind = \"constant-rate\"" };
        let outcome = world.run(1);
        assert_eq!(drops(&outcome, "network card full"), 0, "{queue_packets}");
        assert!(shares(&outcome).iter().all(|share| (share - 0.5).abs() < 0.01), "{:?}", shares(&outcome));
        let wire_bytes = numbers(&outcome, "flows", "packets_received").iter().sum::<u64>() * 1_538;
        let sent_gbps = wire_bytes as f64 * 8.0 / 2e6;
        assert!(sent_gbps > 0.99 * f64::from(expected_gbps), "{sent_gbps} Gb/s");
    }
}
