//! Messages about LinkGuardian's competitors.

use hitless_mechanisms::link_layer_retry::LinkLayerRetrySettings;
use hitless_mechanisms::linkguardian::Buffering;
use hitless_mechanisms::wharf::WharfSettings;

use super::*;

const SECTION: &str = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine1\"\nactivation = [{ at = \"1 ms\", active = true }]\n";

fn with(mechanisms: &str) -> String {
    assert!(BASE.contains(SECTION));
    BASE.replace(SECTION, mechanisms)
}

fn rival(kind: &str, lines: &str) -> String {
    format!("[[mechanism]]\nkind = \"{kind}\"\nlink = \"leaf0->spine1\"\n{lines}\n")
}

/// Lines of a competitor's entry, with the expected messages.
fn check_rows(kind: &str, rows: &[(&str, &str)]) {
    for (lines, expected) in rows {
        assert_eq!(told(&with(&rival(kind, lines))), format!("mechanism[0].{expected}"), "{lines}");
    }
}

#[test]
fn what_a_profile_of_link_layer_retry_may_be() {
    let never = "re_init_on_flush: with flush_action \"block\" or \"discard\" no packet would cross the link again \
                 after a flush";
    check_rows(
        "link-layer-retry",
        &[
            (
                "max_replay_timer = \"2 us\"",
                "max_replay_timer: must be longer than 3.54432 us: the way there and back, and a frame each way\n\
                 hint: leave it out: it then follows from the link",
            ),
            ("data_age_timeout = \"5 us\"", "data_age_timeout: must be zero (never), or longer than max_replay_timer"),
            ("ctlos_spacing = \"399 B\"", "ctlos_spacing: must be from 400 B to 16384 B"),
            ("max_outstanding_bytes = \"0 B\"", "max_outstanding_bytes: must be above zero"),
            ("max_outstanding_frames = 0", "max_outstanding_frames: must be between 1 and 524288"),
            ("re_init_on_flush = false\nflush_action = \"block\"", never),
            // Found by the swarm, seed 12,000,011: flows that never ended.
            ("re_init_on_flush = false\nflush_action = \"discard\"", never),
            ("max_replay_count = 256", "max_replay_count: must be between 1 and 255"),
        ],
    );
    let from_host = with(&rival("link-layer-retry", "").replace("leaf0->spine1", "h0->leaf0"));
    let rule = "mechanism[0].link: Link Layer Retry needs a switch at both ends, and a host is at one";
    assert_eq!(told(&from_host), rule);
    let settings: LinkLayerRetrySettings = first_settings(&with(&rival("link-layer-retry", "")));
    // 25G and a microsecond in each direction.
    let defaults = LinkLayerRetrySettings::for_link(
        hitless_core::wire::BitRate::from_gbps(25),
        hitless_core::wire::Duration::from_us(1),
    );
    assert_eq!(settings, LinkLayerRetrySettings { link: "leaf0->spine1".into(), ..defaults });
}

#[test]
fn what_wharf_may_be() {
    check_rows(
        "wharf",
        &[
            ("data_frames = 51", "data_frames: must be between 1 and 50"),
            ("data_frames = 0", "data_frames: must be between 1 and 50"),
            ("parity_frames = 6", "parity_frames: must be between 0 and 5"),
            ("flush_after = \"0 s\"", "flush_after: must be above zero"),
        ],
    );
    let to_host = with(&rival("wharf", "").replace("leaf0->spine1", "leaf0->h0"));
    assert_eq!(told(&to_host), "mechanism[0].link: Wharf needs a switch at both ends, and a host is at one");
    let flush_after = |lines: &str| first_settings::<WharfSettings>(&with(&rival("wharf", lines))).flush_time();
    // At 25G a full frame takes 492.16 ns.
    assert_eq!(flush_after(""), hitless_core::wire::Duration::from_us(10));
    assert_eq!(flush_after("data_frames = 25"), hitless_core::wire::Duration::from_ps(25 * 2 * 492_160));
    assert_eq!(flush_after("flush_after = \"3 us\""), hitless_core::wire::Duration::from_us(3));
}

/// Only the rate of the protected direction decides whether packets wait in a ring.
#[test]
fn a_protected_link_keeps_its_ring_if_only_the_other_direction_is_slower() {
    let in_a_rack = BASE.replace("\"25 Gbps\", delay = \"1 us\"", "\"25 Gbps\", delay = \"100 ns\"");
    assert_ne!(in_a_rack, BASE);
    let back = |line: &str| in_a_rack.clone() + "[[link]]\nname = \"spine1->leaf0\"\n" + line;
    let place = |text: &str| first_settings::<LinkGuardianSettings>(text).waiting_place();
    assert_eq!(place(&in_a_rack), Buffering::Recirculation);
    for rate in ["1 Gbps", "10 Gbps", "20 Gbps"] {
        assert_eq!(place(&back(&format!("rate = \"{rate}\"\n"))), Buffering::Recirculation, "{rate}");
        let change = format!("changes = [{{ at = \"2 ms\", rate = \"{rate}\" }}]\n");
        assert_eq!(place(&back(&change)), Buffering::Recirculation, "{rate}");
        let forward = in_a_rack.replace("{ at = \"2 ms\",", &format!("{{ at = \"2 ms\", rate = \"{rate}\","));
        assert_eq!(place(&forward), Buffering::PausedQueue, "{rate}");
    }
}

#[test]
fn a_link_has_one_protection() {
    let names = [("linkguardian", "LinkGuardian"), ("link-layer-retry", "Link Layer Retry"), ("wharf", "Wharf")];
    for (first, name) in names {
        for (second, other) in names {
            let rule = if first == second {
                format!("leaf0->spine1 has {name} by another entry, and a link has one protection")
            } else {
                format!("leaf0->spine1 runs {name} and {other}, and a link has one protection")
            };
            let both = rival(first, "") + &rival(second, "");
            assert_eq!(told(&with(&both)), format!("mechanism[1].link: {rule}"));
            let back = rival(first, "") + &rival(second, "").replace("leaf0->spine1", "spine1->leaf0");
            if first == second {
                sound(&with(&back));
            } else {
                let rule = rule.replace("leaf0->spine1", "spine1->leaf0");
                assert_eq!(told(&with(&back)), format!("mechanism[1].link: {rule}"));
            }
            let elsewhere = rival(first, "") + &rival(second, "").replace("leaf0->spine1", "leaf1->spine1");
            sound(&with(&elsewhere));
        }
    }
}

#[test]
fn a_live_run_has_no_rivals() {
    let rows = [
        ("link-layer-retry", "a network interface shows neither preambles nor ordered sets", "Link Layer Retry"),
        ("wharf", "there is no coder for real frames", "Wharf"),
    ];
    for (kind, why, name) in rows {
        let live = check_for(&with(&rival(kind, "")), "base.toml", Purpose::Live).expect_err("should be refused");
        let message = live.to_string();
        assert!(message.contains(&format!("{name} runs in simulations only: {why}")), "{message}");
    }
}
