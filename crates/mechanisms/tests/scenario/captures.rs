//! Settings of `[[measure.capture]]`: defaults and refusals.

use super::*;

fn with(capture: &str) -> String {
    format!("{BASE}\n[[measure.capture]]\n{capture}\n")
}

#[test]
fn captures_that_cannot_work_are_refused() {
    let rows = [
        ("", "measure.capture[0].links", "a capture needs a place"),
        ("links = [\"leaf0->leaf9\"]", "measure.capture[0].links[0]", "leaf9"),
        ("links = [\"leaf0->leaf1\"]", "measure.capture[0].links[0]", "there is no link"),
        ("hosts = [\"leaf0\"]", "measure.capture[0].hosts[0]", "is a switch"),
        ("hosts = [\"h77\"]", "measure.capture[0].hosts[0]", "there is no host 'h77'"),
        ("switches = [\"h0\"]", "measure.capture[0].switches[0]", "is a host"),
        ("ports = [\"h0->leaf0\"]", "measure.capture[0].ports[0]", "only switches have ports"),
        ("links = [\"*\"]\ngroups = [\"nobody\"]", "measure.capture[0].groups[0]", "no [[flows]] has this name"),
        ("links = [\"*\"]\nclasses = [8]", "measure.capture[0].classes", "from 0 to 7"),
        ("links = [\"*\"]\nqueues = [1]", "measure.capture[0].queues", "has no ports"),
        ("links = [\"*\"]\nlimit = 0", "measure.capture[0].limit", "at least 1"),
        ("links = [\"*\"]\nfrom = \"10 ms\"", "measure.capture[0].from", "before the run ends"),
        ("links = [\"*\"]\nfrom = \"2 ms\"\nuntil = \"1 ms\"", "measure.capture[0].from", "before until = 1 ms"),
        ("links = [\"*\"]\nname = \"../x\"", "measure.capture[0].name", "a file is named after it"),
        ("links = [\"*\"]\n[[measure.capture]]\nhosts = [\"*\"]", "measure.capture[1].name", "this name is taken"),
        ("links = [\"*\"]\nprotocols = [\"quic\"]", "measure.capture[0].protocols", "packet-pair"),
    ];
    assert_refused(rows.map(|(capture, field, rule)| (with(capture), field, rule)));
}

#[test]
fn filters_for_simulated_hosts_are_refused_in_a_live_run() {
    let live = |capture: &str| {
        let text = format!("{BASE}\n[[measure.capture]]\nlinks = [\"*\"]\n{capture}\n");
        let purpose = hitless_scenario::Purpose::Live;
        hitless_scenario::check_for(&text, "live.toml", purpose, hitless_mechanisms::builtin(), None)
    };
    for (capture, field, rule) in [
        ("groups = [\"random\"]", "measure.capture[0].groups", "a live run has none"),
        ("protocols = [\"tcp\", \"uet\"]", "measure.capture[0].protocols", "protocols of simulated hosts"),
    ] {
        let refused = live(capture).expect_err("a live run cannot use it").to_string();
        assert!(refused.contains(field) && refused.contains(rule), "{refused}");
    }
    assert!(live("protocols = [\"tcp\", \"udp\", \"roce\", \"control\"]\nclasses = [1]\nlimit = 5").is_ok());
}

#[test]
fn a_capture_has_defaults_and_reads_back_the_same() {
    let text = with("ports = [\"leaf0\", \"leaf0->spine1\"]\nqueues = [0]\nprotocols = [\"tcp\", \"control\"]");
    let scenario = sound(&text);
    let capture = &scenario.measure.capture[0];
    assert_eq!((capture.name.as_str(), capture.limit, capture.payload), ("packets", 500_000, false));
    let topology = scenario.build_topology().expect("the base is sound");
    let places = capture.places(&topology, |_, _, rule| panic!("{rule}"));
    assert_eq!(places.len(), 4, "two hosts and two spines, each once");
    assert_reads_back_the_same(&text);
}
