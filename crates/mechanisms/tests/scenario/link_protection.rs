//! What users are told of LinkGuardian's rivals.

use hitless_mechanisms::link_layer_retry::LinkLayerRetrySettings;
use hitless_mechanisms::wharf::WharfSettings;

use super::*;

const SECTION: &str = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine1\"\nactivation = [{ at = \"1 ms\", active = true }]\n";

/// The base with these mechanisms instead of its own.
fn with(mechanisms: &str) -> String {
    assert!(BASE.contains(SECTION));
    BASE.replace(SECTION, mechanisms)
}

fn rival(kind: &str, lines: &str) -> String {
    format!("[[mechanism]]\nkind = \"{kind}\"\nlink = \"leaf0->spine1\"\n{lines}\n")
}

/// Each of these has the one finding: field and rule.
fn check_rows(rows: &[(String, &str, &str)]) {
    for (mechanisms, field, rule) in rows {
        let error = check(&with(mechanisms), "base.toml").expect_err("should be refused");
        let [finding] = error.findings.as_slice() else { panic!("{mechanisms}: not one finding:\n{error}") };
        assert_eq!((finding.field.as_str(), finding.rule.as_str()), (*field, *rule), "{mechanisms}");
    }
}

#[test]
fn what_a_profile_of_link_layer_retry_may_be() {
    let row = |lines: &str, field, rule| (rival("link-layer-retry", lines), field, rule);
    check_rows(&[
        row(
            "max_replay_timer = \"2 us\"",
            "mechanism[0].max_replay_timer",
            "must be longer than the way there and back",
        ),
        row(
            "data_age_timeout = \"5 us\"",
            "mechanism[0].data_age_timeout",
            "must be zero (never), or longer than max_replay_timer",
        ),
        row("ctlos_spacing = \"399 B\"", "mechanism[0].ctlos_spacing", "must be from 400 B to 16384 B"),
        row("max_outstanding_bytes = \"0 B\"", "mechanism[0].max_outstanding_bytes", "must be above zero"),
        row("max_outstanding_frames = 0", "mechanism[0].max_outstanding_frames", "must be between 1 and 524288"),
        row(
            "re_init_on_flush = false\nflush_action = \"block\"",
            "mechanism[0].re_init_on_flush",
            "with flush_action \"block\" or \"discard\" no packet would cross the link again after a flush",
        ),
        // Found by the swarm, seed 12,000,011: flows that never ended.
        row(
            "re_init_on_flush = false\nflush_action = \"discard\"",
            "mechanism[0].re_init_on_flush",
            "with flush_action \"block\" or \"discard\" no packet would cross the link again after a flush",
        ),
        row("max_replay_count = 256", "mechanism[0].max_replay_count", "must be between 1 and 255"),
        (
            rival("link-layer-retry", "").replace("leaf0->spine1", "h0->leaf0"),
            "mechanism[0].link",
            "Link Layer Retry needs a switch at both ends, and a host is at one",
        ),
    ]);
    let scenario = check(&with(&rival("link-layer-retry", "")), "").unwrap();
    let Some(settings) = scenario.mechanisms[0].settings::<LinkLayerRetrySettings>() else {
        panic!("no Link Layer Retry")
    };
    // 25G and a microsecond each way.
    let defaults =
        LinkLayerRetrySettings::for_link(hitless_wire::BitRate::from_gbps(25), hitless_wire::Duration::from_us(1));
    assert_eq!(*settings, LinkLayerRetrySettings { link: "leaf0->spine1".into(), ..defaults });
}

#[test]
fn what_wharf_may_be() {
    let row = |lines: &str, field, rule| (rival("wharf", lines), field, rule);
    check_rows(&[
        row("data_frames = 51", "mechanism[0].data_frames", "must be between 1 and 50"),
        row("data_frames = 0", "mechanism[0].data_frames", "must be between 1 and 50"),
        row("parity_frames = 6", "mechanism[0].parity_frames", "must be between 0 and 5"),
        row("flush_after = \"0 s\"", "mechanism[0].flush_after", "must be above zero"),
        (
            rival("wharf", "").replace("leaf0->spine1", "leaf0->h0"),
            "mechanism[0].link",
            "Wharf needs a switch at both ends, and a host is at one",
        ),
    ]);
    let flush_after = |lines: &str| {
        let scenario = check(&with(&rival("wharf", lines)), "").unwrap_or_else(|error| panic!("{error}"));
        let Some(settings) = scenario.mechanisms[0].settings::<WharfSettings>() else { panic!("no Wharf") };
        settings.flush_after
    };
    // At 25G a full frame takes 492.16 ns.
    assert_eq!(flush_after(""), hitless_wire::Duration::from_us(10));
    assert_eq!(flush_after("data_frames = 25"), hitless_wire::Duration::from_ps(25 * 2 * 492_160));
    assert_eq!(flush_after("flush_after = \"3 us\""), hitless_wire::Duration::from_us(3));
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
            check_rows(&[(both.clone(), "mechanism[1].link", rule.as_str())]);
            let back = rival(first, "") + &rival(second, "").replace("leaf0->spine1", "spine1->leaf0");
            if first == second {
                check(&with(&back), "base.toml").unwrap_or_else(|error| panic!("{error}"));
            } else {
                let rule = rule.replace("leaf0->spine1", "spine1->leaf0");
                check_rows(&[(back, "mechanism[1].link", rule.as_str())]);
            }
            let elsewhere = rival(first, "") + &rival(second, "").replace("leaf0->spine1", "leaf1->spine1");
            check(&with(&elsewhere), "base.toml").unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn a_live_run_has_no_rivals() {
    let rows = [
        ("link-layer-retry", "a network interface shows neither preambles nor ordered sets", "Link Layer Retry"),
        ("wharf", "its coder is there for real frames, and the live data path does not use it yet", "Wharf"),
    ];
    for (kind, why, name) in rows {
        let live = check_for(&with(&rival(kind, "")), "base.toml", Purpose::Live).expect_err("should be refused");
        let message = live.to_string();
        assert!(message.contains(&format!("{name} runs in simulations only: {why}")), "{message}");
    }
}
