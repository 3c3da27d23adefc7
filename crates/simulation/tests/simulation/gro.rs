//! Generic receive offload in whole scenarios.

use hitless_simulation::Outcome;

use crate::support::{numbers, of_link, run, times};
use crate::testbed;

const OFFLOAD: &str = "gro = { interrupt_delay = \"4 us\", interrupt_packets = 64 }";

/// 200 flows of 17 packets over a lossy link. `kernel` goes into `[host.kernel]`, `tcp` into the transport.
fn flows(kernel: &str, tcp: &str) -> Outcome {
    let fabric = testbed::fabric(100);
    run(&format!(
        "name = \"test\"\nuntil = \"all-flows-done\"\n{fabric}[switch]\necn = {{ threshold = \"100 KB\" }}\n\
         [host.kernel]\nreceive = \"5 us\"\njitter = {{ kind = \"exponential\", mean = \"3 us\" }}\n{kernel}\n\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\ncongestion = \"dctcp\"\ndsack_undo = true\n\
         rto_min = \"1 ms\"\nrto_initial = \"1 ms\"\n{tcp}\n\
         [[flows]]\nname = \"flows\"\ntransport = \"tcp\"\nkind = \"sequence\"\ncount = 200\ngap = \"10 us\"\n\
         sources = [\"h4\"]\ndestinations = [\"h8\"]\nsizes = {{ kind = \"fixed\", bytes = \"24387 B\" }}\n\
         [[link]]\nname = \"sw2->sw6\"\nloss = {{ kind = \"bernoulli\", rate = 0.005 }}\n"
    ))
}

#[test]
fn all_is_delivered_and_a_batch_is_acknowledged_once() {
    let (without, with) = (flows("", ""), flows(OFFLOAD, ""));
    for outcome in [&without, &with] {
        assert_eq!(numbers(outcome, "flows", "delivered_bytes"), [24_387; 200]);
        assert!(numbers(outcome, "flows", "packets_received").iter().all(|&received| received >= 17));
    }
    let acknowledgements = |outcome: &Outcome| of_link(outcome, "sw6->sw2", "frames_sent");
    assert!(acknowledgements(&without) >= 200 * 17);
    // Two windows per flow, or three if a loss splits one; a retransmission is acknowledged separately.
    let merged = acknowledgements(&with);
    assert!((400..1_200).contains(&merged), "{merged}");
}

/// Data merged with the last segment spares the flow the wait for the closing application.
#[test]
fn a_last_segment_by_itself_waits_for_the_close_of_the_application() {
    let waited = |kernel: &str| {
        let [open, closing] = ["", "close = { delay = \"400 us\" }"].map(|close| flows(kernel, close));
        let in_time = |outcome: &Outcome| {
            let [from, to] = ["started_ps", "acknowledged_ps"].map(|name| times(outcome, "messages", name));
            from.iter().zip(to).filter(|(from, to)| **to - **from < 400_000_000).count()
        };
        assert_eq!(numbers(&closing, "flows", "delivered_bytes"), [24_387; 200]);
        in_time(&open) - in_time(&closing)
    };
    let (with, without) = (waited(OFFLOAD), waited(""));
    assert!(without > 150 && with < without / 2, "{with} of 200 flows waited with receive offload, {without} without");
}
