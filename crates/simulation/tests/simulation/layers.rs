//! The host layers below the transport: rank tags at the sender, restored order at the receiver.

use hitless_simulation::Outcome;

use crate::support::{self, sum, times};

/// Four hosts of a leaf send to four of the other. Each packet takes the less loaded of two spines, so packets arrive
/// out of order.
fn text(host: &str, transport: &str, group: &str) -> String {
    let (fabric, switch) = (support::leaf_spine([2, 4, 4], [10, 10]), support::ideal("BUFFER"));
    format!(
        "name = \"layers\"\nuntil = \"all-flows-done\"\n[host]\n{host}\n{fabric}\
         [routing]\nchoice = \"two-choices\"\n{switch}ecn = {{ threshold = \"20 packets\" }}\n[measure]\norder = true\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\n{group}\n"
    )
}

const TCP: &str =
    "kind = \"tcp\"\nsack = false\nrack_tlp = false\nduplicate_acks = 1\nrto_min = \"1 ms\"\nrto_initial = \"5 ms\"\n";
const FLOWS: &str = "kind = \"poisson\"\nsizes = { kind = \"fixed\", bytes = \"200 KB\" }\nflows_per_second = 12000.0\n\
                     count = 200\nsources = [\"h0..h3\"]\ndestinations = [\"h4..h7\"]\n";
const REMAINING: &str = "priority_tagger = { by = \"remaining-bytes\" }\n";
const ATTAINED: &str = "priority_tagger = { by = \"attained-service\" }\n";
const ORDERING: &str = "reorder_buffer = { timeout = \"500 us\" }\n";

fn run(text: &str) -> Outcome {
    let outcome = support::run(text);
    assert_eq!(outcome.summary.flows.unfinished, 0);
    outcome
}

fn large(text: &str) -> String {
    text.replace("BUFFER", "2 MB")
}

#[test]
fn the_transport_gets_its_packets_in_order_and_repeats_none() {
    let bare = run(&large(&text(REMAINING, TCP, FLOWS)));
    let harm = ["packets_reordered", "packets_retransmitted"].map(|name| sum(&bare, "flows", name));
    assert!(harm[0] > 100 && harm[1] > 20, "{harm:?}");
    assert_eq!(sum(&bare, "groups", "packets_arrived_late"), harm[0], "nothing lies between");
    assert_eq!(sum(&bare, "flows", "message_bytes"), 200 * 200_000);
    let liars = format!("{FLOWS}rank_divisor = 100\n");
    let fixed = format!("{FLOWS}rank = 45\n");
    for (host, group) in [(REMAINING, FLOWS), (ATTAINED, FLOWS), (REMAINING, liars.as_str()), ("", fixed.as_str())] {
        for transport in [TCP, "kind = \"packet-pair\"\nrto_min = \"1 ms\"\n"] {
            let outcome = run(&large(&text(&format!("{host}{ORDERING}"), transport, group)));
            let seen = ["packets_reordered", "packets_retransmitted", "reorder_timeouts", "packets_held_twice"];
            assert_eq!(seen.map(|name| sum(&outcome, "flows", name)), [0; 4], "{host}{transport}{group}");
            let late = sum(&outcome, "flows", "packets_arrived_late");
            let held = sum(&outcome, "flows", "packets_held");
            for name in ["packets_arrived_late", "packets_held", "packets_received", "packets_reordered"] {
                assert_eq!(sum(&outcome, "groups", name), sum(&outcome, "flows", name), "{name}");
            }
            assert!(late > 50 && held >= late / 4, "{host}{transport}{group}: {late} late, {held} held");
        }
    }
}

/// A simulated host's DSCP is the class selector of its flows' class.
#[test]
fn a_code_point_ranks_all_packets_of_a_class_alike() {
    let hash = |host: &str, group: &str| {
        let priority = "[[mechanism]]\nkind = \"preemptive-deflection\"\n";
        let queues = "preset = \"ideal\"\nqueues_per_port = 8\nscheduler = \"strict\"";
        let text = text(&format!("{host}{ORDERING}"), TCP, &format!("{FLOWS}{group}\n{priority}"));
        run(&text.replace("preset = \"ideal\"", queues).replace("BUFFER", "40 KB")).summary.trace_hash
    };
    for (class, rank) in [(0, 1_835_008), (1, 2_097_152), (5, 524_288), (7, 0)] {
        let by_code_point = hash("priority_tagger = { by = \"dscp\" }\n", &format!("class = {class}"));
        assert_eq!(by_code_point, hash("", &format!("class = {class}\nrank = {rank}")), "class {class}");
    }
}

