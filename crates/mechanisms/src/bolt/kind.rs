//! Bolt as a kind of mechanism: on the switches of the ports that its entries name.

use std::collections::BTreeSet;

use hitless_network::topology::select::SwitchPort;
use hitless_network::topology::{SwitchId, Topology};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Kind, Stage, Surroundings, built};

use super::{Bolt, BoltPort, BoltSettings, check};

impl Kind for Bolt {
    const NAME: &'static str = "bolt";
    const TITLE: &'static str = "Bolt";
    const SUMMARY: &'static str =
        "Bolt's switch, which tells senders of congestion, on ports of switches (Arslan et al., NSDI 2023).";
    const STAGE: Stage = Stage::EarlyNotice;
    const PLACES_FIELD: &'static str = "ports";
    const NOTIFIES_SENDERS: bool = true;

    type Settings = BoltSettings;

    fn switches(settings: &BoltSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.ports_by_switch(topology).into_keys().collect()
    }

    /// Notices have a queue at every port of its switches.
    fn claims(settings: &BoltSettings, topology: &Topology) -> Vec<Claimed> {
        vec![Claim::NoticesToSenders.on_switches(&Self::switches(settings, topology))]
    }

    /// For notices.
    fn queues(_: &BoltSettings) -> u16 {
        1
    }

    fn check(settings: &BoltSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn build(entries: &[&BoltSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let on_switches = entries.iter().flat_map(|settings| {
            settings.ports_by_switch(around.topology).into_iter().map(move |(switch, ports)| {
                let ports = ports.into_iter().map(|at| port(at, around)).collect();
                (switch, Self::new(ports, (*settings).clone()))
            })
        });
        Ok(on_switches.map(built).collect())
    }
}

fn port(at: SwitchPort, around: Surroundings<'_>) -> BoltPort {
    let link = around.link_settings_at(at);
    BoltPort { port: at.port, rate: link.rate, overhead_bytes: link.overhead_bytes }
}
