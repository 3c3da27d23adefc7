//! Settings of packet trimming: defaults and refusals.

use hitless_mechanisms::trimming::TrimmingSettings;

use super::*;

fn text(switch: &str, transport: &str, mechanisms: &str) -> String {
    leaf_spine(switch, &format!("kind = \"{transport}\""), mechanisms)
}

const TRIMMING: &str = "[[mechanism]]\nkind = \"trimming\"\n";

#[test]
fn what_is_left_out_is_as_in_ndp() {
    let settings: TrimmingSettings = first_settings(&text("", "tcp", TRIMMING));
    assert_eq!((settings.headers_per_packet, settings.control_too, settings.trimmed_frame.0), (10, true, 70));
    assert_reads_back_the_same(&text("", "tcp", TRIMMING));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let with = |lines: &str| text("", "tcp", &format!("{TRIMMING}{lines}"));
    let beside = |other: &str| with(&format!("[[mechanism]]\n{other}\n"));
    let strict = "scheduler = \"strict\"\nqueues_per_port = 2\n";
    let rows = [
        (with("ports = [\"h0\"]\n"), "ports[0]", "'h0' is a host"),
        (with("trimmed_frame = \"60 B\"\n"), "mechanism[0].trimmed_frame", "at least 64 B"),
        (with("trimmed_frame = \"2 KB\"\n"), "mechanism[0].trimmed_frame", "nothing would be cut"),
        (with("queue = \"0 packets\"\n"), "mechanism[0].queue", "must be above zero"),
        (
            with(&format!("ports = [\"leaf0\"]\n{TRIMMING}")),
            "mechanism[1].ports",
            "leaf0 has packet trimming by another entry, and its ports share one set of parameters",
        ),
        (text(strict, "tcp", TRIMMING), "mechanism[0].headers_per_packet", "the scheduler is \"strict\""),
        (text("", "packet-pair", TRIMMING), "mechanism[0]", "no transport is one of them"),
        (
            beside("kind = \"afq\""),
            "mechanism[1].ports",
            "runs packet trimming and AFQ, and what is to go first would wait",
        ),
        (beside("kind = \"rimm\""), "mechanism[1].ports", "runs packet trimming and RIMM, and"),
        (
            beside("kind = \"linkguardian\"\nlink = \"leaf0->spine0\""),
            "mechanism[1].link",
            "runs packet trimming and LinkGuardian, and a pause",
        ),
    ];
    assert_refused(rows);
    let strict = text(strict, "tcp", &format!("{TRIMMING}headers_per_packet = 0\n"));
    sound(&strict);
    sound(&text("", "roce", TRIMMING));
}

#[test]
fn who_decides_on_refused_packets_too_is_refused() {
    let beside = |other: &str| text("", "tcp", &format!("{TRIMMING}[[mechanism]]\n{other}\n"));
    assert_refused([
        (beside("kind = \"vertigo\""), "mechanism[1].ports", "both would decide what becomes"),
        (beside("kind = \"preemptive-deflection\""), "mechanism[1].ports", "given up before a queue"),
        (beside("kind = \"aifo\""), "mechanism[1].ports", "given up before a queue"),
    ]);
}
