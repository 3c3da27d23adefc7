//! The requirements of each mechanism, and its allowed cost.

/// The surroundings of a mechanism. Plain forwarding, as the reference, runs in the same ones but always with marking
/// switches and DCTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    pub preset: &'static str,
    pub buffer: &'static str,
    pub host: &'static str,
    pub congestion: &'static str,
    /// Whether the switches mark; if not, the mechanism signals congestion itself.
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
/// For mechanisms that use ranks.
const RANKED: Surroundings = Surroundings { host: "priority_tagger = { by = \"remaining-bytes\" }", ..PLAIN };
/// Queues sorted by rank send the end of a message before its beginning, so the hosts restore the order.
const ORDERED: Surroundings = Surroundings {
    host: "priority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"100 us\" }",
    ..PLAIN
};
const LINK: &str = "link = \"left->right\"";

/// The effect of this kind depends on its program: tests/simulator/test_p4.py compares forwarding in P4 with routing.
pub const OF_A_PROGRAM: &str = "p4";

/// The minimal configuration of each mechanism: kind, settings, surroundings. The test fails for a mechanism that is
/// missing here.
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

/// A variant that the check of scenarios refuses on its own, and its companion settings.
pub struct Companion {
    pub kind: &'static str,
    pub variant: &'static str,
    /// The error message of the check without the companion.
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

/// The allowed cost of a mechanism, with the reason.
pub struct Cost {
    pub kind: &'static str,
    /// The only variant with this cost; empty for all.
    pub variant: &'static str,
    /// Share of the bytes not delivered within the duration.
    pub bytes: f64,
    /// Relative increase of the mean message time.
    pub time: f64,
    /// The reason; the test prints it if the cost is exceeded.
    pub reason: &'static str,
}

/// Allowed for any mechanism: headers of a few bytes, occasional pauses, a different order at the bottleneck.
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
    /// The allowed cost of a variant of a mechanism.
    pub fn of(kind: &str, variant: &str) -> &'static Cost {
        let applies = |cost: &&Cost| cost.kind == kind && (cost.variant.is_empty() || cost.variant == variant);
        COSTS.iter().find(applies).unwrap_or(&ANY)
    }
}
