//! Completion times divided into parts: exact in sum, by hand for single flows, and without an effect on the run.

use std::collections::BTreeMap;

use hitless_simulation::Outcome;
use hitless_simulation::results::Column;
use proptest::prelude::*;

use crate::support::{self, check, numbers, run_scenario, sound, table, texts, times};

/// The parts of a message, without those of 0 ps.
type Parts = BTreeMap<&'static str, u64>;

/// Runs a scenario with and without an autopsy. The run itself compares the ends of each autopsy with the message's.
fn examine(text: &str) -> Outcome {
    let plain = sound(text);
    let mut observed = plain.clone();
    observed.measure.autopsy = true;
    let (plain, outcome) = (run_scenario(&plain), run_scenario(&observed));
    assert_eq!(plain.summary.trace_hash, outcome.summary.trace_hash, "{text}");
    let others: Vec<_> = outcome.tables.iter().filter(|table| !table.name.starts_with("autopsy")).collect();
    assert_eq!(plain.tables.iter().collect::<Vec<_>>(), others, "{text}");
    let delivered = times(&outcome, "messages", "delivered_ps").iter().filter(|at| **at >= 0).count();
    let sums: Vec<u64> = parts(&outcome).iter().map(|parts| parts.values().sum()).collect();
    assert_eq!(sums.len(), delivered, "{text}");
    let spans = times(&outcome, "autopsy", "started_ps").iter().zip(times(&outcome, "autopsy", "delivered_ps"));
    assert_eq!(sums, spans.map(|(start, end)| (end - start) as u64).collect::<Vec<_>>(), "{text}");
    outcome
}

/// The parts of each message.
fn parts(outcome: &Outcome) -> Vec<Parts> {
    let columns = table(outcome, "autopsy").columns.iter().skip_while(|(name, _)| *name != "application_ps");
    let columns: Vec<_> = columns.take_while(|(name, _)| *name != "round_trips").collect();
    let value = |column: &Column, row: usize| if let Column::Unsigned(values) = column { values[row] } else { 0 };
    let of_row = |row: usize| {
        let values = columns.iter().map(|(name, column)| (*name, value(column, row)));
        values.filter(|(_, value)| *value > 0).collect()
    };
    (0..numbers(outcome, "autopsy", "flow").len()).map(of_row).collect()
}

/// The sum of a part over all messages.
fn total(outcome: &Outcome, part: &str) -> u64 {
    support::sum(outcome, "autopsy", part)
}

