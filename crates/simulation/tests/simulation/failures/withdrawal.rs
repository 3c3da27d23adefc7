//! Paths over a failed link are withdrawn by all switches, and restored after the repair.

use hitless_simulation::Outcome;

use crate::support::{check, of_link, run, sound, sum, texts, times};
use crate::{checkpoints, partitions};

/// Flows of 500 Mb/s from every host of the first pod to every host of the last. The link fails at 1 ms.
fn text(duration_ms: u32, outage: &str, scheme: &str) -> String {
    format!(
        "name = \"withdrawal\"\nduration = \"{duration_ms} ms\"\n\
         [topology]\nkind = \"fat-tree\"\nk = 4\nhost_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"1 MB\" }}\n\
         [[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"500 Mbps\"\n\
         [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"u\"\nsources = [\"h0..h3\", \"h12..h15\"]\n\
         destinations = [\"h12..h15\", \"h0..h3\"]\n\
         [[failure]]\nlink = \"agg0<->core0\"\nfirst = \"1 ms\"\n{outage}\n\
         [recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\nscheme = {scheme}\n"
    )
}

const FOR_EVER: &str = "outage = \"1 s\"";
const WITHDRAW: &str = "{ kind = \"withdraw\", notice = \"200 us\" }";

fn carried(outcome: &Outcome) -> u64 {
    of_link(outcome, "agg0->core0", "frames_sent") + of_link(outcome, "core0->agg0", "frames_sent")
}

#[test]
fn packets_are_lost_until_all_switches_know_and_none_afterwards() {
    let [short, long] = [3, 5].map(|duration_ms| run(&text(duration_ms, FOR_EVER, WITHDRAW)));
    let lost = |outcome: &Outcome| sum(outcome, "links", "frames_lost_down");
    assert!(lost(&short) > 0);
    assert_eq!(lost(&short), lost(&long), "nothing is lost once the paths are withdrawn");
    assert_eq!(carried(&short), carried(&long), "nobody sends on the link");
    assert_eq!(long.summary.drops.values().sum::<u64>(), lost(&long), "{:?}", long.summary.drops);
    // Without a withdrawal the loss goes on.
    let ignored = run(&text(5, FOR_EVER, "{ kind = \"none\" }"));
    assert!(lost(&ignored) > 10 * lost(&long), "{} and {}", lost(&ignored), lost(&long));
    let at = |name: &str| times(&long, "failures", name)[0];
    for end in ["from", "to"] {
        assert_eq!(at(&format!("{end}_detected_ps")), 1_030_000_000);
        assert_eq!(at(&format!("{end}_recovered_ps")), 1_230_000_000);
    }
}

#[test]
fn paths_come_back_after_the_repair() {
    let repaired = run(&text(5, "outage = \"1 ms\"", WITHDRAW));
    let cut = run(&text(5, FOR_EVER, WITHDRAW));
    assert!(carried(&repaired) > 2 * carried(&cut), "{} and {}", carried(&repaired), carried(&cut));
    // From 2 ms + 30 us + 200 us on as many frames as before 1 ms + 230 us, within the phase of each flow.
    let rate_per_ms = carried(&cut) as f64 / 1.23;
    let expected = rate_per_ms * (1.23 + 5.0 - 2.23);
    assert!((carried(&repaired) as f64 / expected - 1.0).abs() < 0.02, "{} for {expected}", carried(&repaired));
}

#[test]
fn withdrawals_are_equal_on_threads_and_after_checkpoints() {
    let text = text(4, "every = \"1500 us\"\noutage = \"700 us\"", WITHDRAW);
    partitions::compare(&text, &[(2, 1), (2, 2), (5, 2)]);
    checkpoints::goes_on(&sound(&text), &[0.2, 0.28, 0.4, 0.5, 0.9]);
}

#[test]
fn failures_must_be_further_apart_than_their_withdrawal_takes() {
    let refused = check(&text(4, "every = \"900 us\"\noutage = \"700 us\"", WITHDRAW)).expect_err("930 us");
    assert!(refused.contains("failure[0].every"), "{refused}");
}

