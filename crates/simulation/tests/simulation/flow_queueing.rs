//! Flow queueing in a fabric: long flows share fairly, and packets are conserved.

use hitless_simulation::Outcome;

use crate::support::{self, dumbbell, ideal, numbers};

/// Two TCP senders, one with ten times as many connections, and a third that floods without congestion control.
fn run(queueing: &str) -> Outcome {
    let (fabric, buffer) = (dumbbell(3, "1 us", "1 us"), ideal("200 packets"));
    let text = format!(
        "name = \"shares\"\nduration = \"20 ms\"\n{fabric}{buffer}{queueing}\n\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\nrto_min = \"1 ms\"\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"9 Gbps\"\n\
         [[flows]]\nname = \"few\"\nkind = \"long\"\ntransport = \"tcp\"\n\
         sources = [\"h0\", \"h1\", \"h0\", \"h1\"]\ndestinations = [\"h3\", \"h4\", \"h3\", \"h4\"]\n\
         [[flows]]\nname = \"flood\"\nkind = \"constant-rate\"\ntransport = \"udp\"\n\
         sources = [\"h2\"]\ndestinations = [\"h5\"]\n"
    );
    support::run(&text)
}

/// Shares of the bytes delivered by each of the four connections and, last, by the flood.
fn shares(outcome: &Outcome) -> Vec<f64> {
    let (flows, bytes) = (numbers(outcome, "flows", "flow"), numbers(outcome, "flows", "delivered_bytes"));
    let mut shares = [0.0; 5];
    flows.iter().zip(bytes).for_each(|(&flow, &bytes)| shares[flow as usize] = bytes as f64);
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

#[test]
fn a_flood_takes_its_share_and_no_more() {
    let fifo = run("");
    assert!(shares(&fifo)[4] > 0.5, "without queues of flows the flood wins: {:?}", shares(&fifo));
    for queueing in ["ideal-fq", "drr"] {
        let outcome = run(&format!("flow_queueing = {{ kind = \"{queueing}\" }}"));
        for share in shares(&outcome) {
            assert!((0.18..0.22).contains(&share), "{queueing}: {:?}", shares(&outcome));
        }
        assert!(outcome.summary.drops.get("queue full").is_some_and(|&drops| drops > 0));
    }
}

#[test]
fn hashed_queues_keep_the_flood_from_whoever_does_not_share_one_with_it() {
    let codel = "flow_queueing = { kind = \"fq-codel\", target = \"50 us\", interval = \"500 us\" }";
    for queueing in ["flow_queueing = { kind = \"sfq\", queues = 4096 }", codel] {
        let outcome = run(queueing);
        for share in shares(&outcome) {
            assert!((0.15..0.25).contains(&share), "{queueing}: {:?}", shares(&outcome));
        }
    }
    let drops = run(codel).summary.drops;
    assert!(drops.contains_key("dropped for its queueing delay"), "{drops:?}");
}

#[test]
fn weights_divide_the_line_among_classes() {
    let (fabric, buffer) = (dumbbell(2, "1 us", "1 us"), ideal("200 packets"));
    let text = format!(
        "name = \"weights\"\nduration = \"20 ms\"\n{fabric}\
         {buffer}flow_queueing = {{ kind = \"KIND\", weights = [1, 3] }}\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"9 Gbps\"\n\
         [[flows]]\nname = \"light\"\nkind = \"constant-rate\"\ntransport = \"udp\"\n\
         sources = [\"h0\"]\ndestinations = [\"h2\"]\n\
         [[flows]]\nname = \"heavy\"\nclass = 1\nkind = \"constant-rate\"\ntransport = \"udp\"\n\
         sources = [\"h1\"]\ndestinations = [\"h3\"]\n"
    );
    for kind in ["ideal-fq", "drr"] {
        let outcome = support::run(&text.replace("KIND", kind));
        let sent = numbers(&outcome, "flows", "delivered_bytes");
        let ratio = sent[1] as f64 / sent[0] as f64;
        assert!((2.9..3.1).contains(&ratio), "{kind}: {ratio}");
    }
}

#[test]
fn a_run_repeats_to_the_byte() {
    for queueing in
        ["{ kind = \"sfq\", perturbation = \"1 ms\" }", "{ kind = \"fq-codel\" }", "{ kind = \"ideal-fq\" }"]
    {
        let hash = || run(&format!("flow_queueing = {queueing}")).summary.trace_hash;
        assert_eq!(hash(), hash(), "{queueing}");
    }
}
