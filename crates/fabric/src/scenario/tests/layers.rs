//! `[host] marking` and `ordering`, and what groups of flows claim.

use super::*;

fn with(host: &str, group: &str) -> Result<Scenario, String> {
    let text = BASE.replace("[[flows]]\nname = \"random\"\n", &format!("[[flows]]\nname = \"random\"\n{group}\n"));
    assert!(group.is_empty() || text != BASE, "the base has a group of this name");
    let text = text.replace("[host]\n", &format!("[host]\n{host}\n"));
    check(&text, "base.toml").map_err(|error| error.to_string())
}

const MARKING: &str = "marking = { by = \"remaining-bytes\" }";

#[test]
fn a_mark_makes_the_longest_frame_longer() {
    let unmarked = with("", "").unwrap().frame_max();
    for (host, group) in [(MARKING, ""), ("", "rank = 45")] {
        assert_eq!(with(host, group).unwrap().frame_max().0, unmarked.0 + 8, "{host} {group}");
    }
}

#[test]
fn an_ordering_layer_needs_marks_and_a_timeout() {
    let refused = [
        ("ordering = { timeout = \"360 us\" }".to_owned(), "orders packets by their marks, and none has one"),
        (format!("{MARKING}\nordering = {{ timeout = \"0 s\" }}"), "must be above zero"),
    ];
    for (host, rule) in refused {
        let error = with(&host, "").expect_err(&host);
        assert!(error.contains(rule), "{error}");
    }
    let scenario = with(&format!("{MARKING}\nordering = {{ timeout = \"360 us\" }}"), "").unwrap();
    assert_eq!(scenario.host.ordering.unwrap().timeout, hitless_wire::Duration::from_us(360));
}

#[test]
fn who_lies_must_have_something_to_lie_about() {
    let rule = "divides the ranks that host.marking gives";
    for (host, group) in [("", "rank_divisor = 100"), (MARKING, "rank = 3\nrank_divisor = 100")] {
        let error = with(host, group).expect_err(group);
        assert!(error.contains(rule), "{error}");
    }
    let group = &with(MARKING, "rank_divisor = 100").unwrap().flows[0];
    assert_eq!((group.rank, group.rank_divisor.get()), (None, 100));
    let error = with(MARKING, "rank_divisor = 0").expect_err("a division by zero");
    assert!(error.contains("rank_divisor"), "{error}");
}
