//! Packet trimming as a kind of mechanism: on the switches of the ports that its entries name.

use std::collections::BTreeSet;

use hitless_network::topology::{SwitchId, Topology};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Header, Kind, Reach, Stage, Surroundings, built};
use hitless_wire::trimmed::Trimmed;

use super::{Trimming, TrimmingSettings, check};

impl Kind for Trimming {
    const NAME: &'static str = "trimming";
    const TITLE: &'static str = "packet trimming";
    const SUMMARY: &'static str = "Packet trimming, refused packets cut to headers that go first, on ports of switches \
        (CP, NDP, Ultra Ethernet).";
    const STAGE: Stage = Stage::Salvage;
    const PLACES_FIELD: &'static str = "ports";

    type Settings = TrimmingSettings;

    fn switches(settings: &TrimmingSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.ports_by_switch(topology).into_keys().collect()
    }

    fn claims(settings: &TrimmingSettings, topology: &Topology) -> Vec<Claimed> {
        let ports = || settings.ports_by_switch(topology).into_values().flatten();
        vec![Claim::JumpsTheQueue.at_ports(ports()), Claim::DecidesOnRefused.at_ports(ports())]
    }

    fn headers(_: &TrimmingSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        vec![Header::of::<Trimmed>("what is left of trimmed packets", Reach::Everywhere)]
    }

    /// For headers.
    fn queues(_: &TrimmingSettings) -> u16 {
        1
    }

    fn check(settings: &TrimmingSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn build(entries: &[&TrimmingSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let on_switches = entries.iter().flat_map(|settings| {
            settings.ports_by_switch(around.topology).into_iter().map(|(switch, ports)| {
                let ports = ports.into_iter().map(|at| at.port).collect();
                (switch, Self::new(ports, (*settings).clone()))
            })
        });
        Ok(on_switches.map(built).collect())
    }
}
