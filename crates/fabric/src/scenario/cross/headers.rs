//! What packets carry for mechanisms: a descriptor has room for so many headers of so many bytes together.

use std::collections::BTreeSet;

use hitless_wire::deflection::CarriedMean;
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
use crate::scenario::error::Problem;
use crate::scenario::{DeflectionOccupancy, MechanismSettings, PreemptiveDeflectionSettings, RelativePrioritySettings};
use crate::topology::Topology;
use crate::topology::select::select_links;

/// Headers that one feature writes on a packet.
#[derive(Clone, Copy)]
struct Headers {
    of: &'static str,
    bytes: usize,
    count: usize,
}

impl Headers {
    const fn one<S: Shim>(of: &'static str) -> Self {
        Self { of, bytes: S::BYTES, count: 1 }
    }

    const fn and<S: Shim>(self) -> Self {
        Self { bytes: self.bytes + S::BYTES, count: self.count + 1, ..self }
    }
}

const MARKS: Headers = Headers::one::<PriorityMark>("the marks of hosts");
const DEFLECTIONS: Headers = Headers::one::<DetourCount>("counts of deflections");
const TRIMMED: Headers = Headers::one::<Trimmed>("what is left of trimmed packets");
const RIMM: Headers = Headers::one::<DetourHeader>("detours of RIMM");
const MEAN: Headers = Headers::one::<CarriedMean>("the moving average of Preemptive Deflection");
const SQR: Headers = Headers::one::<CacheMetadata>("SQR's copies");
const LINKGUARDIAN: Headers = Headers::one::<DataHeader>("LinkGuardian").and::<CheckNumber>();
const LINKGUARDIAN_BOTH_WAYS: Headers =
    Headers::one::<DataHeader>("LinkGuardian both ways").and::<CheckNumber>().and::<AckHeader>();
const LINK_LAYER_RETRY: Headers = Headers::one::<PreambleSequence>("Link Layer Retry").and::<CheckNumber>();
const WHARF: Headers = Headers::one::<WharfHeader>("Wharf").and::<CheckNumber>();

impl Check<'_> {
    /// Whether what can meet on a packet fits it.
    pub(super) fn room_for_headers(&mut self, topology: &Topology) {
        let runs = |is_it: fn(&MechanismSettings) -> bool| self.scenario.mechanisms.iter().any(is_it);
        let rimm = runs(|mechanism| matches!(mechanism, MechanismSettings::Rimm(_)));
        let mean =
            runs(|mechanism| matches!(mechanism, MechanismSettings::PreemptiveDeflection(it) if carries_mean(it)));
        let sqr = runs(|mechanism| matches!(mechanism, MechanismSettings::Sqr(_)));
        let carried = self.carried_everywhere();
        // RIMM and SQR exclude each other on a switch, for this reason.
        let in_a_switch = carried.iter().copied().chain(mean.then_some(MEAN)).chain([SQR]).collect();
        let on_a_link = |protection| carried.iter().copied().chain(rimm.then_some(RIMM)).chain([protection]).collect();
        let meetings: Vec<Vec<Headers>> = sqr
            .then_some(in_a_switch)
            .into_iter()
            .chain(self.protections(topology).into_iter().map(on_a_link))
            .collect();
        meetings.iter().for_each(|headers| self.fits_a_packet(headers));
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

    /// What the protections of links write: LinkGuardian more where the other way has its data to acknowledge.
    fn protections(&self, topology: &Topology) -> Vec<Headers> {
        let mut guarded = BTreeSet::new();
        let mut both_ways = false;
        let mut found = Vec::new();
        for mechanism in &self.scenario.mechanisms {
            match mechanism {
                MechanismSettings::LinkGuardian(settings) => {
                    let links = select_links(topology, &settings.link).unwrap_or_default();
                    both_ways |= links.into_iter().any(|link| !guarded.insert(link.link));
                    found.push(LINKGUARDIAN);
                }
                MechanismSettings::LinkLayerRetry(_) => found.push(LINK_LAYER_RETRY),
                MechanismSettings::Wharf(_) => found.push(WHARF),
                _ => {}
            }
        }
        found.extend(both_ways.then_some(LINKGUARDIAN_BOTH_WAYS));
        found
    }

    fn fits_a_packet(&mut self, headers: &[Headers]) {
        let bytes: usize = headers.iter().map(|it| it.bytes).sum();
        let count: usize = headers.iter().map(|it| it.count).sum();
        let fits = bytes <= ShimStack::CAPACITY_BYTES && count <= ShimStack::CAPACITY_SHIMS;
        self.require_else(fits, || {
            let named: Vec<String> = headers.iter().map(|it| format!("{} ({} B)", it.of, it.bytes)).collect();
            let rule = format!(
                "a packet has room for {} headers of {} B together, and those of {} would be {count} of {bytes} B",
                ShimStack::CAPACITY_SHIMS,
                ShimStack::CAPACITY_BYTES,
                named.join(", ")
            );
            Problem::new("mechanism", "", rule).hint("leave one of them out")
        });
    }
}

/// Whether packets take the new mean of a queue from ingress to egress.
fn carries_mean(settings: &PreemptiveDeflectionSettings) -> bool {
    let by_mean = matches!(settings.relative_priority, RelativePrioritySettings::Distribution(_));
    by_mean && !matches!(settings.occupancy, DeflectionOccupancy::Immediate(_))
}
