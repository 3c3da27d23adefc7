//! `[host] priority_tagger` and `reorder_buffer`, and the claims of groups of flows.

use super::*;

fn with(host: &str, group: &str) -> Result<Scenario, String> {
    let text = BASE.replace("[[flows]]\nname = \"random\"\n", &format!("[[flows]]\nname = \"random\"\n{group}\n"));
    assert!(group.is_empty() || text != BASE, "the base has a group of this name");
    let text = text.replace("[host]\n", &format!("[host]\n{host}\n"));
    check(&text, "base.toml").map_err(|error| error.to_string())
}

const MARKING: &str = "priority_tagger = { by = \"remaining-bytes\" }";

#[test]
fn a_mark_makes_the_longest_frame_longer() {
    let unmarked = with("", "").unwrap().frame_max();
    for (host, group) in [(MARKING, ""), ("", "rank = 45")] {
        assert_eq!(with(host, group).unwrap().frame_max().0, unmarked.0 + 8, "{host} {group}");
    }
}

#[test]
fn a_reorder_buffer_needs_marks_and_a_timeout() {
    let refused = [
        ("reorder_buffer = { timeout = \"360 us\" }".to_owned(), "orders packets by their marks, and none has one"),
        (format!("{MARKING}\nreorder_buffer = {{ timeout = \"0 s\" }}"), "must be above zero"),
    ];
    for (host, rule) in refused {
        let error = with(&host, "").expect_err(&host);
        assert!(error.contains(rule), "{error}");
    }
    let scenario = with(&format!("{MARKING}\nreorder_buffer = {{ timeout = \"360 us\" }}"), "").unwrap();
    assert_eq!(scenario.host.reorder_buffer.unwrap().timeout, hitless_core::wire::Duration::from_us(360));
}

#[test]
fn a_pause_that_ends_flowlets_is_a_time() {
    let marking =
        |gap: &str| with(&format!("priority_tagger = {{ by = \"attained-service\", flowlet_gap = \"{gap}\" }}"), "");
    let scenario = marking("360 us").unwrap();
    assert_eq!(scenario.host.priority_tagger.unwrap().flowlet_gap, Some(hitless_core::wire::Duration::from_us(360)));
    let error = marking("0 s").expect_err("every packet would be a flowlet");
    assert!(error.contains("host.priority_tagger.flowlet_gap") && error.contains("must be above zero"), "{error}");
}

#[test]
fn who_lies_must_have_something_to_lie_about() {
    let rule = "divides the ranks that host.priority_tagger gives";
    for (host, group) in [("", "rank_divisor = 100"), (MARKING, "rank = 3\nrank_divisor = 100")] {
        let error = with(host, group).expect_err(group);
        assert!(error.contains(rule), "{error}");
    }
    let group = &with(MARKING, "rank_divisor = 100").unwrap().flows[0];
    assert_eq!((group.rank, group.rank_divisor.get()), (None, 100));
    let error = with(MARKING, "rank_divisor = 0").expect_err("a division by zero");
    assert!(error.contains("rank_divisor"), "{error}");
}

#[test]
fn what_does_not_fit_a_packet_together_is_refused() {
    let sqr = "[[mechanism]]\nkind = \"sqr\"\ncaching = \"delay-queue\"\nlinks = [\"leaf0->spine0\"]\n";
    let rimm = "[[mechanism]]\nkind = \"rimm\"\nports = [\"leaf0->h0\"]\n";
    let mean = "[[mechanism]]\nkind = \"preemptive-deflection\"\noccupancy = { kind = \"control-packets\" }\n\
                relative_priority = { kind = \"distribution\", mean = \"moving-average\" }\n";
    let dibs = "[[mechanism]]\nkind = \"dibs\"\n";
    let one_way = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine0\"\n";
    let both_ways = format!("{one_way}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"spine0->leaf0\"\n");
    let marked = |mechanisms: &str| {
        let host = format!("[host]\n{MARKING}\n[topology]");
        leaf_spine("", TCP, mechanisms).replace("[topology]", &host)
    };
    assert_refused([
        (marked(&format!("{rimm}{sqr}")), "mechanism", "detours of RIMM (9 B), SQR's copies (18 B) would be 35 B"),
        (marked(&format!("{rimm}{both_ways}")), "mechanism", "LinkGuardian both ways (13 B) would be 30 B"),
        (leaf_spine("", TCP, &format!("{mean}{sqr}")), "mechanism[1].links", "a copy that is sent late would bring"),
    ]);
    let elsewhere =
        |text: &str| text.replace("leaf0->spine0", "spine0->leaf1").replace("spine0->leaf0", "leaf1->spine0");
    let fit = [
        marked(&format!("{dibs}{sqr}")),
        marked(&format!("{rimm}{one_way}")),
        leaf_spine("", TCP, &format!("{rimm}{sqr}")),
        marked(&format!("{rimm}{}", elsewhere(sqr))),
        marked(&format!("{rimm}{}", elsewhere(&both_ways))),
    ];
    fit.iter().for_each(|text| drop(sound(text)));
}
