//! Changes of a scenario that must leave its results equal, or change them by a known amount, to the picosecond.

use super::{messages, star};
use crate::support::{self, run};

const TCP: &str = "[[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"dctcp\"\n";
const POISSON: &str = "[[flows]]\nname = \"f\"\nkind = \"poisson\"\ntransport = \"t\"\n\
                       flows_per_second = 45000\nsizes = { kind = \"fixed\", bytes = \"40 KB\" }\ncount = 200\n\
                       sources = [\"a\", \"b\", \"c\"]\ndestinations = [\"d\"]\n";

fn base(hosts: &[&str], top: &str, more: &str) -> String {
    let switch = star(hosts, 10, "60 KB");
    format!(
        "name = \"relation\"\nuntil = \"all-flows-done\"\n{top}{switch}ecn = {{ threshold = \"20 packets\" }}\n{TCP}{POISSON}{more}"
    )
}

const HOSTS: [&str; 4] = ["a", "b", "c", "d"];

#[test]
fn an_idle_host_changes_nothing() {
    let plain = messages(&run(&base(&HOSTS, "", "")));
    assert_eq!(plain.len(), 200);
    assert_eq!(plain, messages(&run(&base(&["a", "b", "c", "d", "idle"], "", ""))), "at the end of the list");
    assert_eq!(plain, messages(&run(&base(&["idle", "a", "b", "c", "d"], "", ""))), "at its beginning");
}

#[test]
fn a_loss_rate_of_zero_and_measurements_change_nothing() {
    let plain = messages(&run(&base(&HOSTS, "", "")));
    for more in [
        "[[link]]\nname = \"a->s\"\nloss = { kind = \"bernoulli\", rate = 0.0 }\n",
        "[[link]]\nname = \"a->s\"\nloss = { kind = \"none\" }\n",
        "[measure]\norder = true\nthroughput = [{ links = [\"s->d\"], period = \"10 us\" }]\n",
        "[measure]\nqueue = [{ ports = [\"s->d\"], period = \"1 us\" }]\n",
    ] {
        assert_eq!(plain, messages(&run(&base(&HOSTS, "", more))), "{more}");
    }
}

#[test]
fn a_mechanism_that_never_acts_changes_nothing() {
    let plain = messages(&run(&base(&HOSTS, "clocks = \"ideal\"\n", "")));
    let mechanism = "[[mechanism]]\nkind = \"every-nth\"\nports = [\"s->d\"]\ndrop_every = 1000000\n";
    assert_eq!(plain, messages(&run(&base(&HOSTS, "clocks = \"ideal\"\n", mechanism))));
}

/// Two leaves and two spines with ample buffers, and requests between the leaves.
fn calm_fabric(transport: &str, mechanism: &str) -> String {
    format!(
        "name = \"calm\"\nuntil = \"all-flows-done\"\nclocks = \"ideal\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"40 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"tofino-like\"\ndepth_visible = \"ingress-and-egress\"\n\
         buffer = {{ kind = \"static\", per_port = \"4 MB\" }}\n\
         [host]\npriority_tagger = {{ by = \"remaining-bytes\" }}\ntime_to_live = 250\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nsize = \"30 KB\"\ncount = 20\n\
         sources = [\"h0\", \"h1\"]\ndestinations = [\"h2\", \"h3\"]\n{mechanism}"
    )
}

const CALM_TRANSPORTS: [&str; 2] = ["kind = \"roce\"", "kind = \"tcp\"\ncongestion = \"newreno\""];

#[test]
fn a_mechanism_with_nothing_to_do_changes_no_time() {
    for transport in CALM_TRANSPORTS {
        let plain = messages(&run(&calm_fabric(transport, "")));
        assert_eq!(plain.len(), 40);
        for entry in [
            "kind = \"simple-deflection\"",
            "kind = \"preemptive-deflection\"",
            "kind = \"dibs\"",
            "kind = \"pabo\"",
            "kind = \"vertigo\"",
            "kind = \"aifo\"",
            "kind = \"afq\"",
            "kind = \"rank-guard\"",
            "kind = \"link-layer-retry\"\nlink = \"leaf0->spine0\"",
        ] {
            let with_it = messages(&run(&calm_fabric(transport, &format!("[[mechanism]]\n{entry}\n"))));
            assert_eq!(plain, with_it, "{entry}, {transport}");
        }
    }
}

