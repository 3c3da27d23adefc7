//! Protection of links beyond the papers' rates and delays: timers, buffers and the buffering place follow from the
//! link, so that almost every loss is repaired at almost no cost.

use crate::support::{check, counter, run};
use crate::testbed::received;

/// A link with its frame size and load.
struct Link {
    gbps: u64,
    delay_ns: u64,
    frame_bytes: u64,
    load_percent: u64,
}

impl Link {
    fn text(&self, settings: &str) -> String {
        self.with("linkguardian", settings)
    }

    fn with(&self, kind: &str, settings: &str) -> String {
        let Self { gbps, delay_ns, frame_bytes, load_percent } = self;
        let (mbps, recirculation) = (gbps * 10 * load_percent, (*gbps).max(100));
        let stop_ns = 10_000 * (frame_bytes + 20) * 8 * 1_000 / mbps;
        let end_ns = stop_ns + 2 * delay_ns + 20_000;
        format!(
            "name = \"beyond\"\nduration = \"{end_ns} ns\"\n\
             [topology]\nkind = \"chain\"\nhosts_left = [\"a\"]\nswitches = [\"sw2\", \"sw6\"]\nhosts_right = [\"b\"]\n\
             host_link = {{ rate = \"{gbps} Gbps\", delay = \"50 ns\" }}\n\
             switch_link = {{ rate = \"{gbps} Gbps\", delay = \"{delay_ns} ns\" }}\n\
             [switch]\npreset = \"tofino-like\"\nrecirculation_rate = \"{recirculation} Gbps\"\n\
             [[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"{mbps} Mbps\"\nframe_bytes = \"{frame_bytes} B\"\n\
             [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"u\"\nsources = [\"a\"]\n\
             destinations = [\"b\"]\nstop = \"{stop_ns} ns\"\n\
             [measure]\norder = true\n\
             [[link]]\nname = \"sw2->sw6\"\nloss = {{ kind = \"bernoulli\", rate = 0.001 }}\n\
             [[mechanism]]\nkind = \"{kind}\"\nlink = \"sw2->sw6\"\n{settings}"
        )
    }
}

#[test]
fn every_loss_is_repaired_from_1g_to_800g_over_a_metre_to_two_kilometres_with_small_and_large_frames() {
    for (gbps, delay_ns) in [
        (1, 5),
        (1, 10_000),
        (10, 500),
        (25, 2_500),
        (40, 15),
        (60, 50),
        (100, 500),
        (100, 10_000),
        (400, 500),
        (400, 10_000),
        (800, 50),
    ] {
        for frame_bytes in [256, 1_518, 9_018] {
            for load_percent in [50, 95] {
                let link = Link { gbps, delay_ns, frame_bytes, load_percent };
                let outcome = run(&link.text(""));
                let what = format!("{gbps}G, {delay_ns} ns, {frame_bytes} B, {load_percent} %");
                let (missing, recovered) =
                    (counter(&outcome, "packets_missing"), counter(&outcome, "packets_recovered"));
                assert!(missing > 0, "{what}: nothing was lost");
                assert_eq!((missing, counter(&outcome, "packets_lost")), (recovered, 0), "{what}");
                let (sent, arrived, reordered) = received(&outcome);
                assert_eq!(reordered, 0, "{what}");
                assert!(arrived as f64 >= 0.97 * sent as f64, "{what}: {arrived} of {sent} came in time");
            }
        }
    }
}

/// Regression: between the paper's rates a ring paused the sender 24 times for each loss, and 13 to 30 % came too late.
#[test]
fn a_ring_whose_rate_is_no_multiple_of_the_links_is_emptied_or_left_alone() {
    let in_time = |gbps: u64, settings: &str| {
        let link = Link { gbps, delay_ns: 50, frame_bytes: 1_518, load_percent: 95 };
        let (sent, arrived, reordered) = received(&run(&link.text(settings)));
        assert_eq!(reordered, 0, "{gbps}G");
        arrived as f64 / sent as f64
    };
    for gbps in [40, 60, 70, 80] {
        let (by_default, in_ring) = (in_time(gbps, ""), in_time(gbps, "buffering = \"recirculation\""));
        assert!(by_default > 0.99, "{gbps}G: {by_default}");
        assert!(in_ring > 0.93, "{gbps}G: {in_ring}");
        let as_in_the_paper = in_time(gbps, "buffering = \"recirculation\"\nresume_threshold = \"38 KB\"");
        assert!(as_in_the_paper < 0.9, "{gbps}G: {as_in_the_paper}");
    }
}

