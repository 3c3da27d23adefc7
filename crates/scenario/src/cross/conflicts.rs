//! Conflicts: pairs of claims that exclude each other at one place.

use hitless_core::settings::Problem;

use super::check::Check;
use crate::kind::{Claim, Claimed, Entries, Entry, Surroundings};
use crate::network::topology::{SwitchId, Topology};

/// The place at which two claims must meet to be a conflict.
#[derive(Clone, Copy)]
enum At {
    /// At one port.
    Port,
    /// On one link: in one direction for entries of equal kinds, in either direction for entries of different kinds.
    Link,
    Switch,
    Fabric,
}

/// Two claims that exclude each other.
struct Conflict {
    pair: [Claim; 2],
    at: At,
    reason: &'static str,
}

const fn conflict(one: Claim, other: Claim, at: At, reason: &'static str) -> Conflict {
    Conflict { pair: [one, other], at, reason }
}

const BOTH_CHOOSE: &str = "both would choose where a packet goes";
const BOTH_ORDER: &str = "both would choose when and where a packet goes";

/// All conflicts. For two entries only the first applicable conflict is reported.
const CONFLICTS: &[Conflict] = &[
    conflict(Claim::OwnsLink, Claim::OwnsLink, At::Link, "a link has one protection"),
    conflict(Claim::SortsQueues, Claim::ChoosesQueue, At::Switch, BOTH_ORDER),
    conflict(Claim::SortsQueues, Claim::KeepsOrder, At::Switch, BOTH_ORDER),
    conflict(Claim::ChoosesPort, Claim::ChoosesPort, At::Switch, BOTH_CHOOSE),
    conflict(Claim::ChoosesPort, Claim::Detours, At::Port, BOTH_CHOOSE),
    conflict(Claim::ChoosesPort, Claim::ChoosesQueue, At::Port, BOTH_CHOOSE),
    conflict(
        Claim::SendsElsewhere,
        Claim::ChoosesQueue,
        At::Port,
        "what is sent there from a full queue would pass by the queues that are chosen",
    ),
    conflict(
        Claim::Detours,
        Claim::ChoosesQueue,
        At::Port,
        "detours go by the depth of one queue, and what is detoured would pass by those that are chosen",
    ),
    conflict(Claim::ChoosesQueue, Claim::ChoosesQueue, At::Port, "the queue of a packet is chosen once"),
    conflict(
        Claim::WritesOnPackets,
        Claim::SendsCopiesLate,
        At::Switch,
        "a copy that is sent late would bring to egress what was true earlier",
    ),
    conflict(
        Claim::DecidesOnDrop,
        Claim::DecidesOnDrop,
        At::Switch,
        "both would decide what becomes of a refused packet",
    ),
    conflict(
        Claim::JumpsTheQueue,
        Claim::ChoosesQueue,
        At::Switch,
        "what is to go first would wait in the order of the queues that are chosen",
    ),
    conflict(Claim::JumpsTheQueue, Claim::KeepsOrder, At::Switch, "what goes first does not keep the order of packets"),
    conflict(
        Claim::JumpsTheQueue,
        Claim::DropsEarly,
        At::Switch,
        "packets would be given up before a queue could refuse them",
    ),
    conflict(
        Claim::JumpsTheQueue,
        Claim::PausesQueues,
        At::Switch,
        "a pause of the queues of data does not hold what has a queue of its own",
    ),
    conflict(
        Claim::NoticesToSenders,
        Claim::ChoosesQueue,
        At::Switch,
        "queues are chosen that the notices would not tell of",
    ),
    conflict(
        Claim::NoticesToSenders,
        Claim::OwnsLink,
        At::Fabric,
        "the protection would take notices for frames of the link",
    ),
];

impl Conflict {
    /// Returns the place at which these claims of two entries conflict.
    fn place(&self, claims: [&Claimed; 2], is_one_kind: bool, topology: &Topology) -> Option<String> {
        let [one, other] = claims;
        let pair = [one.claim, other.claim];
        if pair != self.pair && pair != [self.pair[1], self.pair[0]] {
            return None;
        }
        match self.at {
            At::Port => one.at.ports().find(|at| other.at.ports().any(|own| own == *at)).map(|at| at.name(topology)),
            At::Link => {
                let of_earlier = one.at.links();
                let clashes =
                    |link: &&_| of_earlier.iter().any(|own| own == *link || !is_one_kind && own.link == link.link);
                other.at.links().iter().find(clashes).map(|&link| topology.link_name(link))
            }
            At::Switch => {
                let of_other = other.at.switches(topology);
                let both = one.at.switches(topology).into_iter().find(|switch| of_other.contains(switch));
                both.map(|switch| topology.switch(switch).name.clone())
            }
            At::Fabric => Some("the fabric".into()),
        }
    }
}

/// An entry with the data that each comparison needs.
struct Claimant<'a> {
    entry: &'a Entry,
    claims: Vec<Claimed>,
    switches: Vec<SwitchId>,
}

impl Check<'_> {
    /// Reports each two entries with conflicting claims.
    pub(super) fn conflicts(&mut self, around: Surroundings<'_>) {
        let topology = around.topology;
        let claimants: Vec<Claimant<'_>> = around
            .scenario
            .mechanisms
            .iter()
            .map(|entry| {
                let switches = entry.switches(topology).into_iter().collect();
                Claimant { entry, claims: entry.claims(topology), switches }
            })
            .collect();
        for (number, later) in claimants.iter().enumerate() {
            let earlier = claimants[..number].iter();
            let problems = earlier.filter_map(|earlier| clash([earlier, later], topology));
            let field = format!("mechanism[{number}].{}", later.entry.facts.places_field);
            self.report_all(problems.map(|rule| Problem::new(&field, "", rule)));
        }
    }
}

/// Returns the reason why two entries exclude each other, if they do.
fn clash(pair: [&Claimant<'_>; 2], topology: &Topology) -> Option<String> {
    let [earlier, later] = pair;
    let (name, parts) = (later.entry.title(), later.entry.facts.places_field);
    let is_one_kind = earlier.entry.name() == later.entry.name();
    if is_one_kind && later.entry.facts.entries == Entries::OnePerSwitch {
        let both = later.switches.iter().find(|switch| earlier.switches.contains(switch))?;
        let switch = &topology.switch(*both).name;
        return Some(format!("{switch} has {name} by another entry, and its {parts} share one set of parameters"));
    }
    let clash_of = |conflict: &'static Conflict| {
        let claims = earlier.claims.iter().flat_map(|one| later.claims.iter().map(move |other| [one, other]));
        let place = claims.filter_map(|claims| conflict.place(claims, is_one_kind, topology)).next()?;
        Some((place, conflict.reason))
    };
    let (place, reason) = CONFLICTS.iter().find_map(clash_of)?;
    Some(if is_one_kind {
        format!("{place} has {name} by another entry, and {reason}")
    } else {
        format!("{place} runs {} and {name}, and {reason}", earlier.entry.title())
    })
}
