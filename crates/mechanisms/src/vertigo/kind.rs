//! Vertigo as a kind of mechanism, on the switches of the ports that its entries name.

use std::collections::BTreeSet;

use hitless_core::wire::PortId;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Header, Kind, Stage, Surroundings};
use hitless_scenario::network::topology::select::select_ports_by_switch;
use hitless_scenario::network::topology::{SwitchId, Topology};

use super::{SortedPort, Vertigo, VertigoSettings};
use crate::port_choice::{PortChoice, on_each_switch};

impl Vertigo {
    fn port_choice(settings: &VertigoSettings) -> PortChoice<'_> {
        PortChoice { name: Self::TITLE, ports: &settings.ports, deflects: true, sees_queues: false, sorts: true }
    }
}

impl Kind for Vertigo {
    const NAME: &'static str = "vertigo";
    const TITLE: &'static str = "Vertigo";
    const SUMMARY: &'static str = "Vertigo, queues sorted by urgency whose victims go to a neighbour, \
        on ports of switches (Abdous et al., CoNEXT 2021).";
    const STAGE: Stage = Stage::PortChoice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared =
        &[super::counters::PortCounters::ALL, crate::detours::DetourCounters::ALL];
    const QUANTITIES: &'static [hitless_switch::Quantity] =
        &[super::counters::ARRIVING_RANK, crate::detours::PACKET_DETOURS];

    type Settings = VertigoSettings;

    fn switches(settings: &VertigoSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        Self::port_choice(settings).switches(topology)
    }

    fn claims(settings: &VertigoSettings, topology: &Topology) -> Vec<Claimed> {
        let switches = Self::switches(settings, topology);
        let sorts = [Claim::SortsQueues.on_switches(&switches), Claim::DecidesOnDrop.on_switches(&switches)];
        Self::port_choice(settings).claims(topology).into_iter().chain(sorts).collect()
    }

    fn headers(settings: &VertigoSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        Self::port_choice(settings).headers()
    }

    fn check(settings: &VertigoSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        Self::port_choice(settings).check(around.topology, section, check);
    }

    fn build(entries: &[&VertigoSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &VertigoSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, switch, ports| {
            let neighbours = &around.topology.switch(switch).ports;
            let sorted =
                |port: PortId| SortedPort { port, faces_host: !neighbours[usize::from(port.0)].faces_switch() };
            let ports = ports.into_iter().map(sorted).collect();
            Self::new(ports, settings, around.stream(switch, "vertigo"))
        }))
    }
}
