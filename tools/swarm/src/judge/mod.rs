//! The invariants of a world: each judge is an invariant with a name, and the section of the paper that promises it.

mod accounts;
mod evidence;
mod progress;
mod promises;

use evidence::Finding;
pub use evidence::{Evidence, Fault};
pub(crate) use evidence::{numbers, texts};
pub use progress::AT_REST;

pub struct Judge {
    pub name: &'static str,
    /// The rule, and its source.
    pub promise: &'static str,
    look: fn(&Evidence<'_>) -> Finding,
}

/// All judges except "runs", which checks that a run starts and does not panic.
pub const JUDGES: [Judge; 19] = [
    Judge {
        name: "accounts",
        promise: "What every run asserts of itself: injected = delivered + dropped by a reason + in flight, for all \
                  packets, each link and the packet buffers; and what mechanisms promise of their own counts.",
        look: accounts::accounts,
    },
    Judge {
        name: "work-conserving",
        promise: "No queue idles with packets that may go: whenever a port holds a packet that is not paused, closed \
                  or without credit, something will send it.",
        look: accounts::work_conserving,
    },
    Judge {
        name: "named-loss",
        promise: "What a host puts on its link arrives at the other host, exists, or was lost to a cause that was \
                  counted: a switch's drop of this flow, a link that was down, corruption, or trimming.",
        look: accounts::named_loss,
    },
    Judge {
        name: "replay",
        promise: "The configuration that a run records gives the same run to the byte, and neither stopping on the way \
                  nor running twice leaves a mark (CONTRIBUTING.md, determinism).",
        look: accounts::replay,
    },
    Judge {
        name: "resume",
        promise: "Killed at any moment a run goes on from its checkpoint, in a simulation that is built anew, to the \
                  same trace hash, tables and counts (ARCHITECTURE.md, checkpoints).",
        look: accounts::resume,
    },
    Judge {
        name: "threads",
        promise: "Divided among any number of partitions on 1, 2, 4 or 8 threads a world gives the same trace hash, \
                  tables and counts as in one part (ARCHITECTURE.md, partitions).",
        look: accounts::threads,
    },
    Judge {
        name: "symmetry",
        promise: "Senders that are alike get equal shares of a port on average over seeds, in whatever order hosts and \
                  links are written (Floyd and Jacobson, 1992).",
        look: accounts::symmetry,
    },
    Judge {
        name: "relations",
        promise: "A change of a world that means nothing to a flow leaves its results to the picosecond: measurements, \
                  a loss of zero, a mechanism that never acts, an idle host, an unrelated flow, other names, a later \
                  start, back to normal after all traffic and events, half of all rates and twice all times \
                  (metamorphic relations; one for each world).",
        look: accounts::relations,
    },
    Judge {
        name: "autopsy",
        promise: "The parts of every message's completion time add up to it, to the picosecond, and dividing it leaves \
                  the run as it is.",
        look: accounts::autopsy,
    },
    Judge {
        name: "progress",
        promise: "Once all faults are over every flow ends within 3 s of simulated time. No timeout exceeds 4 ms.",
        look: progress::progress,
    },
    Judge {
        name: "do-no-harm",
        promise: "Where plain forwarding loses nothing and no link is at fault, a mechanism at its defaults delays the \
                  last flow by a quarter of its time and 100 us at most.",
        look: progress::do_no_harm,
    },
    Judge {
        name: "plain-order",
        promise: "Without a mechanism, a reroute or a rehash nothing reorders or duplicates: equal-cost paths are \
                  chosen by flow (RFC 2992).",
        look: promises::plain_order,
    },
    Judge {
        name: "protected-link",
        promise: "A protected link that corrupts at most one frame in a hundred delivers every packet, once, in order \
                  (LinkGuardian, sections 3.1 to 3.3, whose target is 1e-8; Ultra Ethernet 1.0, section 5.1: Link \
                  Layer Retry). Delivery never stalls for longer than ackNoTimeout for each loss (section 3.5): the \
                  receiver's own account.",
        look: promises::protected_link,
    },
    Judge {
        name: "protected-speed",
        promise: "Where plain forwarding over sound links loses nothing, the last flow over protected links that \
                  corrupt at most one frame in a thousand comes later by half of its time and 300 us at most: no pause \
                  outlasts its cause (LinkGuardian, sections 3.4 and 4.1: 92 % of 100 Gb/s are left).",
        look: progress::protected_speed,
    },
    Judge {
        name: "masked-outage",
        promise: "A failure of a link that SQR protects, and that is found and repaired or rerouted, loses and \
                  reorders nothing (SQR, section III).",
        look: promises::masked_outage,
    },
    Judge {
        name: "lossless",
        promise: "Lossless classes: with the derived headroom, sound links and no mechanism, buffers drop no packet \
                  (IEEE 802.1Qbb).",
        look: promises::lossless,
    },
    Judge {
        name: "fair-share",
        promise: "A flow gets its max-min fair share of a link, to within the bytes that may overtake a packet, active \
                  flows x BpR (AFQ, section 3.4), at the start and at the end.",
        look: promises::fair_share,
    },
    Judge {
        name: "detour-order",
        promise: "Packets that RIMM detours leave in the order of their numbers, none twice (RIMM, sections III-B and \
                  III-C).",
        look: promises::detour_order,
    },
    Judge {
        name: "detour-limit",
        promise: "No packet crosses more links than its time to live allows, however often it is deflected (RFC 791; \
                  Practical Packet Deflection, section 3: deflected packets are packets as any other).",
        look: promises::detour_limit,
    },
];

/// Returns the findings of all judges, and the names of the judges that applied.
pub fn all(evidence: &Evidence<'_>) -> (Vec<Fault>, Vec<&'static str>) {
    let (mut faults, mut judged) = (Vec::new(), Vec::new());
    for judge in &JUDGES {
        let Some(found) = (judge.look)(evidence) else { continue };
        judged.push(judge.name);
        faults.extend(found.into_iter().map(|sentence| Fault { judge: judge.name, sentence }));
    }
    (faults, judged)
}
