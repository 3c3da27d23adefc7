//! What packets carry for mechanisms: a descriptor has room for so many headers of so many bytes together.

use std::collections::{BTreeMap, BTreeSet};

use hitless_wire::link_layer_retry::PreambleSequence;
use hitless_wire::linkguardian::{AckHeader, DataHeader};
use hitless_wire::rimm::DetourHeader;
use hitless_wire::shim::{CheckNumber, DetourCount};
use hitless_wire::sqr::CacheMetadata;
use hitless_wire::trimmed::Trimmed;
use hitless_wire::wharf::WharfHeader;
use hitless_wire::{PriorityMark, Shim, ShimStack};

use super::Check;
use super::deflection::Chooser;
use crate::scenario::MechanismSettings;
use crate::scenario::error::Problem;
use crate::topology::select::{SwitchPort, select_links, select_ports_by_switch};
use crate::topology::{DirectedLink, LinkId, Node, Topology};

/// Headers that one feature writes on a packet.
#[derive(Clone, Copy)]
struct Headers {
    of: &'static str,
    /// Each with the byte of its kind.
    bytes: usize,
}

impl Headers {
    const fn one<S: Shim>(of: &'static str) -> Self {
        Self { of, bytes: ShimStack::needed_bytes::<S>() }
    }

    const fn and<S: Shim>(self) -> Self {
        Self { bytes: self.bytes + ShimStack::needed_bytes::<S>(), ..self }
    }
}

const MARKS: Headers = Headers::one::<PriorityMark>("the marks of hosts");
const DEFLECTIONS: Headers = Headers::one::<DetourCount>("counts of deflections");
const TRIMMED: Headers = Headers::one::<Trimmed>("what is left of trimmed packets");
const RIMM: Headers = Headers::one::<DetourHeader>("detours of RIMM");
const SQR: Headers = Headers::one::<CacheMetadata>("SQR's copies");
const LINKGUARDIAN: Headers = Headers::one::<DataHeader>("LinkGuardian").and::<CheckNumber>();
const LINKGUARDIAN_BOTH_WAYS: Headers =
    Headers::one::<DataHeader>("LinkGuardian both ways").and::<CheckNumber>().and::<AckHeader>();
const LINK_LAYER_RETRY: Headers = Headers::one::<PreambleSequence>("Link Layer Retry").and::<CheckNumber>();
const WHARF: Headers = Headers::one::<WharfHeader>("Wharf").and::<CheckNumber>();

impl Check<'_> {
    /// Whether what can meet on a packet fits it: at the ports that SQR protects, and on links that are protected.
    pub(super) fn room_for_headers(&mut self, topology: &Topology) {
        let carried = self.carried_everywhere();
        let detoured = self.ports_with_detours(topology);
        let of_sqr = self.protected_by_sqr(topology).into_iter().map(|port| (SQR, vec![port]));
        let meetings: BTreeMap<_, Vec<Headers>> = of_sqr
            .chain(self.protections(topology))
            .map(|(headers, ports)| {
                let meets_rimm = ports.iter().any(|port| detoured.contains(port));
                let all = carried.iter().copied().chain(meets_rimm.then_some(RIMM)).chain([headers]).collect();
                ((headers.of, meets_rimm), all)
            })
            .collect();
        meetings.values().for_each(|headers| self.fits_a_packet(headers));
    }

    /// The ports at which a packet may bear a number of RIMM's: those of detours, and all where one of their links may fail
    /// and packets be led another way.
    fn ports_with_detours(&self, topology: &Topology) -> BTreeSet<SwitchPort> {
        let entries = self.scenario.mechanisms.iter().filter_map(|mechanism| match mechanism {
            MechanismSettings::Rimm(settings) => Some(settings.ports_of_detours(topology)),
            _ => None,
        });
        let ports: BTreeSet<SwitchPort> = entries.flatten().collect();
        let link = |port: &SwitchPort| topology.switch(port.switch).ports[usize::from(port.port.0)].link;
        if self.reroutes() && ports.iter().any(|port| self.fails(topology, link(port))) {
            return select_ports_by_switch(topology, &[]).into_values().flatten().collect();
        }
        ports
    }

    fn protected_by_sqr(&self, topology: &Topology) -> Vec<SwitchPort> {
        let links = self.scenario.mechanisms.iter().filter_map(|mechanism| match mechanism {
            MechanismSettings::Sqr(settings) => Some(settings.protected(topology)),
            _ => None,
        });
        links.flatten().filter_map(|link| sender(topology, link)).collect()
    }

    /// What a packet has with it from switch to switch.
    fn carried_everywhere(&self) -> Vec<Headers> {
        let runs = |is_it: fn(&MechanismSettings) -> bool| self.scenario.mechanisms.iter().any(is_it);
        let guarded = runs(|mechanism| matches!(mechanism, MechanismSettings::RankGuard(_)));
        let deflected = runs(|mechanism| Chooser::of(mechanism).is_some_and(|chooser| chooser.deflects));
        let trimmed = runs(|mechanism| matches!(mechanism, MechanismSettings::Trimming(_)));
        // A rank guard marks what is not marked.
        let marked = self.scenario.marks_packets() || guarded;
        let found = [(marked, MARKS), (deflected, DEFLECTIONS), (trimmed, TRIMMED)];
        found.into_iter().filter_map(|(is_there, headers)| is_there.then_some(headers)).collect()
    }

    /// What the protections of links write, and the ports that send on these: LinkGuardian more where the other way has
    /// its data to acknowledge.
    fn protections(&self, topology: &Topology) -> Vec<(Headers, Vec<SwitchPort>)> {
        let mut guarded = BTreeMap::<LinkId, Vec<DirectedLink>>::new();
        let mut found = Vec::new();
        let senders = |links: &[DirectedLink]| links.iter().filter_map(|&link| sender(topology, link)).collect();
        for mechanism in &self.scenario.mechanisms {
            let links = |name: &str| select_links(topology, name).unwrap_or_default();
            match mechanism {
                MechanismSettings::LinkGuardian(settings) => {
                    links(&settings.link).into_iter().for_each(|link| guarded.entry(link.link).or_default().push(link));
                }
                MechanismSettings::LinkLayerRetry(settings) => {
                    found.push((LINK_LAYER_RETRY, senders(&links(&settings.link))));
                }
                MechanismSettings::Wharf(settings) => found.push((WHARF, senders(&links(&settings.link)))),
                _ => {}
            }
        }
        let of_guarded = guarded.values().map(|ways| {
            let headers = if ways.len() > 1 { LINKGUARDIAN_BOTH_WAYS } else { LINKGUARDIAN };
            (headers, senders(ways))
        });
        found.extend(of_guarded);
        found
    }

    fn fits_a_packet(&mut self, headers: &[Headers]) {
        let bytes: usize = headers.iter().map(|it| it.bytes).sum();
        self.require_else(bytes <= ShimStack::CAPACITY_BYTES, || {
            let named: Vec<String> = headers.iter().map(|it| format!("{} ({} B)", it.of, it.bytes)).collect();
            let rule = format!(
                "a packet has room for {} B of headers, and {} would be {bytes} B together",
                ShimStack::CAPACITY_BYTES,
                named.join(", ")
            );
            Problem::new("mechanism", "", rule)
                .hint("leave one of them out, or give them links that have none in common")
        });
    }
}

/// The port that sends on a link.
fn sender(topology: &Topology, link: DirectedLink) -> Option<SwitchPort> {
    let end = topology.ends(link).0;
    let Node::Switch(switch) = end.node else { return None };
    Some(SwitchPort { switch, port: end.port })
}
