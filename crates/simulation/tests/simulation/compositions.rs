//! Pairs of mechanisms in one switch are either refused with a message or run without violating an invariant. The swarm
//! (tools/swarm) draws all other combinations.

use std::collections::BTreeSet;

use hitless_simulation::Outcome;
use proptest::prelude::*;

use crate::support;

const SCHEDULERS: [&str; 5] = [
    "",
    "scheduler = \"strict\"\nqueues_per_port = 2",
    "scheduler = \"drr\"\nqueues_per_port = 30",
    "flow_queueing = { kind = \"drr\" }",
    "flow_queueing = { kind = \"fq-codel\" }",
];
const LOSSY_LINK: &str = "[[link]]\nname = \"left->right\"\nloss = { kind = \"bernoulli\", rate = 0.01 }\n";
const BUFFERS: [&str; 3] = [
    "buffer = { kind = \"static\", per_port = \"300 KB\" }",
    "buffer = { kind = \"static\", per_port = \"30 KB\" }",
    "buffer = { kind = \"shared\", total = \"4 MB\", alpha = 1.0 }",
];
const HOSTS: [&str; 5] = [
    "",
    "[host]\npriority_tagger = { by = \"remaining-bytes\" }\n",
    "[host]\npriority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"100 us\" }\n",
    "[host]\npriority_tagger = { by = \"attained-service\" }\nreorder_buffer = { timeout = \"100 us\" }\n",
    "[host]\npriority_tagger = { by = \"attained-service\", flowlet_gap = \"20 us\" }\nreorder_buffer = { timeout = \"100 us\" }\n",
];
const TRANSPORTS: [&str; 4] = [
    "kind = \"tcp\"\ncongestion = \"cubic\"\n",
    "kind = \"tcp\"\ncongestion = \"newreno\"\nsack = false\nrack_tlp = false\nhandshake = true\n\
     rto_min = \"300 us\"\n",
    BOLT_TRANSPORT,
    "kind = \"packet-pair\"\nrto_min = \"300 us\"\n",
];
const BOLT_TRANSPORT: &str = "kind = \"tcp\"\ncongestion = \"bolt\"\nrto_min = \"300 us\"\n";
/// Kind and settings of every switch mechanism.
const MECHANISMS: [(&str, &str); 36] = [
    ("afq", ""),
    ("afq", "ports = [\"left->right\"]"),
    ("afq", "ports = [\"left\"]\nqueues = 63"),
    ("afq", "queues = 62\nmeasure_estimation = true"),
    ("afq", "scheduler = { kind = \"two-groups\" }"),
    ("afq", "adaptive = {}"),
    ("afq", "classes = [0]\nqueues = 20"),
    ("afq", "round = \"from-occupancy\"\nscheduler = { kind = \"deficit-round-robin\" }"),
    ("dibs", "ports = [\"left->right\"]"),
    ("dibs", "to_arrival_port = false\nports = [\"right\"]"),
    ("dibs", "to_full_ports = true"),
    ("simple-deflection", "occupancy = { kind = \"update-gap\" }"),
    ("simple-deflection", "occupancy = { kind = \"control-packets\", packets = 40 }\nports = [\"left\"]"),
    ("preemptive-deflection", "candidates = 2\nmemory = true\nalpha = 0.9"),
    ("preemptive-deflection", "capacity = { kind = \"current-threshold\" }"),
    ("preemptive-deflection", "occupancy = { kind = \"control-packets\", packets = 40 }"),
    ("preemptive-deflection", "relative_priority = { kind = \"distribution\", mean = \"moving-average\" }"),
    (
        "preemptive-deflection",
        "relative_priority = { kind = \"distribution\", mean = \"moving-average\", arithmetic = \"tables\" }\n\
         occupancy = { kind = \"control-packets\", packets = 40 }",
    ),
    ("aifo", "capacity = { kind = \"constant\", size = \"100 KB\" }"),
    ("pabo", "threshold = 0.1"),
    ("rank-guard", "slots = 3"),
    ("vertigo", ""),
    ("vertigo", "candidates = 1\nports = [\"left\"]\nrecord_ranks = true"),
    ("trimming", ""),
    ("trimming", "headers_per_packet = 0\nports = [\"left\"]\nqueue = \"4 packets\""),
    ("bolt", "threshold = \"10 KB\""),
    ("bolt", "ports = [\"left\"]\nthreshold = \"3 KB\""),
    SQR,
    ("sqr", "links = [\"left<->right\"]\ncaching = \"delay-queue\""),
    RIMM,
    ("rimm", "ports = [\"right->h8\"]\nmessages = \"in-order\""),
    LINKGUARDIAN,
    ("linkguardian", "link = \"right->left\"\nmode = \"non-blocking\""),
    ("link-layer-retry", "link = \"left->right\""),
    ("link-layer-retry", "link = \"right->left\"\nmax_outstanding_bytes = \"3 KB\""),
    ("wharf", "link = \"left->right\"\ndata_frames = 25\nparity_frames = 5"),
];
const SQR: (&str, &str) = ("sqr", "links = [\"left->right\"]");
const RIMM: (&str, &str) = ("rimm", "release = \"exact\"");
const LINKGUARDIAN: (&str, &str) = ("linkguardian", "link = \"left->right\"");

