//! Settings of some hosts and switches that differ from the others.

use crate::support::{check, leaf_spine, run, texts, times};

fn text(more: &str) -> String {
    let group = |from: &str, to: &str| {
        format!(
            "[[flows]]\nname = \"{from}\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"{from}\"]\n\
             destinations = [\"{to}\"]\nsizes = {{ kind = \"fixed\", bytes = \"1 KB\" }}\nperiod = \"1 ms\"\n\
             count = 2\n"
        )
    };
    let flows = format!("[[transport]]\nname = \"t\"\nkind = \"roce\"\n{}{}", group("h0", "h2"), group("h3", "h1"));
    let fabric = leaf_spine([2, 1, 2], [10, 40]);
    format!(
        "name = \"exceptions\"\nclocks = \"ideal\"\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n{fabric}\
         [switch]\npreset = \"ideal\"\n{more}{flows}"
    )
}

/// The duration of each flow in picoseconds, with its source.
fn durations(more: &str) -> Vec<(String, i64)> {
    let outcome = run(&text(more));
    let started = times(&outcome, "flows", "started_ps");
    let taken =
        times(&outcome, "flows", "finished_ps").iter().zip(started).map(|(finished, started)| finished - started);
    let mut taken: Vec<_> = texts(&outcome, "flows", "source").iter().cloned().zip(taken).collect();
    taken.sort();
    taken
}

#[test]
fn only_the_hosts_of_an_exception_have_its_delays() {
    let plain = durations("");
    for hosts in ["\"h1\", \"h2\"", "\"h1..h2\"", "\"*1\", \"*2\""] {
        let exception = format!(
            "[[host.exceptions]]\nhosts = [{hosts}]\nnetwork_card = {{ send = \"5 us\", receive = \"300 ns\" }}\n"
        );
        let found = durations(&exception);
        for ((source, before), (_, after)) in plain.iter().zip(&found) {
            // Flows go from h0 to h2 and from h3 to h1, so that they share no queue.
            assert_eq!(after - before, 5_300_000, "{source}: {before} and {after} ps");
        }
    }
    let alone = durations("[[host.exceptions]]\nhosts = [\"h0\"]\nnetwork_card = { send = \"50 us\" }\n");
    for ((source, after), (_, before)) in alone.iter().zip(&plain) {
        let expected = if source == "h0" { 50_000_000 } else { 0 };
        assert_eq!(after - before, expected, "{source}: {before} and {after} ps");
    }
}

#[test]
fn exceptions_without_hosts_or_effect_are_refused() {
    let table = [
        ("hosts = [\"h1\"]", "has no effect: give kernel, network_card, tcp_small_queues or nic_queue"),
        ("hosts = [\"gpu*\"]\ntcp_small_queues = false", "no host has a name like 'gpu*'"),
        ("hosts = [\"leaf0\"]\ntcp_small_queues = false", "'leaf0' is a switch, not a host"),
        ("hosts = [\"h1\", \"h*\"]\ntcp_small_queues = false", "h1 is named twice: a host has one exception"),
        ("hosts = [\"h1\"]\ntimer_tick = \"1 ms\"", "timer_tick"),
        (
            "hosts = [\"h1\"]\nnic_queue = \"1121 B\"",
            "must be 1122 B at least: the longest frame has 1102 B, and preamble and gap count too",
        ),
    ];
    for (exception, expected) in table {
        let error = check(&text(&format!("[[host.exceptions]]\n{exception}\n"))).expect_err(exception);
        assert!(error.contains(expected), "{exception}: {error}");
    }
}

#[test]
fn patterns_name_switches() {
    let ports = |switches: &str| {
        text(&format!(
            "[[switch.ports]]\nswitches = [{switches}]\nbuffer = \"20 KB\"\necn = {{ threshold = \"5 KB\" }}\n"
        ))
    };
    let [named, by_pattern] = [ports("\"leaf0\", \"leaf1\""), ports("\"leaf*\"")].map(|text| run(&text));
    assert_eq!(named.summary.trace_hash, by_pattern.summary.trace_hash);
    let error = check(&ports("\"tor*\"")).expect_err("no switch fits");
    assert!(error.contains("there is no switch of this name"), "{error}");
}