/// A failing link from x to d. The switches s1, s2 and s3 are 1, 2 and 3 links behind x, and have a second path to d of
/// the same length. Each of them has 8 hosts that send to z at d.
fn branches(duration_us: u64) -> String {
    let (mut hosts, mut switches, mut links) = (vec!["z".to_owned()], vec!["x".to_owned(), "d".to_owned()], Vec::new());
    links.extend([("z".to_owned(), "d".to_owned()), ("x".to_owned(), "d".to_owned())]);
    for length in 1..=3 {
        let source = format!("s{length}");
        switches.push(source.clone());
        for number in 0..8 {
            hosts.push(format!("h{length}{number}"));
            links.push((format!("h{length}{number}"), source.clone()));
        }
        for (side, count, end) in [("p", length - 1, "x"), ("q", length, "d")] {
            let within: Vec<String> = (1..=count).map(|number| format!("{side}{length}{number}")).collect();
            let nodes: Vec<String> = [vec![source.clone()], within.clone(), vec![end.to_owned()]].concat();
            links.extend(nodes.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())));
            switches.extend(within);
        }
    }
    let list = |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let spec = "rate = \"100 Gbps\", delay = \"100 ns\"";
    let links: Vec<String> = links.iter().map(|(a, b)| format!("{{ ends = [\"{a}\", \"{b}\"], {spec} }}")).collect();
    format!(
        "name = \"branches\"\nduration = \"{duration_us} us\"\n\
         [topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [{}]\nlinks = [{}]\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"1 MB\" }}\n\
         [[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"1 Gbps\"\n\
         [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"u\"\nsources = [{}]\n\
         destinations = [\"z\"]\n\
         [[failure]]\nlink = \"x<->d\"\nfirst = \"200 us\"\noutage = \"600 us\"\n\
         [recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\n\
         scheme = {{ kind = \"withdraw\", notice = \"50 us\", notice_per_hop = \"100 us\" }}\n",
        list(&hosts),
        list(&switches),
        links.join(", "),
        list(&hosts[1..]),
    )
}

/// The first links of the ways over x.
const TOWARDS_X: [&str; 3] = ["s1->x", "s2->p21", "s3->p31"];

#[test]
fn each_switch_changes_its_paths_when_the_news_has_crossed_the_links_to_it() {
    let before = run(&branches(870));
    let (names, last) = (texts(&before, "links", "link"), times(&before, "links", "last_arrival_ps"));
    for (distance, link) in (1..).zip(TOWARDS_X) {
        // Detected at 230 us. Eight flows of 1 Gb/s send a frame each 12.2 us, and half of them go this way. Packets that
        // circle wait in queues.
        let told_us = 280 + 100 * distance;
        let row = names.iter().position(|name| name == link).expect(link);
        let last_us = last[row] / 1_000_000;
        assert!((told_us - 15..=told_us + 10).contains(&last_us), "{link}: {last_us} us, not {told_us}");
    }
    assert!(before.summary.drops.values().sum::<u64>() > sum(&before, "links", "frames_lost_down"), "nothing circled");
    // The repair is detected at 830 us, and the ends restore their paths at 880.
    for told in 0..4 {
        let after = run(&branches(930 + 100 * told));
        for (distance, link) in (1..).zip(TOWARDS_X) {
            let has_resumed = of_link(&after, link, "frames_sent") > of_link(&before, link, "frames_sent");
            assert_eq!(has_resumed, distance <= told, "{link} at {} us", 930 + 100 * told);
        }
    }
}

#[test]
fn news_that_take_time_give_equal_runs_on_threads_and_from_checkpoints() {
    let text = branches(1_300);
    partitions::compare(&text, &[(2, 1), (usize::MAX, 1)]);
    checkpoints::goes_on(&sound(&text), &[0.2, 0.25, 0.35, 0.7, 0.81]);
}
