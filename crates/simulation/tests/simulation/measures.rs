//! A run's measurements of drops, packets in buffers, and fairness.

use hitless_simulation::Outcome;

use crate::support::{self, numbers, texts};

const FRAME_BYTES: u64 = 1_518;

/// Two groups at 9 Gb/s each towards one port of 10 Gb/s; "pair" consists of two flows.
fn run(switch: &str) -> Outcome {
    run_with(switch, true)
}

fn run_with(switch: &str, per_flow: bool) -> Outcome {
    let (fabric, buffer) = (support::dumbbell(2, "1 us", "1 us"), support::ideal("60 packets"));
    let text = format!(
        "name = \"measures\"\nduration = \"2 ms\"\n{fabric}{buffer}{switch}\n\
         [[transport]]\nname = \"whole\"\nkind = \"udp\"\nrate = \"9 Gbps\"\n\
         [[transport]]\nname = \"half\"\nkind = \"udp\"\nrate = \"4500 Mbps\"\n\
         [[flows]]\nname = \"one\"\nkind = \"constant-rate\"\ntransport = \"whole\"\n\
         sources = [\"h0\"]\ndestinations = [\"h2\"]\n\
         [[flows]]\nname = \"pair\"\nkind = \"constant-rate\"\ntransport = \"half\"\n\
         sources = [\"h1\", \"h1\"]\ndestinations = [\"h3\", \"h3\"]\n\
         [[measure.queue]]\nports = [\"left->right\"]\nperiod = \"10 us\"\nper_flow = {per_flow}\n"
    );
    support::run(&text)
}

const SCHEDULERS: [(&str, &[&str]); 5] = [
    ("", &["queue full"]),
    ("queues_per_port = 2\nscheduler = \"strict\"", &["queue full"]),
    ("flow_queueing = { kind = \"ideal-fq\" }", &["evicted from a full buffer", "queue full"]),
    ("flow_queueing = { kind = \"drr\" }", &["evicted from a full buffer", "queue full"]),
    ("[[mechanism]]\nkind = \"afq\"\nqueues = 16", &["given up by a mechanism"]),
];

#[test]
fn drops_are_told_by_switch_group_and_reason_and_add_up() {
    for (scheduler, reasons) in SCHEDULERS {
        let outcome = run(scheduler);
        let packets = numbers(&outcome, "drops", "packets");
        let in_summary: Vec<&str> = outcome.summary.drops.keys().copied().collect();
        assert_eq!(in_summary, reasons, "{scheduler}");
        assert_eq!(packets.iter().sum::<u64>(), outcome.summary.drops.values().sum::<u64>(), "{scheduler}");
        assert_eq!(packets.iter().sum::<u64>(), numbers(&outcome, "flows", "frames_dropped").iter().sum::<u64>());
        for name in ["drops", "flows"] {
            let bytes = numbers(&outcome, name, if name == "drops" { "bytes" } else { "dropped_bytes" });
            assert_eq!(bytes.iter().sum::<u64>(), packets.iter().sum::<u64>() * FRAME_BYTES, "{scheduler} {name}");
        }
        assert!(texts(&outcome, "drops", "switch").iter().all(|switch| switch == "left"), "{scheduler}");
        assert!(texts(&outcome, "drops", "group").iter().all(|group| ["one", "pair"].contains(&group.as_str())));
    }
}

#[test]
fn packets_of_flows_add_up_to_the_depth_of_the_queue() {
    for (scheduler, _) in SCHEDULERS {
        let outcome = run(scheduler);
        let depth: u64 = numbers(&outcome, "queues", "value_bytes").iter().sum();
        let (packets, count) = (numbers(&outcome, "queue_flows", "packets"), numbers(&outcome, "queue_flows", "count"));
        let counted: u64 = packets.iter().zip(count).map(|(packets, count)| packets * count).sum();
        // With all schedulers except FIFO, the frame in transmission has left the queue but not the port.
        let samples = numbers(&outcome, "queues", "value_bytes").len() as u64;
        let in_transmission = counted - depth / FRAME_BYTES;
        let expected = if scheduler.is_empty() { 0..=0 } else { samples - 2..=samples };
        assert!(expected.contains(&in_transmission), "{scheduler}: {in_transmission} of {samples}");
        assert!(packets.iter().all(|&packets| (1..=60).contains(&packets)));
    }
}

#[test]
fn a_fair_queue_keeps_few_packets_of_a_flow_and_a_fifo_does_not() {
    // A flow's fair share is a third of 60 packets; until the buffer fills for the first time, "one" can have more.
    let beyond_share = |scheduler| {
        let outcome = run(scheduler);
        let (packets, count) = (numbers(&outcome, "queue_flows", "packets"), numbers(&outcome, "queue_flows", "count"));
        packets.iter().zip(count).filter(|(packets, _)| **packets > 25).map(|(_, count)| count).sum::<u64>()
    };
    let (fifo, fair) = (beyond_share(""), beyond_share("flow_queueing = { kind = \"ideal-fq\" }"));
    assert!(fifo > 100 && fair < 40, "of 200 samples {fifo} and {fair}");
}

#[test]
fn fairness_is_that_of_the_flows_of_a_group() {
    let fairness = run("flow_queueing = { kind = \"drr\" }").summary.fairness;
    let names: Vec<&str> = fairness.keys().map(String::as_str).collect();
    assert_eq!(names, ["pair"], "a group of one flow has none");
    assert!((0.999..=1.0).contains(&fairness["pair"]), "{fairness:?}");
}

#[test]
fn counting_packets_of_flows_moves_nothing() {
    for (scheduler, _) in SCHEDULERS {
        let (with, without) = (run_with(scheduler, true), run_with(scheduler, false));
        assert_eq!(with.summary.trace_hash, without.summary.trace_hash, "{scheduler}");
        assert!(numbers(&without, "queue_flows", "count").is_empty());
    }
}
