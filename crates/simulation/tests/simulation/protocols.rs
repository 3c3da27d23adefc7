//! Protocols compared with values computed by hand: retransmissions after a loss, CUBIC after a trickle, VLAN tags, and
//! packets that never left their host.

use hitless_simulation::Outcome;

use crate::support::{self, drops, dumbbell, ideal, numbers, run, sum};

/// Runs a scenario that reads these files from its own folder.
fn run_with_files(text: &str, name: &str, files: &[(&str, &str)]) -> Outcome {
    let folder = std::env::temp_dir().join(format!("hitless-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    for (file, content) in files {
        std::fs::write(folder.join(file), content).expect("the temporary folder is writable");
    }
    let path = folder.join("scenario.toml").display().to_string();
    let scenario = hitless_scenario::check(text, &path, hitless_mechanisms::builtin());
    let outcome = support::run_scenario(&scenario.unwrap_or_else(|error| panic!("{error}")));
    std::fs::remove_dir_all(folder).expect("it was made here");
    outcome
}

/// Two hosts on one switch without latency.
fn pair(rate: &str, delay: &str) -> String {
    format!(
        "[topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h1\"]\nswitches = [\"s\"]\n\
         links = [{{ ends = [\"h0\", \"s\"], rate = \"{rate}\", delay = \"{delay}\" }}, \
         {{ ends = [\"h1\", \"s\"], rate = \"{rate}\", delay = \"{delay}\" }}]\n[switch]\npreset = \"ideal\"\n"
    )
}

/// A frame among 400 is lost while the card of 10 Gb/s holds the sender back, and no packet is reordered: RACK's timer
/// repairs the loss before a tail loss probe, or a second pass over the same window, retransmits anything else.
#[test]
fn one_loss_under_a_full_card_is_retransmitted_once() {
    let text = format!(
        "name = \"one-loss\"\nduration = \"60 s\"\nuntil = \"all-flows-done\"\n{}\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"newreno\"\nrto_initial = \"200 ms\"\n\
         [[link]]\nname = \"h0->s\"\nloss = {{ kind = \"trace\", file = \"one.losses\", at_end = \"stop\" }}\n\
         [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
         destinations = [\"h1\"]\nsize = \"579200 B\"\ncount = 1\n",
        pair("10 Gbps", "25 us")
    );
    let outcome = run_with_files(&text, "one-loss", &[("one.losses", "67 1\n")]);
    let told = ["packets_retransmitted", "packets_duplicate", "timeouts"].map(|name| sum(&outcome, "flows", name));
    assert_eq!(told, [1, 0, 0], "repetitions, duplicates, timeouts");
}

/// CUBIC after a loss at a window of 3,000 segments and then 40 round trips of a trickle. W_cubic(t) excludes the time
/// during which the application limits the flow (RFC 9438, sections 4.2 and 5.8). With Linux's time, the window jumps.
fn windows_after_a_trickle(time: &str) -> Vec<u64> {
    let text = format!(
        "name = \"trickle\"\nduration = \"60 s\"\nseed = 5\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nreceive_window = \"500 MB\"\ncongestion = {{ kind = \"cubic\", time = \"{time}\" }}\n\
         [[link]]\nname = \"left->right\"\nloss = {{ kind = \"trace\", file = \"one.losses\", at_end = \"stop\" }}\n\
         [topology]\nkind = \"dumbbell\"\nhosts_left = 1\nhosts_right = 1\n\
         host_link = {{ rate = \"100 Gbps\", delay = \"1 us\" }}\n\
         bottleneck = {{ rate = \"10 Gbps\", delay = \"20 ms\" }}\n{}\
         [[flows]]\nname = \"f\"\nkind = \"poisson\"\ntransport = \"t\"\nconnections = 1\n\
         flows_per_second = 400\nsources = [\"h0\"]\ndestinations = [\"h1\"]\n\
         sizes = {{ kind = \"cdf\", table = \"trickle.txt\" }}\n\
         [[measure.flow]]\ngroup = \"f\"\nperiod = \"40.002 ms\"\n",
        support::ideal("100000 packets")
    );
    let files = [("one.losses", "3000 1\n"), ("trickle.txt", "1448 0.9995\n30000000 0.9995\n30000001 1\n")];
    let outcome = run_with_files(&text, &format!("trickle-{time}"), &files);
    let windows: Vec<u64> =
        numbers(&outcome, "flow_progress", "cwnd_bytes").iter().map(|bytes| bytes / 1_448).collect();
    // The trickle is the first period of more than two seconds with a constant window above 1,000 segments.
    let still = windows.windows(50).position(|part| part[0] > 1_000 && part.iter().all(|&window| window == part[0]));
    let begins = still.expect("there is a trickle after the loss");
    let ends = begins + windows[begins..].iter().position(|&window| window != windows[begins]).expect("it ends");
    windows[ends - 1..].to_vec()
}

#[test]
fn cubic_does_not_jump_after_a_time_in_which_the_application_was_the_limit() {
    let windows = windows_after_a_trickle("rfc9438");
    let (before, after) = (windows[0], windows[3]);
    assert!((1_880..1_920).contains(&before), "{before} segments before");
    // Three more round trips of the concave region, at 7 to 9 segments each as before the trickle.
    assert!((15..35).contains(&(after - before)), "from {before} to {after} segments in three round trips");
    let windows = windows_after_a_trickle("linux");
    assert!(windows[3] - windows[0] > 400, "Linux: from {} to {} segments", windows[0], windows[3]);
}

/// A segment of 1,000 bytes over two links of 100 Gb/s and 1 us. On each link it takes a frame of 1,070 bytes, 4 bytes
/// of tag, and 20 bytes of preamble and gap.
#[test]
fn a_tag_is_four_bytes_on_every_link() {
    for (vlan, frame_bytes, fct_ps) in [(0, 1_070, 2_174_400), (100, 1_074, 2_175_040)] {
        let text = format!(
            "name = \"tagged\"\nclocks = \"ideal\"\nduration = \"1 ms\"\n{}[[transport]]\nname = \"t\"\nkind = \"tcp\"\n\
             [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nvlan = {vlan}\nsources = [\"h0\"]\n\
             destinations = [\"h1\"]\nsize = \"1000 B\"\ncount = 1\n",
            pair("100 Gbps", "1 us")
        );
        let outcome = support::run(&text);
        for link in ["h0->s", "s->h1"] {
            assert_eq!(support::of_link(&outcome, link, "arrived_bytes"), frame_bytes, "VLAN {vlan}, {link}");
        }
        // Acknowledgements are tagged too.
        assert_eq!(support::of_link(&outcome, "h1->s", "arrived_bytes"), if vlan == 0 { 70 } else { 74 });
        assert_eq!(support::times(&outcome, "messages", "delivered_ps"), [fct_ps], "VLAN {vlan}");
    }
}

/// Every transport's frames are longer by a tag, and a rate on the wire includes it.
#[test]
fn every_transport_is_tagged() {
    let transports = [
        ("kind = \"udp\"\nrate = \"10 Gbps\"\nframe_bytes = \"1000 B\"", 1_000),
        ("kind = \"roce\"", 1_024 + 78),
        ("kind = \"packet-pair\"", 1_448 + 70),
    ];
    for (transport, frame_bytes) in transports {
        let size = frame_bytes
            - if transport.contains("udp") {
                46
            } else if transport.contains("roce") {
                78
            } else {
                70
            };
        let text = |vlan: u16| {
            format!(
                "name = \"tagged\"\nduration = \"1 ms\"\n{}[[transport]]\nname = \"t\"\n{transport}\n\
                 [[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nvlan = {vlan}\nsources = [\"h0\"]\n\
                 destinations = [\"h1\"]\nperiod = \"1 ms\"\ncount = 1\n\
                 sizes = {{ kind = \"fixed\", bytes = \"{} B\" }}\n",
                pair("100 Gbps", "1 us"),
                4 * size
            )
        };
        for (vlan, tag_bytes) in [(0, 0), (7, 4)] {
            let outcome = support::run(&text(vlan));
            let (frames, bytes) =
                ["frames_arrived", "arrived_bytes"].map(|column| support::of_link(&outcome, "s->h1", column)).into();
            assert_eq!((frames, bytes), (4, 4 * (frame_bytes + tag_bytes)), "{transport}, VLAN {vlan}");
        }
    }
}

/// 98 Gb/s of datagrams through a card of 10 Gb/s: the sender's own card drops almost all of them.
#[test]
fn frames_that_their_own_card_drops_are_in_the_tables() {
    let text = "name = \"own-card\"\nduration = \"5 ms\"\n\
        [topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h1\"]\nswitches = [\"s\"]\n\
        links = [{ ends = [\"h0\", \"s\"], rate = \"10 Gbps\", delay = \"1 us\" }, \
        { ends = [\"h1\", \"s\"], rate = \"100 Gbps\", delay = \"1 us\" }]\n[switch]\npreset = \"ideal\"\n\
        [host]\nnic_queue = \"4 packets\"\ntcp_small_queues = false\n\
        [[transport]]\nname = \"t\"\nkind = \"tcp\"\ninitial_window = 40\n\
        [[flows]]\nname = \"f\"\nkind = \"requests\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
        destinations = [\"h1\"]\nsize = \"57920 B\"\ncount = 1\n";
    let outcome = support::run(text);
    let lost = support::drops(&outcome, "network card full");
    assert!(lost >= 36, "{lost} of 40 frames found no room");
    assert_eq!(sum(&outcome, "flows", "frames_dropped_by_nic"), lost);
    assert_eq!(sum(&outcome, "drops", "packets"), lost);
    assert_eq!(sum(&outcome, "drops", "bytes"), lost * 1_518);
    let names =
        ["switch", "host", "group", "reason"].map(|column| support::texts(&outcome, "drops", column)[0].as_str());
    assert_eq!(names, ["", "h0", "f", "network card full"]);
}

fn listed(settings: &str, list: &str) -> Outcome {
    let text = format!(
        "name = \"list\"\nduration = \"1 s\"\nuntil = \"all-flows-done\"\n{}\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nmss = \"1000 B\"\n\
         [[flows]]\nname = \"f\"\nkind = \"list\"\ntransport = \"t\"\nfile = \"b.flows\"\n{settings}\n",
        pair("100 Gbps", "1 us")
    );
    run_with_files(&text, &format!("list-{}", settings.len()), &[("b.flows", list)])
}

#[test]
fn sizes_of_a_list_are_bytes_unless_it_counts_packets() {
    let sizes = |settings| {
        let outcome = listed(settings, "\u{feff}# source destination size start_ns\r\n0 1 200123 0\r\n");
        (numbers(&outcome, "messages", "bytes")[0], numbers(&outcome, "flows", "packets_sent")[0])
    };
    // The transport segments into packets of 1,000 bytes here, in whatever unit the list is.
    assert_eq!(sizes(""), (200_123, 201));
    assert_eq!(sizes("packet_bytes = \"3 B\""), (600_369, 601));
}

#[test]
fn a_list_without_a_flow_in_the_run_is_warned_of() {
    let warnings = |list| listed("", list).summary.warnings;
    let expected = ["f: no flow of b.flows starts before the run ends"];
    assert_eq!(warnings("# nothing\n"), expected);
    assert_eq!(warnings("0 1 5 2000000000\n"), expected);
    assert_eq!(warnings("0 1 5 0\n"), Vec::<String>::new());
}

/// Failures of a file are equivalent to `[[failure]]`, and the effective configuration lists them as such.
#[test]
fn failures_come_from_a_file_too() {
    let text = |failures: &str| {
        format!(
            "name = \"failures\"\nduration = \"2 ms\"\n{failures}\n{}{}[[transport]]\nname = \"t\"\nkind = \"udp\"\n\
             rate = \"5 Gbps\"\n[[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
             destinations = [\"h1\"]\n",
            support::dumbbell(1, "1 us", "1 us"),
            support::ideal("1 MB"),
        )
    };
    let file =
        [("a.failures", "\u{feff}# link first_ns outage_ns\nleft<->right 100000 50000\nleft<->right 900000 20000\n")];
    let read = run_with_files(&text("failure_file = \"a.failures\""), "failures", &file);
    let written = support::run(
        &(text("").replace("[[transport]]", "") + "").replace("name = \"t\"", "[[transport]]\nname = \"t\"").replacen(
            "[[flows]]",
            "[[failure]]\nlink = \"left<->right\"\nfirst = \"100 us\"\noutage = \"50 us\"\n\
             [[failure]]\nlink = \"left<->right\"\nfirst = \"900 us\"\noutage = \"20 us\"\n[[flows]]",
            1,
        ),
    );
    assert_eq!(numbers(&read, "failures", "frames_lost").len(), 2);
    assert_eq!(read.summary.trace_hash, written.summary.trace_hash);
    assert_eq!(read.tables, written.tables);
    assert_eq!(read.summary.warnings, Vec::<String>::new());
    let nothing = [("a.failures", "# link first_ns outage_ns\n")];
    let none = run_with_files(&text("failure_file = \"a.failures\""), "no-failures", &nothing);
    assert_eq!(none.summary.warnings, ["failure_file: a.failures lists no failure"]);
}

#[test]
fn a_wrong_line_of_a_failure_file_is_named() {
    let folder = std::env::temp_dir().join(format!("hitless-wrong-failures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let told = |list: &str| {
        std::fs::write(folder.join("a.failures"), list).expect("the temporary folder is writable");
        let text = format!(
            "\u{feff}name = \"f\"\nduration = \"2 ms\"\nfailure_file = \"a.failures\"\n{}{}",
            support::dumbbell(1, "1 us", "1 us"),
            support::ideal("1 MB")
        );
        let path = folder.join("scenario.toml").display().to_string();
        let error = hitless_scenario::check(&text, &path, hitless_mechanisms::builtin()).expect_err(list);
        error.to_string()
    };
    assert!(told("left<->right 1\n").contains("a.failures, line 1: must be `link first_ns outage_ns`"));
    let unknown = told("left<->right 5 1\nleft<->wrong 5 1\n");
    assert!(unknown.contains("failure_file[2].link") && unknown.contains("'wrong'"), "{unknown}");
    let unrepaired = told("left<->right 5 -\n");
    assert!(unrepaired.contains("failure_file[1].outage"), "{unrepaired}");
    std::fs::remove_dir_all(folder).expect("it was made here");
}

/// DCTCP keeps the bottleneck busy with marks at enqueue or at dequeue, although the marks differ.
#[test]
fn dctcp_goes_by_marks_from_either_end_of_the_queue() {
    let run = |at: &str| {
        support::run(&format!(
            "name = \"marks\"\nduration = \"20 ms\"\n{}{}ecn = {{ threshold = \"30 KB\", at = \"{at}\" }}\n\
             [[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"dctcp\"\nrto_min = \"5 ms\"\n\
             [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\", \"h1\"]\n\
             destinations = [\"h2\", \"h3\"]\n",
            support::dumbbell(2, "5 us", "20 us"),
            support::ideal("1 MB"),
        ))
    };
    let [enqueue, dequeue] = ["enqueue", "dequeue"].map(run);
    for outcome in [&enqueue, &dequeue] {
        assert!(sum(outcome, "flows", "packets_marked") > 100);
        let delivered = sum(outcome, "flows", "delivered_bytes") as f64 * 8.0 / 20e-3;
        assert!(delivered > 9e9, "{delivered} b/s of 10 Gb/s");
        assert_eq!(outcome.summary.drops.values().sum::<u64>(), 0);
    }
    assert_ne!(enqueue.summary.trace_hash, dequeue.summary.trace_hash);
}

/// The effective DCQCN parameters of a scenario, or its refusal.
fn dcqcn(written: &str) -> Result<String, String> {
    let text = format!(
        "name = \"dcqcn\"\nduration = \"1 ms\"\n{}ecn = {{ threshold = \"20 KB\" }}\n[[transport]]\nname = \"t\"\n\
         kind = \"roce\"\ntimeout = \"2 ms\"\ndcqcn = {written}\n[[flows]]\nname = \"f\"\nkind = \"long\"\n\
         transport = \"t\"\nsources = [\"h0\"]\ndestinations = [\"h1\"]\n",
        pair("100 Gbps", "1 us")
    );
    let scenario = support::check(&text)?;
    let effective = scenario.effective_toml();
    assert_eq!(support::sound(&effective), scenario, "the effective configuration is read back");
    let at = effective.find("[transport.dcqcn]").expect("it is there");
    Ok(effective[at..].split("\n\n").next().expect("a table ends").to_owned())
}

#[test]
fn dcqcn_has_presets_by_name_with_or_without_other_values() {
    assert_eq!(dcqcn("\"vendor\""), dcqcn("{ preset = \"vendor\" }"));
    assert_eq!(dcqcn("{}"), dcqcn("\"paper\""));
    let vendor = dcqcn("\"vendor\"").expect("it is sound");
    for line in ["alpha_timer = \"1 us\"", "decrease_interval = \"4 us\"", "rate_timer = \"300 us\"", "\"1 Gbps\""] {
        assert!(vendor.contains(line), "{vendor}");
    }
    let paper = dcqcn("{}").expect("it is sound");
    assert!(paper.contains("cnp_interval = \"50 us\"") && paper.contains("minimum_rate = \"10 Mbps\""), "{paper}");
    let changed = dcqcn("{ preset = \"vendor\", minimum_rate = \"200 Mbps\" }").expect("it is sound");
    assert_eq!(changed, vendor.replace("minimum_rate = \"1 Gbps\"", "minimum_rate = \"200 Mbps\""));
}

#[test]
fn a_wrong_preset_of_dcqcn_is_named() {
    let refused = dcqcn("\"vendr\"").expect_err("there is none");
    assert!(refused.contains("\"paper\", \"vendor\"") && refused.contains("did you mean \"vendor\"?"), "{refused}");
    let refused = dcqcn("5").expect_err("a number is none");
    assert!(refused.contains("dcqcn"), "{refused}");
}

/// Two flows of each preset share a marking port, which loses no packet and stays busy.
#[test]
fn dcqcn_of_either_preset_holds_a_queue() {
    for preset in ["paper", "vendor"] {
        let outcome = support::run(&format!(
            "name = \"dcqcn\"\nduration = \"20 ms\"\n{}{}\
             ecn = {{ threshold = \"100 KB\", maximum = \"400 KB\", probability = 0.2 }}\n[[transport]]\nname = \"t\"\n\
             kind = \"roce\"\ntimeout = \"2 ms\"\ndcqcn = \"{preset}\"\nwindow = 8000\n[[flows]]\nname = \"f\"\n\
             kind = \"long\"\ntransport = \"t\"\nsources = [\"h0\", \"h1\"]\ndestinations = [\"h2\", \"h3\"]\n",
            support::dumbbell(2, "1 us", "1 us"),
            support::ideal("4 MB"),
        ));
        assert_eq!(support::drops(&outcome, "queue full"), 0, "{preset}");
        assert!(sum(&outcome, "flows", "packets_marked") > 10, "{preset}");
        let delivered = sum(&outcome, "flows", "delivered_bytes") as f64 * 8.0 / 20e-3;
        assert!(delivered > 5e9, "{preset}: {delivered} b/s of 10 Gb/s");
    }
}

#[test]
fn datagrams_that_waited_in_a_full_queue_or_on_long_cables_are_received() {
    // Two senders fill a queue of 2.5 MB, which takes 2 ms to leave. Five cables of 400 us take as long.
    let late = |delay: &str, stop: &str, linger: &str| {
        let (fabric, switch) = (dumbbell(2, delay, delay), ideal("4 MB"));
        let outcome = run(&format!(
            "name = \"late\"\nduration = \"20 ms\"\n{fabric}{switch}\
             [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"10 Gbps\"\n{linger}\n\
             [[flows]]\nname = \"burst\"\nkind = \"constant-rate\"\ntransport = \"udp\"\nstop = \"{stop}\"\n\
             sources = [\"h0\", \"h1\"]\ndestinations = [\"h2\", \"h3\"]\n"
        ));
        drops(&outcome, "arrived after the end of the flow")
    };
    for (delay, stop) in [("1 us", "2 ms"), ("400 us", "50 us")] {
        assert_eq!(late(delay, stop, ""), 0, "{delay}");
        assert!(late(delay, stop, "linger = \"1 ms\"") > 0, "{delay}");
    }
}