/// A flow from h0 to h1 over one switch without latency; all links have 10 Gb/s and 25 us.
fn pair(transport: &str, bytes: u64, more: &str) -> String {
    format!(
        "name = \"pair\"\nduration = \"1 s\"\nuntil = \"all-flows-done\"\nclocks = \"ideal\"\n\
         [topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h1\"]\nswitches = [\"s\"]\n\
         links = [{{ ends = [\"h0\", \"s\"], rate = \"10 Gbps\", delay = \"25 us\" }}, \
         {{ ends = [\"h1\", \"s\"], rate = \"10 Gbps\", delay = \"25 us\" }}]\n[switch]\npreset = \"ideal\"\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
         destinations = [\"h1\"]\nsize = \"{bytes} B\"\ncount = 1\n{more}"
    )
}

const TCP: &str =
    "kind = \"tcp\"\ncongestion = \"newreno\"\nrack_tlp = false\nrto_min = \"5 ms\"\nrto_initial = \"5 ms\"";
const FIRST_LOST: &str = "[[link]]\nname = \"h0->s\"\nloss = { kind = \"periodic\", every = 1000000, first = 1 }\n";

/// Time of the only data frame on a link of 10 Gb/s, with preamble and gap.
fn frame_ps(outcome: &Outcome) -> u64 {
    800 * (support::of_link(outcome, "s->h1", "arrived_bytes") + 20)
}

#[test]
fn one_packet_is_divided_as_by_hand() {
    let outcome = examine(&pair(TCP, 1_000, ""));
    let frame_ps = frame_ps(&outcome);
    assert_eq!(parts(&outcome), [Parts::from([("propagation_ps", 50_000_000), ("serialisation_ps", 2 * frame_ps)])]);
    assert_eq!(texts(&outcome, "autopsy", "longest_queue"), [""]);
    assert_eq!(texts(&outcome, "autopsy", "lost_at"), [""]);
}

#[test]
fn latencies_of_stack_and_switch_are_parts_of_their_own() {
    let host = "[host]\nkernel = { send = \"2 us\", receive = \"3 us\" }\n";
    let tofino = pair(TCP, 1_000, host).replace("preset = \"ideal\"", "preset = \"tofino-like\"");
    let outcome = examine(&tofino);
    let [parts] = &parts(&outcome)[..] else { panic!("one message") };
    assert_eq!((parts["stack_ps"], parts["serialisation_ps"]), (5_000_000, 2 * frame_ps(&outcome)));
    assert!(parts["pipeline_ps"] > 100_000 && parts["propagation_ps"] >= 50_000_000, "{parts:?}");
    assert_eq!(
        parts.keys().copied().collect::<Vec<_>>(),
        ["pipeline_ps", "propagation_ps", "serialisation_ps", "stack_ps"]
    );
}

#[test]
fn a_lost_only_packet_waits_for_the_retransmission_timer() {
    let outcome = examine(&pair(TCP, 1_000, FIRST_LOST));
    let frame_ps = frame_ps(&outcome);
    let [parts] = &parts(&outcome)[..] else { panic!("one message") };
    // The first link twice, and the second link.
    assert_eq!((parts["propagation_ps"], parts["serialisation_ps"]), (75_000_000, 3 * frame_ps));
    let until_loss = 25_000_000 + frame_ps;
    assert!((5_000_000_000 - until_loss..5_004_000_000).contains(&parts["timeout_ps"]), "{parts:?}");
    let told = ["longest_recovery", "lost_at", "lost_because"].map(|name| texts(&outcome, "autopsy", name)[0].clone());
    assert_eq!(told, ["timeout", "h0->s", "corrupted"]);
    assert_eq!(numbers(&outcome, "autopsy", "recoveries"), [1]);
}

#[test]
fn a_window_limited_flow_takes_round_trips() {
    let outcome = examine(&pair(TCP, 40 * 1_448, ""));
    let rounds = numbers(&outcome, "autopsy", "round_trips")[0];
    let [parts] = &parts(&outcome)[..] else { panic!("one message") };
    // Windows of 10, 20 and 10 packets: data crosses both links three times, acknowledgements twice.
    assert_eq!((rounds, parts["propagation_ps"]), (2, 5 * 50_000_000), "{parts:?}");
    assert!(numbers(&outcome, "autopsy", "earlier_rounds_ps")[0] >= 200_000_000);
    assert!(!parts.contains_key("timeout_ps") && !parts.contains_key("fast_recovery_ps"), "{parts:?}");
}

#[test]
fn the_second_of_two_messages_starts_its_own_ledger() {
    let text = pair(TCP, 1_000, "").replace("count = 1\n", "count = 3\n");
    let outcome = examine(&text);
    assert_eq!(parts(&outcome).len(), 3);
    assert!(parts(&outcome).windows(2).all(|pair| pair[0] == pair[1]), "{:?}", parts(&outcome));
}

#[test]
fn the_longest_queue_is_named() {
    let incast = "kind = \"requests\"\nsize = \"20 KB\"\ncount = 2\nsources = [\"h0\", \"h1\", \"h4\"]\n\
                  destinations = [\"h2\", \"h2\", \"h2\"]\n";
    let outcome = examine(&fabric(RELIABLE, incast, "").replace("leaves = 2", "leaves = 3"));
    assert!(total(&outcome, "queue_ps") > 0);
    let named = texts(&outcome, "autopsy", "longest_queue");
    assert!(named.iter().any(|name| name == "leaf1->h2"), "{named:?}");
}

/// A row of table `autopsy_front`.
#[derive(Clone, Debug)]
struct InFront {
    flow: u64,
    kind: String,
    group: String,
    of_flow: u64,
    flows: u64,
    mechanism: String,
    frames: u64,
    bytes: u64,
    time_ps: u64,
}

fn fronts(outcome: &Outcome) -> Vec<InFront> {
    let [flow, of_flow, flows, frames, bytes, time_ps] =
        ["flow", "front_flow", "front_flows", "frames", "bytes", "time_ps"]
            .map(|name| numbers(outcome, "autopsy_front", name));
    let [kind, group, mechanism] =
        ["kind", "front_group", "mechanism"].map(|name| texts(outcome, "autopsy_front", name));
    let row = |row: usize| InFront {
        flow: flow[row],
        kind: kind[row].clone(),
        group: group[row].clone(),
        of_flow: of_flow[row],
        flows: flows[row],
        mechanism: mechanism[row].clone(),
        frames: frames[row],
        bytes: bytes[row],
        time_ps: time_ps[row],
    };
    (0..flow.len()).map(row).collect()
}

/// Three hosts that each send a message to h3 at the same time, over one switch with links of 10 Gb/s.
fn star(bytes: [u64; 3], more: &str) -> String {
    let links: String = (0..4)
        .map(|host| format!("{{ ends = [\"h{host}\", \"s\"], rate = \"10 Gbps\", delay = \"1 us\" }}, "))
        .collect();
    let group = |host: usize| {
        format!(
            "[[flows]]\nname = \"g{host}\"\nkind = \"requests\"\ntransport = \"t\"\nsources = [\"h{host}\"]\n\
             destinations = [\"h3\"]\nsize = \"{} B\"\ncount = 1\n",
            bytes[host]
        )
    };
    format!(
        "name = \"star\"\nduration = \"1 s\"\nuntil = \"all-flows-done\"\nclocks = \"ideal\"\n\
         [topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h1\", \"h2\", \"h3\"]\nswitches = [\"s\"]\n\
         links = [{links}]\n[switch]\npreset = \"ideal\"\n[[transport]]\nname = \"t\"\n{TCP}\n{}{more}",
        (0..3).map(group).collect::<String>()
    )
}

#[test]
fn the_frames_in_front_are_told_by_flow_and_group() {
    // The first frame to leave waits for none, the second for one, the third for two.
    let outcome = examine(&star([1_000, 1_000, 1_000], ""));
    let frame_bytes = support::of_link(&outcome, "s->h3", "arrived_bytes") / 3;
    let line_ps = 800 * (frame_bytes + 20);
    let mut waits = numbers(&outcome, "autopsy", "longest_queue_ps").to_vec();
    waits.sort_unstable();
    assert_eq!(waits, [0, line_ps, 2 * line_ps]);
    let fronts = fronts(&outcome);
    assert_eq!(fronts.len(), 3, "{fronts:?}");
    for front in fronts {
        let told = (front.kind.as_str(), front.group, front.flows, front.mechanism.as_str(), front.frames, front.bytes);
        assert_eq!(told, ("data", format!("g{}", front.of_flow), 1, "", 1, frame_bytes));
        assert!(front.time_ps == line_ps && front.of_flow != front.flow);
    }
}

#[test]
fn own_packets_in_front_are_told_from_others() {
    let outcome = examine(&star([12_000, 12_000, 12_000], ""));
    let fronts = fronts(&outcome);
    for flow in 0..3 {
        let of_flow: Vec<_> = fronts.iter().filter(|front| front.flow == flow).collect();
        assert!(of_flow.iter().any(|front| front.of_flow == flow), "{of_flow:?}");
        assert!(of_flow.iter().any(|front| front.of_flow != flow), "{of_flow:?}");
    }
}

/// The frames in front of a wait at a FIFO take exactly that wait: compares times, and bytes up to the first frame,
/// which was in transmission.
fn waits_are_explained(outcome: &Outcome) {
    let waits = numbers(outcome, "autopsy", "longest_queue_ps");
    let flows = numbers(outcome, "autopsy", "flow");
    let fronts = fronts(outcome);
    for (&flow, &wait_ps) in flows.iter().zip(waits) {
        let of_flow = || fronts.iter().filter(|front| front.flow == flow);
        assert_eq!(of_flow().map(|front| front.time_ps).sum::<u64>(), wait_ps, "flow {flow}");
        let whole_ps = of_flow().map(|front| 800 * (front.bytes + 20 * front.frames)).sum::<u64>();
        assert!((wait_ps..wait_ps + 800 * 1_538).contains(&whole_ps), "flow {flow}: {whole_ps} for {wait_ps}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_frames_in_front_take_the_wait_of_a_packet_at_a_fifo(
        seed in 0..1_000_u64, rate in 20_000..400_000_u32, size in 1..30_u32, is_slow in proptest::bool::ANY,
    ) {
        let flows = format!(
            "kind = \"poisson\"\nsizes = {{ kind = \"fixed\", bytes = \"{size} KB\" }}\nflows_per_second = {rate}\n\
             count = 60\nsources = [\"h0\", \"h1\", \"h3\"]\ndestinations = [\"h2\", \"h0\"]\n"
        );
        let world = fabric(RELIABLE, &flows, "[measure]\nautopsy = true\n");
        let world = world.replace("name = \"autopsy\"\n", &format!("name = \"autopsy\"\nseed = {seed}\nclocks = \"ideal\"\n"));
        let world = if is_slow { world } else { world.replace("tofino-like", "ideal") };
        let world = world.replace("depth_visible = \"ingress-and-egress\"\n", "");
        waits_are_explained(&run_scenario(&sound(&world)));
    }
}

#[test]
fn a_long_run_forgets_departures_and_keeps_the_fronts() {
    // About 10^6 departures: several collections, while messages wait for timeouts.
    let requests = "kind = \"requests\"\nsize = \"600 KB\"\ncount = 100\nsources = [\"h0\", \"h1\"]\n\
                    destinations = [\"h2\", \"h2\"]\n";
    let measured = "[measure]\nautopsy = true\n";
    let world = fabric(RELIABLE, requests, measured).replace("depth_visible = \"ingress-and-egress\"\n", "");
    let outcome = run_scenario(&sound(&world));
    assert_eq!(numbers(&outcome, "autopsy", "flow").len(), 200);
    assert!(numbers(&outcome, "autopsy", "front_bytes").iter().all(|bytes| *bytes > 0));
    let paused = format!("{measured}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine0\"\n");
    let outcome = run_scenario(&sound(&fabric(RELIABLE, requests, &paused)));
    let copies: Vec<_> = fronts(&outcome).into_iter().filter(|front| front.kind == "copies").collect();
    assert!(!copies.is_empty() && copies.iter().all(|front| front.mechanism == "linkguardian"), "{copies:?}");
}

/// Two leaves and two spines with a lossy link, and small buffers.
fn fabric(transport: &str, flows: &str, more: &str) -> String {
    format!(
        "name = \"autopsy\"\nduration = \"1 s\"\nuntil = \"all-flows-done\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"tofino-like\"\ndepth_visible = \"ingress-and-egress\"\n\
         buffer = {{ kind = \"static\", per_port = \"60 KB\" }}\n\
         [[transport]]\nname = \"t\"\n{transport}\n[[flows]]\nname = \"f\"\ntransport = \"t\"\n{flows}\
         [[link]]\nname = \"leaf0->spine0\"\nloss = {{ kind = \"bernoulli\", rate = 0.02 }}\n{more}"
    )
}

const REQUESTS: &str = "kind = \"requests\"\nsize = \"60 KB\"\ncount = 10\nsources = [\"h0\", \"h1\"]\n\
                        destinations = [\"h2\", \"h2\"]\n";
const POISSON: &str = "kind = \"poisson\"\nsizes = { kind = \"fixed\", bytes = \"20 KB\" }\nflows_per_second = 50000\n\
                       count = 60\nsources = [\"h0\", \"h1\"]\ndestinations = [\"h2\", \"h3\"]\n";
const ASKED: &str = "kind = \"incast\"\nfan_in = 3\nsize = \"15 KB\"\nperiod = \"1 ms\"\ncount = 4\n\
                     clients = [\"h0\"]\n\
                     request = { size = \"250 B\", think = { mean = \"20 us\", deviation = \"3 us\" } }\n";
const RELIABLE: &str = "kind = \"tcp\"\ncongestion = \"newreno\"\nrto_min = \"1 ms\"";

#[test]
fn the_parts_of_every_transport_add_up() {
    let handshake = "kind = \"tcp\"\nhandshake = true\nrto_min = \"1 ms\"\nsyn_timeout = \"1 ms\"";
    let table = [
        (RELIABLE, REQUESTS, ""),
        ("kind = \"tcp\"\ncongestion = \"bbr\"\nrto_min = \"1 ms\"", REQUESTS, "pacing_ps"),
        ("kind = \"roce\"\ntimeout = \"1 ms\"", REQUESTS, "fast_recovery_ps"),
        ("kind = \"packet-pair\"\nrto_min = \"1 ms\"", REQUESTS, ""),
        ("kind = \"uet\"\ncongestion = \"both\"", REQUESTS, ""),
        ("kind = \"udp\"\nrate = \"2 Gbps\"", POISSON, "pacing_ps"),
        (RELIABLE, POISSON, ""),
        (handshake, ASKED, "application_ps"),
    ];
    for (transport, flows, part) in table {
        let outcome = examine(&fabric(transport, flows, ""));
        assert!(part.is_empty() || total(&outcome, part) > 0, "{transport}: {part}");
        assert!(total(&outcome, "pipeline_ps") > 0, "{transport}");
    }
}

#[test]
fn the_parts_add_up_with_every_mechanism_and_host() {
    let ranked = "[host]\npriority_tagger = { by = \"remaining-bytes\" }\ntime_to_live = 250\n";
    let ordered = format!("{ranked}reorder_buffer = {{ timeout = \"100 us\" }}\n");
    let table = [
        ("", "linkguardian", "link = \"leaf0->spine0\"", "link_recovery_ps"),
        ("", "link-layer-retry", "link = \"leaf0->spine0\"", "link_recovery_ps"),
        ("", "link-layer-retry", "link = \"leaf0->spine0\"", "mechanism_ps"),
        ("", "wharf", "link = \"leaf0->spine0\"", "pipeline_ps"),
        ("", "every-nth", "ports = [\"leaf0->spine0\"]\ndrop_every = 50", "timeout_ps"),
        ("", "afq", "bytes_per_round = \"1518 B\"", "queue_ps"),
        ("", "trimming", "headers_per_packet = 0", "queue_ps"),
        (ranked, "simple-deflection", "", "queue_ps"),
        (ranked, "vertigo", "", "queue_ps"),
        (&ordered, "simple-deflection", "", "queue_ps"),
        ("[host]\ntcp_small_queues = false\nkernel = { send = \"2 us\", gro = {} }\n", "rimm", "", "stack_ps"),
    ];
    // Messages of many packets, and of a single one: then no other packet can be the last.
    let single = REQUESTS.replace("60 KB", "1 KB").replace("count = 10", "count = 200");
    for (host, kind, settings, part) in table {
        let more = format!("{host}[[mechanism]]\nkind = \"{kind}\"\n{settings}\n");
        let outcomes = [REQUESTS, &single].map(|flows| examine(&fabric(RELIABLE, flows, &more)));
        let total: u64 = outcomes.iter().map(|outcome| total(outcome, part)).sum();
        assert!(total > 0, "{kind}: {part}");
    }
}

#[test]
fn pauses_of_network_cards_are_told_from_their_queues() {
    // Only hosts send to the switch, so only their cards are paused.
    let switch = "preset = \"ideal\"\nbuffer = { kind = \"shared\", total = \"4 MB\", alpha = 1.0 }\n\
                  pfc = { xoff = \"30 KB\" }";
    let lossless = star([600_000; 3], "").replace("preset = \"ideal\"", switch).replace(TCP, "kind = \"roce\"");
    let outcome = examine(&lossless);
    assert!(numbers(&outcome, "ports", "pause_frames_sent").iter().sum::<u64>() > 0, "nothing is paused");
    assert!(total(&outcome, "paused_ps") > 0 && total(&outcome, "card_ps") > 0, "{:?}", parts(&outcome));
    assert_eq!(total(&outcome, "stack_ps"), 0, "a card's queue is no stack");
    // With credits hosts make messages that belong to no flow (swarm, seed 58,000,043).
    let granted = examine(&lossless.replace("pfc = { xoff = \"30 KB\" }", "cbfc = {}"));
    assert!(total(&granted, "paused_ps") > 0, "waits for credit are no queues: {:?}", parts(&granted));
    // Three hosts share a line: without pauses their cards would wait for 1.5 ms each.
    let unpaused = examine(&lossless.replace("pfc = { xoff = \"30 KB\" }", ""));
    assert_eq!(total(&unpaused, "paused_ps"), 0);
}

#[test]
fn a_trimmed_packet_is_a_loss_until_its_repetition() {
    let trimming = "[[mechanism]]\nkind = \"trimming\"\nheaders_per_packet = 0\n";
    let flows = REQUESTS.replace("60 KB", "200 KB");
    for transport in [RELIABLE, "kind = \"uet\"\ncongestion = \"both\"", "kind = \"roce\"\ntimeout = \"1 ms\""] {
        let world = fabric(transport, &flows, trimming).replace("60 KB", "20 KB").replace("rate = 0.02", "rate = 0.0");
        let outcome = examine(&world);
        let because = texts(&outcome, "autopsy", "lost_because");
        assert!(because.iter().any(|because| because == "trimmed"), "{transport}: {because:?}");
        let by = texts(&outcome, "autopsy", "longest_recovery").iter().zip(because);
        assert!(by.filter(|(_, because)| *because == "trimmed").all(|(by, _)| by != "link"), "{transport}");
        assert!(total(&outcome, "fast_recovery_ps") > 0, "{transport}");
        assert!(fronts(&outcome).iter().any(|front| front.kind == "trimmed"), "{transport}: headers wait, too");
    }
}

#[test]
fn an_autopsy_is_refused_where_it_cannot_work() {
    let shared = POISSON.replace("count = 60\n", "stop = \"1 ms\"\nconnections = 2\n");
    let refused = check(&fabric(RELIABLE, &shared, "[measure]\nautopsy = true\n")).expect_err("it shares connections");
    assert!(refused.contains("measure.autopsy") && refused.contains("share open connections"), "{refused}");
    let changing =
        "[[link]]\nname = \"s->h1\"\nchanges = [{ at = \"1 us\", rate = \"1 Gbps\" }]\n[measure]\nautopsy = true\n";
    let refused = check(&pair(TCP, 1_000, changing)).expect_err("the rate changes");
    assert!(refused.contains("measure.autopsy") && refused.contains("constant rate and delay"), "{refused}");
    let mut scenario = sound(&pair(TCP, 1_000, ""));
    scenario.measure.autopsy = true;
    assert!(scenario.undivided_because().is_some_and(|reason| reason.contains("autopsy")));
    let refused = hitless_simulation::Session::new(scenario.clone()).err().unwrap_or_default();
    assert!(refused.contains("measure.autopsy"), "{refused}");
    let refused = hitless_simulation::Resumable::new(support::simulation(&scenario), "test").err().unwrap_or_default();
    assert!(refused.contains("autopsy"), "{refused}");
}
