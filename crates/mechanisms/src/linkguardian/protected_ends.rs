//! The recirculation ports of the ends of protected links, and their capacity.

use hitless_core::wire::{Bytes, Time};
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::topology::{DirectedLink, Endpoint, Node, SwitchId};
use hitless_switch::LinkEnd;

use super::admission::{EndNeeds, NoRoom, PortRoom, admit};
use super::settings::{Buffering, LinkGuardianSettings};

/// An end of a protected link. It has a separate recirculation port as long as there are enough.
#[derive(Clone, Copy, Debug)]
pub struct ProtectedEnd<'a> {
    pub settings: &'a LinkGuardianSettings,
    /// The position of these settings among the scenario's mechanisms.
    pub mechanism: usize,
    pub link: DirectedLink,
    pub end: LinkEnd,
    pub at: Endpoint,
    pub switch: SwitchId,
    pub recirculation: u16,
}

impl ProtectedEnd<'_> {
    /// The maximum bytes that the end may keep.
    pub fn room(&self) -> Bytes {
        match self.end {
            LinkEnd::Sender => self.settings.buffers().0,
            LinkEnd::Receiver => self.settings.buffers().1,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Overload {
    /// The mechanism of its last end, which is one too many.
    pub mechanism: usize,
    pub switch: SwitchId,
    pub recirculation: u16,
    pub at: Time,
    pub reason: NoRoom,
}

/// The ends of all protected links at switches, in the order of the scenario; a sending end comes before its receiving
/// end.
pub fn protected_ends(around: Surroundings<'_>) -> Vec<ProtectedEnd<'_>> {
    let (scenario, topology) = (around.scenario, around.topology);
    let ports = scenario.switch.recirculation_ports.max(1);
    let mut used = vec![0; topology.switches.len()];
    let mut ends = Vec::new();
    for (mechanism, settings) in around.entries::<LinkGuardianSettings>() {
        for link in around.links(&settings.link) {
            let (from, to) = topology.ends(link);
            for (end, at) in [(LinkEnd::Sender, from), (LinkEnd::Receiver, to)] {
                let Node::Switch(switch) = at.node else { continue };
                let used: &mut u16 = &mut used[switch.0 as usize];
                // Ends take turns over the recirculation ports, so that they share one only when there are too few.
                let recirculation = *used % ports;
                *used += 1;
                ends.push(ProtectedEnd { settings, mechanism, link, end, at, switch, recirculation });
            }
        }
    }
    ends
}

/// The first recirculation port that the scenario's own activations overload.
pub fn overload(around: Surroundings<'_>) -> Option<Overload> {
    let ends = protected_ends(around);
    let changes = ends.iter().flat_map(|end| end.settings.activation.iter().map(|change| change.at));
    let mut times: Vec<Time> = std::iter::once(Time::ZERO).chain(changes).collect();
    times.sort_unstable();
    times.dedup();
    times.into_iter().find_map(|at| {
        let active = |end: &ProtectedEnd<'_>| end.settings.is_active_at(at);
        overload_of(around, &ends, active).map(|overload| Overload { at, ..overload })
    })
}

/// The first overloaded recirculation port, if the ends that satisfy `is_active` are active.
pub fn overload_of(
    around: Surroundings<'_>,
    ends: &[ProtectedEnd<'_>],
    is_active: impl Fn(&ProtectedEnd<'_>) -> bool,
) -> Option<Overload> {
    let active: Vec<_> = ends.iter().filter(|end| is_active(end)).collect();
    active.iter().find_map(|last| {
        let is_with_it =
            |end: &&&ProtectedEnd<'_>| (end.switch, end.recirculation) == (last.switch, last.recirculation);
        let together: Vec<_> = active.iter().filter(is_with_it).collect();
        let is_last = together.last().is_some_and(|end| std::ptr::eq(**end, *last));
        if !is_last || together.iter().any(|end| !end.settings.admission_control) {
            return None;
        }
        let needs: Vec<_> = together.iter().map(|end| needs(around, end)).collect();
        // An end with a port to itself may have a buffer of any size.
        let is_alone = together.len() == 1;
        let largest = together.iter().map(|end| end.room()).fold(Bytes::ZERO, Bytes::max);
        let buffer = if is_alone { Bytes(u64::MAX) } else { largest };
        let port = PortRoom { rate: around.scenario.switch.recirculation_rate, buffer };
        let reason = admit(port, &needs).err()?;
        let (mechanism, switch, recirculation) = (last.mechanism, last.switch, last.recirculation);
        Some(Overload { mechanism, switch, recirculation, at: Time::ZERO, reason })
    })
}

fn needs(around: Surroundings<'_>, end: &ProtectedEnd<'_>) -> EndNeeds {
    let link = end.settings.shape(around);
    let buffer = match end.end {
        LinkEnd::Sender => link.unacknowledged_bytes_max(end.settings.timeout()),
        LinkEnd::Receiver => link.reordering_bytes_max(end.settings.thresholds().1),
    };
    // A separate paused queue takes no room from others.
    let is_shared = end.settings.waiting_place() == Buffering::Recirculation;
    let buffer = if is_shared { buffer } else { Bytes::ZERO };
    EndNeeds { link: around.topology.link_name(end.link), end: end.end, rate: link.rate, buffer }
}