/// Two switches with eight hosts each.
const DUMBBELL: &str = "[topology]\nkind = \"dumbbell\"\nhosts_left = 8\nhosts_right = 8\n\
     host_link = { rate = \"10 Gbps\", delay = \"1 us\" }\nbottleneck = { rate = \"10 Gbps\", delay = \"1 us\" }\n";

/// The same with a third switch, which offers a backup path.
fn triangle() -> String {
    let hosts: Vec<String> = (0..16).map(|host| format!("\"h{host}\"")).collect();
    let link = |ends: String| format!("{{ ends = [{ends}], rate = \"10 Gbps\", delay = \"1 us\" }}");
    let of_host = |host: usize| link(format!("\"h{host}\", \"{}\"", if host < 8 { "left" } else { "right" }));
    let pairs = [("left", "right"), ("left", "round"), ("round", "right")];
    let of_switches = pairs.iter().map(|(from, to)| link(format!("\"{from}\", \"{to}\"")));
    let links: Vec<String> = (0..16).map(of_host).chain(of_switches).collect();
    format!(
        "[topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [\"left\", \"right\", \"round\"]\nlinks = [{}]\n",
        hosts.join(", "),
        links.join(", ")
    )
}

/// A combination of mechanisms and their surroundings.
#[derive(Clone, Debug)]
struct Composition<'a> {
    preset: &'a str,
    scheduler: &'a str,
    buffer: &'a str,
    topology: &'a str,
    host: &'a str,
    transport: &'a str,
    mechanisms: Vec<(&'a str, &'a str)>,
}

impl Default for Composition<'_> {
    fn default() -> Self {
        Self {
            preset: "ideal",
            scheduler: "",
            buffer: BUFFERS[0],
            topology: DUMBBELL,
            host: "",
            transport: TRANSPORTS[0],
            mechanisms: Vec::new(),
        }
    }
}

impl std::fmt::Display for Composition<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { preset, scheduler, buffer, host, transport, mechanisms, .. } = self;
        let shape = if self.topology == DUMBBELL { "dumbbell" } else { "triangle" };
        write!(f, "{mechanisms:?} in a {shape} with {preset:?} {scheduler:?} {buffer:?} {host:?} {transport:?}")
    }
}

impl Composition<'_> {
    /// Four long flows fill the link, and five simultaneous responses fill one host port.
    fn text(&self) -> String {
        let Self { preset, scheduler, buffer, topology, host, transport, .. } = self;
        format!(
            "name = \"composition\"\nduration = \"400 us\"\n{topology}{host}\
             [switch]\npreset = \"{preset}\"\n{buffer}\n{scheduler}\n\
             [[transport]]\nname = \"t\"\n{transport}\n\
             [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"t\"\n\
             sources = [\"h0..h3\"]\ndestinations = [\"h8..h11\"]\n\
             [[flows]]\nname = \"answers\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 5\nsize = \"20 KB\"\n\
             period = \"100 us\"\nclients = [\"h12\"]\nservers = [\"h4..h11\"]\n{}",
            self.mechanisms
                .iter()
                .map(|(kind, lines)| format!("[[mechanism]]\nkind = \"{kind}\"\n{lines}\n"))
                .collect::<String>()
        )
    }

    /// The outcome; `None` if the scenario is refused.
    ///
    /// # Panics
    /// If an invariant is violated.
    fn run(&self) -> Option<Outcome> {
        match support::check(&self.text()) {
            Ok(scenario) => Some(support::run_scenario(&scenario)),
            Err(error) => {
                assert!(!error.is_empty());
                None
            }
        }
    }

    fn runs(&self) -> bool {
        self.run().is_some()
    }
}

fn with<'a>(mechanisms: &[(&'a str, &'a str)]) -> Composition<'a> {
    Composition { mechanisms: mechanisms.to_vec(), ..Composition::default() }
}

/// The transport that a mechanism needs.
fn transport_for(mechanisms: &[(&str, &str)], number: usize) -> &'static str {
    if mechanisms.iter().any(|(kind, _)| *kind == "bolt") {
        BOLT_TRANSPORT
    } else {
        [TRANSPORTS[0], TRANSPORTS[1], TRANSPORTS[3]][number % 3]
    }
}

