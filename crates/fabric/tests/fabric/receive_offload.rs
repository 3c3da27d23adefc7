//! Receive offload in whole scenarios.

use hitless_fabric::Outcome;

use crate::support::{numbers, of_link, run};

/// 200 flows of 17 packets over a link that loses some of them; `kernel` goes into `[host.kernel]`.
fn flows(kernel: &str) -> Outcome {
    run(&format!(
        r#"
name = "test"
until = "all-flows-done"
[topology]
kind = "chain"
hosts_left = ["h4"]
switches = ["sw2", "sw6"]
hosts_right = ["h8"]
host_link = {{ rate = "100 Gbps", delay = "50 ns" }}
switch_link = {{ rate = "100 Gbps", delay = "50 ns" }}
[switch]
ecn = {{ threshold = "100 KB" }}
[host.kernel]
receive = "5 us"
jitter = {{ kind = "exponential", mean = "3 us" }}
{kernel}
[[transport]]
name = "tcp"
kind = "tcp"
congestion = "dctcp"
dsack_undo = true
rto_min = "1 ms"
rto_initial = "1 ms"
[[flows]]
name = "flows"
transport = "tcp"
kind = "sequence"
sources = ["h4"]
destinations = ["h8"]
sizes = {{ kind = "fixed", bytes = "24387 B" }}
count = 200
gap = "10 us"
[[link]]
name = "sw2->sw6"
loss = {{ kind = "bernoulli", rate = 0.005 }}
"#
    ))
}

#[test]
fn all_is_delivered_and_a_batch_is_acknowledged_once() {
    let (without, with) =
        (flows(""), flows("receive_offload = { interrupt_delay = \"4 us\", interrupt_packets = 64 }"));
    for outcome in [&without, &with] {
        assert_eq!(numbers(outcome, "flows", "delivered_bytes"), [24_387; 200]);
        assert!(numbers(outcome, "flows", "packets_received").iter().all(|&received| received >= 17));
    }
    let acknowledgements = |outcome: &Outcome| of_link(outcome, "sw6->sw2", "frames_sent");
    assert!(acknowledgements(&without) >= 200 * 17);
    // Two windows each, or three where one is split by a loss; a packet sent again is answered by itself.
    let merged = acknowledgements(&with);
    assert!((400..1_200).contains(&merged), "{merged}");
}
