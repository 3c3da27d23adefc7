//! The settings of packet trimming: what is filled in, and what is refused.

use super::*;

fn text(switch: &str, transport: &str, mechanisms: &str) -> String {
    format!(
        "name = \"trimming\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\n{switch}\n\
         [[transport]]\nname = \"t\"\nkind = \"{transport}\"\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
         destinations = [\"h2\"]\n{mechanisms}\n"
    )
}

const TRIMMING: &str = "[[mechanism]]\nkind = \"trimming\"\n";

#[test]
fn what_is_left_out_is_as_in_ndp() {
    let scenario = check(&text("", "tcp", TRIMMING), "").unwrap_or_else(|error| panic!("{error}"));
    let Some(MechanismSettings::Trimming(settings)) = scenario.mechanisms.first() else { panic!("no trimming") };
    assert_eq!((settings.headers_per_packet, settings.control_too, settings.trimmed_frame.0), (10, true, 70));
    let again = check(&scenario.effective_toml(), "").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, scenario);
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
        (text("", "roce", TRIMMING), "mechanism[0]", "no transport is TCP"),
        (beside("kind = \"afq\""), "mechanism[0].ports", "runs AFQ too"),
        (beside("kind = \"rimm\""), "mechanism[0].ports", "runs RIMM too"),
        (beside("kind = \"vertigo\""), "mechanism[0].ports", "runs Vertigo too"),
        (beside("kind = \"preemptive-deflection\""), "mechanism[0].ports", "gives packets up before a queue"),
        (beside("kind = \"aifo\""), "mechanism[0].ports", "gives packets up before a queue"),
        (beside("kind = \"linkguardian\"\nlink = \"leaf0->spine0\""), "mechanism[0].ports", "runs LinkGuardian too"),
    ];
    for (text, field, rule) in rows {
        let message = check(&text, "trimming").expect_err("this cannot be meant").to_string();
        assert!(message.contains(field) && message.contains(rule), "{message}");
    }
    let strict = text(strict, "tcp", &format!("{TRIMMING}headers_per_packet = 0\n"));
    check(&strict, "").unwrap_or_else(|error| panic!("{error}"));
}