/// A 3-byte header takes 0.6 ns at 40G; a request of 30 KB has at most 30 of them in each direction.
#[test]
fn linkguardian_without_losses_delays_a_message_by_its_headers_only() {
    let mechanism = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine0\"\n";
    for transport in CALM_TRANSPORTS {
        let plain = messages(&run(&calm_fabric(transport, "")));
        let with_it = messages(&run(&calm_fabric(transport, mechanism)));
        for (before, after) in plain.iter().zip(with_it) {
            let later = (after.3 - after.2) - (before.3 - before.2);
            assert!((0..=60 * 600).contains(&later), "{later} ps later: {after:?}, {transport}");
        }
    }
}

#[test]
fn names_change_nothing_where_clocks_are_ideal() {
    let plain = messages(&run(&base(&HOSTS, "clocks = \"ideal\"\n", "")));
    let renamed = base(&HOSTS, "clocks = \"ideal\"\n", "").replace("\"s\"", "\"another\"");
    assert_eq!(plain, messages(&run(&renamed)));
}

/// Rates and times that remain integers after scaling by 2; timers are part of the scenario.
#[test]
fn twice_the_rates_and_half_of_the_times_halve_every_result() {
    let text = |gbps: u32, half: u64| {
        let us = |us: u64| format!("{} ns", us * 1_000 / half);
        format!(
            "name = \"scaled\"\nuntil = \"all-flows-done\"\nclocks = \"ideal\"\n\
             [topology]\nkind = \"graph\"\nhosts = [\"a\", \"b\", \"c\"]\nswitches = [\"s\"]\n\
             links = [{}]\n{}\
             [[transport]]\nname = \"r\"\nkind = \"roce\"\ntimeout = \"{}\"\n\
             [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"r\"\nsize = \"300 KB\"\ncount = 20\n\
             sources = [\"a\", \"b\"]\ndestinations = [\"c\", \"c\"]\n",
            // Different delays, so that no two frames arrive at the same time and none is ordered at random.
            [("a", 4), ("b", 6), ("c", 4)]
                .map(|(host, delay)| format!(
                    "{{ ends = [\"{host}\", \"s\"], rate = \"{gbps} Gbps\", delay = \"{}\" }}",
                    us(delay)
                ))
                .join(", "),
            support::ideal("100 KB"),
            us(1_000),
        )
    };
    let (slow, fast) = (messages(&run(&text(10, 1))), messages(&run(&text(20, 2))));
    assert_eq!(slow.len(), 40);
    let halved: Vec<_> = slow.into_iter().map(|(a, b, start, end)| (a, b, start / 2, end / 2)).collect();
    assert_eq!(halved, fast);
}

#[test]
fn a_switch_without_delay_in_the_middle_of_a_chain_adds_the_time_of_one_frame() {
    let text = |switches: &[&str]| {
        let ends: Vec<&str> = ["a"].iter().chain(switches).chain(["b"].iter()).copied().collect();
        let middle = 4_000 / (switches.len() as u64 - 1);
        let link = |pair: &[&str]| {
            let delay = if pair[0] == "a" || pair[1] == "b" { 1_000 } else { middle };
            format!("{{ ends = [\"{}\", \"{}\"], rate = \"10 Gbps\", delay = \"{delay} ns\" }}", pair[0], pair[1])
        };
        let links: Vec<String> = ends.windows(2).map(link).collect();
        let names: Vec<String> = switches.iter().map(|name| format!("\"{name}\"")).collect();
        format!(
            "name = \"chain\"\nuntil = \"all-flows-done\"\nclocks = \"ideal\"\n\
             [topology]\nkind = \"graph\"\nhosts = [\"a\", \"b\"]\nswitches = [{}]\nlinks = [{}]\n{}\
             [[transport]]\nname = \"r\"\nkind = \"roce\"\n\
             [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"r\"\nsize = \"1000 B\"\ncount = 5\n\
             sources = [\"a\"]\ndestinations = [\"b\"]\n",
            names.join(", "),
            links.join(", "),
            support::ideal("100 KB")
        )
    };
    let direct = messages(&run(&text(&["s0", "s1"])));
    let split = messages(&run(&text(&["s0", "s2", "s1"])));
    let took = |rows: &[(String, String, i64, i64)]| rows.iter().map(|row| row.3 - row.2).collect::<Vec<_>>();
    let added: Vec<i64> = took(&split).iter().zip(took(&direct)).map(|(split, direct)| split - direct).collect();
    let frame_ps = added[0];
    assert!(frame_ps > 0 && frame_ps % 800 == 0, "{frame_ps} ps");
    assert_eq!(added, vec![frame_ps; 5]);
}