/// The first packet of a flowlet passes even if earlier packets are missing, and releases the packets that waited for
/// these.
#[test]
fn flows_that_pause_arrive_whole_where_packets_are_lost() {
    let flowlets = ATTAINED.replace(" }", ", flowlet_gap = \"20 us\" }");
    let timeouts = |marking: &str| {
        let outcome = run(&text(&format!("{marking}{ORDERING}"), TCP, FLOWS).replace("BUFFER", "25 KB"));
        sum(&outcome, "flows", "reorder_timeouts")
    };
    let (with_pauses, without) = (timeouts(&flowlets), timeouts(ATTAINED));
    assert!(with_pauses < without, "{with_pauses} gaps given up by the timer with flowlets, {without} without");
}

#[test]
fn accounts_close_when_packets_are_lost_and_the_layer_gives_up_gaps() {
    for transport in [TCP, "kind = \"tcp\"\nrto_min = \"1 ms\"\n", "kind = \"roce\"\n", "kind = \"packet-pair\"\n"] {
        let outcome = run(&text(&format!("{REMAINING}{ORDERING}"), transport, FLOWS).replace("BUFFER", "25 KB"));
        assert!(outcome.summary.drops["queue full"] > 100, "{transport}");
        assert!(sum(&outcome, "flows", "reorder_timeouts") > 0, "{transport}");
    }
}

#[test]
fn a_run_that_is_cut_short_holds_packets_that_are_still_under_way() {
    let text = text(&format!("{REMAINING}{ORDERING}"), TCP, FLOWS).replace("BUFFER", "25 KB");
    let text = text.replace("until = \"all-flows-done\"", "duration = \"6 ms\"");
    assert!(support::run(&text).summary.flows.unfinished > 0);
}

#[test]
fn without_fast_retransmit_only_timeouts_repair() {
    for (sack, rack_tlp) in [(false, false), (true, false), (true, true)] {
        let detection = format!("sack = {sack}\nrack_tlp = {rack_tlp}\nfast_retransmit = false\n");
        let transport = TCP.replace("sack = false\nrack_tlp = false\n", &detection);
        let text = text("", &transport, FLOWS);
        let reordered = run(&large(&text));
        let overtaken = sum(&reordered, "flows", "packets_reordered");
        assert!(overtaken > 100, "{overtaken}");
        let started = ["fast_recoveries", "tail_loss_probes", "packets_retransmitted", "timeouts"];
        assert_eq!(started.map(|name| sum(&reordered, "flows", name)), [0; 4], "{transport}");
        let lossy = run(&text.replace("BUFFER", "25 KB"));
        let started = ["fast_recoveries", "tail_loss_probes"];
        assert_eq!(started.map(|name| sum(&lossy, "flows", name)), [0; 2], "{transport}");
        assert!(sum(&lossy, "flows", "timeouts") > 0, "{transport}");
    }
}

#[test]
fn nagle_keeps_the_last_segment_back_for_a_round_trip() {
    let flows = "kind = \"sequence\"\nsizes = { kind = \"fixed\", bytes = \"10 KB\" }\ncount = 1\nsources = [\"h0\"]\n\
                 destinations = [\"h4\"]\n";
    let finished = |nagle: &str| {
        let outcome = run(&large(&text("", &format!("{TCP}{nagle}"), flows)));
        times(&outcome, "messages", "delivered_ps")[0]
    };
    // Six full segments and one of 1,312 bytes; three links of 1 us in each direction.
    let extra_ps = finished("nagle = true\n") - finished("");
    assert!((6_000_000..13_000_000).contains(&extra_ps), "{extra_ps} ps");
}
