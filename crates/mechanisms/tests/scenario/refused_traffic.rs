//! Messages about invalid transports and flows.

use super::messages::{check_above, check_below, check_rows};

#[test]
fn traffic() {
    check_rows(&[
        (
            "ecn = { threshold = \"65 packets\" }",
            "",
            "transport[0].congestion: DCTCP needs switches that mark, and these do not\nhint: give [switch] \
             ecn = { threshold = \"65 packets\" }, or a mechanism that marks, as afq with ecn_rounds",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = \"bbr\"\npacing = false",
            "transport[0].pacing: BBR is paced: its window is twice what the path holds",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = { kind = \"bbr\", rtprop_window = \"0 ms\" }",
            "transport[0].congestion.rtprop_window: must be above zero",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = { kind = \"bbr\", rtprop_window = \"100 ms\" }",
            "transport[0].congestion.probe_rtt_duration: must be below rtprop_window, or the flow does nothing but \
             probe",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = \"swift\"\necn = true",
            "transport[0].ecn: has no effect: Swift goes by delay and reacts to no marks",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = { kind = \"swift\", fs_max_cwnd = 0.05 }",
            "transport[0].congestion.fs_max_cwnd: must be above fs_min_cwnd",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = { kind = \"swift\", min_cwnd = 50.0, max_cwnd = 43.0 }\ninitial_window = 60",
            "transport[0].congestion.min_cwnd: must not be above max_cwnd",
        ),
        (
            "congestion = \"dctcp\"",
            "congestion = { kind = \"swift\", base_target = \"0 us\" }",
            "transport[0].congestion.base_target: must be above zero",
        ),
        (
            "transport = \"tcp\"",
            "transport = \"tpc\"",
            "flows[0].transport: no [[transport]] has this name\nhint: did you mean \"tcp\"?",
        ),
        ("name = \"queries\"", "name = \"random\"", "flows[1].name: this name is taken"),
        (
            "transport = \"udp\"",
            "transport = \"tcp\"",
            "flows[2].kind: needs a transport of kind \"udp\": others set their own rate",
        ),
        (
            "kind = \"constant-rate\"",
            "kind = \"long\"",
            "flows[2].kind: with a transport of kind \"udp\" this is kind \"constant-rate\"",
        ),
        (
            "rate = \"1 Gbps\"",
            "rate = \"40 Gbps\"",
            "flows[2].transport: its rate (40 Gbps) is above that of the link of h0 (10 Gbps)",
        ),
        ("destinations = [\"h3\"]", "destinations = [\"h0\"]", "flows[2].destinations: h0 would send to itself"),
        (
            "destinations = [\"h3\"]",
            "destinations = [\"h3..h9\"]",
            "flows[2].destinations: there is no node called 'h4'\nhint: known: h0, h1, h2, h3",
        ),
        (
            "destinations = [\"h3\"]",
            "destinations = [\"leaf1\"]",
            "flows[2].destinations: 'leaf1' is a switch, not a host\nhint: known: h0, h1, h2, h3",
        ),
        (
            "load_of = \"host-links\"\n",
            "",
            "flows[0].load_of: must be given: a load is a fraction of some capacity\n\
             hint: \"host-links\", \"leaf-spine-links\" or \"source-host-links\"",
        ),
        ("load = 0.5", "load = 0.0", "flows[0].load: must be above zero"),
        (
            "load = 0.5\nload_of = \"host-links\"\n",
            "",
            "flows[0].load: must be given, with load_of, or flows_per_second instead\n\
             hint: load = 0.5, load_of = \"host-links\"",
        ),
        (
            "websearch_dctcp_hpcc",
            "websearch_dctcp_hpc",
            "flows[0].sizes.table: nothing of this name comes with the program\n\
             hint: did you mean \"websearch_dctcp_hpcc\"?",
        ),
        (
            "kind = \"cdf\", table = \"websearch_dctcp_hpcc\"",
            "kind = \"fixed\", bytes = \"0 B\"",
            "flows[0].sizes.bytes: must be above zero",
        ),
        (
            "kind = \"cdf\", table = \"websearch_dctcp_hpcc\"",
            "kind = \"pareto\", shape = 1, mean = \"30 KB\"",
            "flows[0].sizes: needs a shape above 1, a mean above 0, and a larger largest",
        ),
        (
            "kind = \"incast\"\ntransport = \"roce\"\nfan_in = 3\nsize = \"10 KB\"\nperiod = \"1 ms\"",
            "kind = \"schedule\"\ntransport = \"roce\"\nsizes = { kind = \"fixed\", bytes = \"10 KB\" }\n\
             sources = [\"h0\"]\ndestinations = [\"h1\"]\nperiod = \"0 s\"",
            "flows[1].period: must be above zero",
        ),
        (
            "fan_in = 3",
            "fan_in = 4",
            "flows[1].fan_in: is more than there are servers beside the client\n\
             hint: servers_repeat = true lets a server give several answers",
        ),
        (
            "size = \"10 KB\"\nperiod = \"1 ms\"",
            "size = \"10 KB\"\nload = 0.6\nload_of = \"host-links\"",
            "flows[1].load: the loads on this capacity add up to 1.100, more than there is",
        ),
        (
            "[[link]]",
            "[[transport]]\nname = \"closing\"\nkind = \"tcp\"\nclose = {}\n\n[[flows]]\nname = \"open\"\n\
             kind = \"poisson\"\ntransport = \"closing\"\nconnections = 2\n\
             sizes = { kind = \"fixed\", bytes = \"1 KB\" }\nload = 0.1\nload_of = \"host-links\"\n\n\
             [[link]]",
            "flows[3].kind: its transport closes connections (close), which is for flows of one message each",
        ),
        (
            "load = 0.5",
            "load = 0.5\nflows_per_second = 3",
            "flows[0].flows_per_second: has no effect when a load is given",
        ),
        (
            "period = \"1 ms\"",
            "period = \"1 ms\"\nqueries_per_second = 2",
            "flows[1]: give exactly one of period, queries_per_second, and load with load_of",
        ),
    ]);
    check_above(
        "[[flows]]",
        &[
            ("[[transport]]\nname = \"tcp\"\nkind = \"roce\"", "transport[3].name: this name is taken"),
            (
                "[[transport]]\nname = \"pair\"\nkind = \"packet-pair\"\nsack = false",
                "transport[3].rack_tlp: needs sack = true (RFC 8985, section 3)",
            ),
            (
                "[[transport]]\nname = \"pair\"\nkind = \"packet-pair\"\nbytes_per_round = \"2 MB\"",
                "transport[3].bytes_per_round: must be at most 1048576 B: a round is a few packets",
            ),
            (
                "[[transport]]\nname = \"pair\"\nkind = \"packet-pair\"\nack_delay = \"0 s\"",
                "transport[3].ack_delay: must be above zero",
            ),
            (
                "[[transport]]\nname = \"pair\"\nkind = \"packet-pair\"\nrto_max = \"500 ms\"",
                "transport[3].rto_max: must not be below rto_initial",
            ),
        ],
    );
    check_below(
        "congestion = \"dctcp\"",
        &[
            ("sack = false", "transport[0].rack_tlp: needs sack = true (RFC 8985, section 3)"),
            (
                "sack = false\nrack_tlp = false\ndsack_undo = true",
                "transport[0].dsack_undo: needs sack = true (RFC 2883, section 3)",
            ),
            (
                "close = { jitter = { kind = \"exponential\", mean = \"0 s\" } }",
                "transport[0].close.jitter.mean: must be above zero",
            ),
            (
                "recovery = \"reno\"",
                "transport[0].recovery: needs sack = false: RFC 6675 recovers what is acknowledged selectively\n\
             hint: set sack = false and rack_tlp = false",
            ),
            ("rto_max = \"500 ms\"", "transport[0].rto_max: must not be below rto_initial"),
            ("rto_initial = \"1 ms\"\nrto_max = \"1 ms\"", "transport[0].rto_max: must not be below rto_min"),
            ("ecn = false", "transport[0].ecn: DCTCP reacts to nothing but marks (RFC 8257)"),
            (
                "handshake = true\nknown_rtt = \"30 us\"",
                "transport[0].known_rtt: must be above zero, and without handshake, which measures it",
            ),
        ],
    );
    check_below(
        "kind = \"roce\"",
        &[
            (
                "dcqcn = { alpha_timer = \"50 us\" }",
                "transport[1].dcqcn.alpha_timer: must be above cnp_interval, or alpha decays under congestion",
            ),
            ("dcqcn = { rate_timer = \"0 s\" }", "transport[1].dcqcn.rate_timer: must be above zero"),
            ("timeout = \"0 s\"", "transport[1].timeout: must be above zero"),
            ("mtu = \"0 B\"", "transport[1].mtu: must be from 1 to 9216 B: it is part of an Ethernet frame"),
        ],
    );
    check_below(
        "destinations = [\"h3\"]",
        &[
            ("start = \"2 s\"", "flows[2].start: must be before the run ends (duration)"),
            ("start = \"2 ms\"\nstop = \"1 ms\"", "flows[2].stop: must be after start"),
            (
                "class = 1",
                "flows[2].class: is a class of its own only with more queues: switch.queues_per_port is 1\n\
             hint: classes are counted from 0, one queue for each",
            ),
        ],
    );
}

#[test]
fn frames_and_windows() {
    check_rows(&[
        (
            "congestion = \"dctcp\"",
            "congestion = \"dctcp\"\nmss = \"64 KB\"",
            "transport[0].mss: must be from 1 to 9216 B: it is part of an Ethernet frame",
        ),
        (
            "kind = \"roce\"",
            "kind = \"roce\"\nwindow = 8",
            "transport[1].acknowledge_every: must be at most window, or the sender waits for ever",
        ),
    ]);
}