#[test]
fn every_pair_of_mechanisms_is_refused_or_keeps_what_it_promises() {
    let triangle = triangle();
    let mut ran = BTreeSet::new();
    let mut broken = Vec::new();
    for (number, (first, second)) in pairs().enumerate() {
        let mut mechanisms = vec![MECHANISMS[first], MECHANISMS[second]];
        mechanisms.dedup();
        // A single mechanism runs in all surroundings, each pair in three that differ from pair to pair.
        let surroundings = if first == second { 0..SURROUNDINGS } else { 7 * number..7 * number + 3 };
        for around in surroundings {
            let composition = surrounded(&mechanisms, around, &triangle);
            // Catch panics, so that one failure does not hide the others.
            match std::panic::catch_unwind(|| composition.runs()) {
                Ok(true) => drop(ran.insert((first, second))),
                Ok(false) => {}
                Err(_) => broken.push(composition.to_string()),
            }
        }
    }
    assert!(broken.is_empty(), "{} of them break:\n{}", broken.len(), broken.join("\n"));
    let alone = (0..MECHANISMS.len()).filter(|&mechanism| !ran.contains(&(mechanism, mechanism)));
    let never: Vec<_> = alone.map(|mechanism| MECHANISMS[mechanism]).collect();
    assert!(never.is_empty(), "never ran: {never:?}");
    assert!(ran.len() > 200, "only {} pairs ran", ran.len());
}

const SURROUNDINGS: usize = 36;

/// Mechanisms with one of [`SURROUNDINGS`] combinations of switch, fabric and host settings.
fn surrounded<'a>(mechanisms: &[(&'a str, &'a str)], around: usize, triangle: &'a str) -> Composition<'a> {
    let host = if (around / 12).is_multiple_of(3) { 0 } else { 1 + around % 3 };
    Composition {
        preset: if around.is_multiple_of(2) { "ideal" } else { "tofino-like" },
        topology: if (around / 2).is_multiple_of(2) { DUMBBELL } else { triangle },
        host: HOSTS[host],
        buffer: BUFFERS[around / 4 % 3],
        transport: transport_for(mechanisms, around),
        mechanisms: mechanisms.to_vec(),
        ..Composition::default()
    }
}

/// All pairs of indices, including equal ones.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    (0..MECHANISMS.len()).flat_map(|first| (first..MECHANISMS.len()).map(move |second| (first, second)))
}

/// Scenario texts, some of which are refused.
pub fn texts() -> impl Strategy<Value = String> {
    let switch = (prop_oneof![Just("ideal"), Just("tofino-like")], prop::sample::select(&SCHEDULERS[..]));
    let buffer = prop::sample::select(&BUFFERS[..]);
    let mechanisms = prop::collection::vec(prop::sample::select(&MECHANISMS[..]), 0..3);
    let rest = (any::<bool>(), prop::sample::select(&HOSTS[..]), 0usize..3, any::<bool>());
    (switch, buffer, mechanisms, rest).prop_map(|((preset, scheduler), buffer, mechanisms, rest)| {
        let (round, host, number, lossy) = rest;
        let triangle = triangle();
        let topology = if round { &*triangle } else { DUMBBELL };
        let transport = transport_for(&mechanisms, number);
        let text = Composition { preset, scheduler, buffer, topology, host, transport, mechanisms }.text();
        if lossy { format!("{text}\n{LOSSY_LINK}") } else { text }
    })
}

#[test]
fn all_mechanisms_run_together_at_one_port() {
    let all = with(&[MECHANISMS[0], SQR, LINKGUARDIAN]);
    assert!(Composition { preset: "tofino-like", ..all }.runs());
}

#[test]
fn rimm_and_linkguardian_run_together_at_one_port() {
    for buffer in [BUFFERS[0], BUFFERS[2]] {
        assert!(Composition { preset: "tofino-like", buffer, ..with(&[RIMM, LINKGUARDIAN]) }.runs());
    }
}

#[test]
fn what_a_switch_cannot_run_is_refused_with_the_numbers() {
    let names: Vec<String> = (0..8).map(|port| format!("h{port}")).chain(["right".to_owned()]).collect();
    let ports: Vec<String> = names.iter().map(|name| format!("ports = [\"left->{name}\"]")).collect();
    let nine: Vec<_> = ports.iter().map(|ports| ("afq", ports.as_str())).collect();
    assert!(with(&nine[..8]).runs());
    let rows = [
        ("", nine.as_slice(), "left would run 9 mechanisms, and a switch runs 8 at most"),
        ("scheduler = \"strict\"\nqueues_per_port = 100", &[], "a port has 64 queues at most: the switch 100"),
        ("flow_queueing = { kind = \"drr\" }", &[("afq", "")], "ports that queue by flow have none to give"),
    ];
    for (scheduler, mechanisms, rule) in rows {
        let refused = Composition { scheduler, ..with(mechanisms) }.text();
        let message = support::check(&refused).expect_err("this cannot run");
        assert!(message.contains(rule), "{message}");
    }
}