/// Regression: 576,735 of 800,000 packets were lost, because each overflow blocked later packets until a timeout.
#[test]
fn an_overflow_of_the_reordering_buffer_does_not_sustain_itself() {
    let link = Link { gbps: 400, delay_ns: 500, frame_bytes: 1_518, load_percent: 50 };
    let small = "admission_control = false\nbuffering = \"recirculation\"\nreordering_buffer = \"200 KB\"\n\
                 sender_buffer = \"200 KB\"\npause_threshold = \"99 KB\"\nresume_threshold = \"95 KB\"\n";
    let outcome = run(&link.text(small));
    let (sent, arrived, reordered) = received(&outcome);
    assert!(arrived < sent, "the buffer suffices");
    assert!((sent - arrived) * 50 < sent, "{arrived} of {sent}");
    assert_eq!((reordered, counter(&outcome, "ack_no_timeouts")), (0, 0));
}

#[test]
fn a_small_reordering_buffer_lowers_the_default_of_the_pause_threshold() {
    let link = Link { gbps: 400, delay_ns: 50, frame_bytes: 1_518, load_percent: 100 };
    let outcome = run(&link.text("buffering = \"paused-queue\"\nreordering_buffer = \"200 KB\"\n"));
    assert_eq!(counter(&outcome, "packets_lost"), 0);
    assert!(counter(&outcome, "pauses") > 0, "a loss fills the buffer");
}

#[test]
fn parameters_that_cannot_work_are_refused_with_the_arithmetic() {
    let long = Link { gbps: 100, delay_ns: 10_000, frame_bytes: 1_518, load_percent: 50 };
    let small = Link { gbps: 800, delay_ns: 10_000, frame_bytes: 64, load_percent: 50 };
    let far = Link { gbps: 800, delay_ns: 200_000, frame_bytes: 9_018, load_percent: 50 };
    for (link, setting, rule) in [
        (&long, "buffering = \"recirculation\"", "costs about 51 % of the line: at a loss rate of 0.001 one frame"),
        (&long, "reordering_buffer = \"500 KB\"", "that arrive until a pause has an effect"),
        (&long, "sender_buffer = \"100 KB\"", "which the link sends until a repair has come"),
        (&long, "ack_no_timeout = \"15 us\"", "no repair comes back sooner on this link"),
        (&small, "", "frames of 64 B until a repair has come"),
        (&far, "", "and switch.buffer.total is"),
    ] {
        let refusal = check(&link.text(&format!("{setting}\n"))).unwrap_err();
        assert!(refusal.contains(rule), "{setting}: {refusal}");
    }
}

/// Regression: it delivered nothing on a link of 1G with jumbo frames, because its replay timer was shorter than a
/// frame.
#[test]
fn link_layer_retry_repairs_small_and_large_frames_at_every_rate() {
    for (gbps, delay_ns) in [(1, 5), (1, 10_000), (10, 500), (25, 500), (50, 50), (100, 5)] {
        for frame_bytes in [64, 1_518, 9_018] {
            let link = Link { gbps, delay_ns, frame_bytes, load_percent: 95 };
            let outcome = run(&link.with("link-layer-retry", ""));
            let (sent, arrived, reordered) = received(&outcome);
            let what = format!("{gbps}G, {delay_ns} ns, {frame_bytes} B: {arrived} of {sent} came in time");
            assert!(arrived as f64 >= 0.92 * sent as f64, "{what}");
            assert_eq!((reordered, counter(&outcome, "flushes")), (0, 0), "{what}");
        }
    }
    let long = Link { gbps: 400, delay_ns: 10_000, frame_bytes: 1_518, load_percent: 95 };
    let refusal = check(&long.with("link-layer-retry", "")).unwrap_err();
    assert!(refusal.contains("go-back-N costs about 40 % of this line"), "{refusal}");
}
