//! What each mechanism needs to run at all, and what it may cost.

/// In which a mechanism runs. The plain forwarding that it is compared with runs in the same, but always with switches
/// that mark and with DCTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    pub preset: &'static str,
    pub buffer: &'static str,
    pub host: &'static str,
    pub congestion: &'static str,
    /// Whether the switches mark; else the mechanism tells senders of congestion.
    pub marks: bool,
}

const PLAIN: Surroundings = Surroundings {
    preset: "ideal",
    buffer: "{ kind = \"static\", per_port = \"500 KB\" }",
    host: "",
    congestion: "dctcp",
    marks: true,
};
const SHARED_BUFFER: &str = "{ kind = \"shared\", total = \"4 MB\", alpha = 1.0 }";
/// Ranks are of use to those that look at them.
const RANKED: Surroundings = Surroundings { host: "priority_tagger = { by = \"remaining-bytes\" }", ..PLAIN };
/// Queues by rank send the end of a message before its beginning.
const ORDERED: Surroundings = Surroundings {
    host: "priority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"100 us\" }",
    ..PLAIN
};
const LINK: &str = "link = \"left->right\"";

/// What it does to traffic is up to a program: tests/simulator/test_p4.py compares forwarding in P4 with routing.
pub const OF_A_PROGRAM: &str = "p4";

/// The least that a mechanism runs with: kind, settings, surroundings. A mechanism that is not here fails the test.
pub const MINIMAL: [(&str, &str, Surroundings); 16] = [
    ("linkguardian", LINK, PLAIN),
    ("link-layer-retry", LINK, PLAIN),
    ("wharf", LINK, PLAIN),
    ("sqr", "links = [\"left->right\"]", Surroundings { preset: "tofino-like", ..PLAIN }),
    ("afq", "ecn_rounds = 8", Surroundings { marks: false, ..PLAIN }),
    ("rimm", "", PLAIN),
    ("dibs", "", PLAIN),
    ("simple-deflection", "", RANKED),
    ("preemptive-deflection", "", RANKED),
    ("aifo", "", RANKED),
    ("pabo", "", RANKED),
    ("rank-guard", "", RANKED),
    ("vertigo", "", ORDERED),
    ("trimming", "", PLAIN),
    ("bolt", "", Surroundings { congestion: "bolt", marks: false, ..PLAIN }),
    ("every-nth", "mark_every = 1000", PLAIN),
];

/// A variant that the check of scenarios refuses by itself, and what it needs.
pub struct Companion {
    pub kind: &'static str,
    pub variant: &'static str,
    /// What the check says of it alone.
    pub refused: &'static str,
    pub settings: &'static str,
    pub buffer: Option<&'static str>,
}

const SHARED: Companion = Companion { kind: "", variant: "", refused: "", settings: "", buffer: Some(SHARED_BUFFER) };
const BY_THRESHOLD: Companion =
    Companion { variant: "capacity=current-threshold", refused: "is what a shared buffer grants", ..SHARED };

pub const COMPANIONS: [Companion; 6] = [
    Companion { kind: "afq", variant: "adaptive given", refused: "adapts to the room in a shared buffer", ..SHARED },
    Companion {
        kind: "afq",
        variant: "occupancy given",
        refused: "has no effect without round = \"from-occupancy\"",
        settings: "round = \"from-occupancy\"",
        buffer: None,
    },
    Companion {
        kind: "afq",
        variant: "sketch.update=increment",
        refused: "is too short for the update \"increment\"",
        settings: "idle_round = \"line-rate\"\nsketch = { update = \"increment\", bid_bits = 64 }",
        buffer: None,
    },
    Companion { kind: "preemptive-deflection", ..BY_THRESHOLD },
    Companion { kind: "aifo", ..BY_THRESHOLD },
    Companion { kind: "pabo", ..BY_THRESHOLD },
];

/// What a mechanism may cost, and why.
pub struct Cost {
    pub kind: &'static str,
    /// The only variant that may; empty: all.
    pub variant: &'static str,
    /// Share of the bytes that are not delivered in the time.
    pub bytes: f64,
    /// By how much messages take longer in the mean, as a share.
    pub time: f64,
    /// Why; what the test prints when it is more.
    pub reason: &'static str,
}

/// What any mechanism may cost: headers of a few bytes, a pause now and then, another order at the bottleneck.
pub const ANY: Cost = Cost { kind: "", variant: "", bytes: 0.02, time: 0.02, reason: "nothing but headers" };

pub const COSTS: [Cost; 3] = [
    Cost {
        kind: "wharf",
        variant: "",
        bytes: 0.19,
        time: 0.5,
        reason: "5 parity frames for 25 data frames are 1/6 of the line: 20 % more frames to send, and in a queue with \
                 a load of 0.6 instead of 0.5 packets wait 50 % longer (M/D/1)",
    },
    Cost {
        kind: "vertigo",
        variant: "",
        bytes: 0.02,
        time: 0.25,
        reason: "by remaining bytes the beginning of a message waits for the ends of all others: with messages of one \
                 size the mean grows (with one rank for all it falls by 10 %, with Pareto sizes by 29 %)",
    },
    Cost {
        kind: "sqr",
        variant: "",
        bytes: 0.02,
        time: 0.03,
        reason: "ports read the copies of the ring beside their own packets: at most an eleventh of a busy port's time \
                 (figure 14), 2.7 % for a message that fills the line",
    },
];

impl Cost {
    /// What a variant of a mechanism may cost.
    pub fn of(kind: &str, variant: &str) -> &'static Cost {
        let applies = |cost: &&Cost| cost.kind == kind && (cost.variant.is_empty() || cost.variant == variant);
        COSTS.iter().find(applies).unwrap_or(&ANY)
    }
}
