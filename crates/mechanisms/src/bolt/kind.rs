//! Bolt as a kind of mechanism, on the switches of the ports that its entries name.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_core::wire::Bytes;
use hitless_hosts::transport::tcp::Congestion;
use hitless_scenario::kind::{Built, Claim, Claimed, Kind, Stage, Surroundings};
use hitless_scenario::network::switch::DepthVisible;
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_scenario::{Check, Protocol, Purpose};

use super::{Bolt, BoltPort, BoltSettings};
use crate::port_choice::on_each_switch;

impl Kind for Bolt {
    const NAME: &'static str = "bolt";
    const TITLE: &'static str = "Bolt";
    const SUMMARY: &'static str =
        "Bolt's switch, which tells senders of congestion, on ports of switches (Arslan et al., NSDI 2023).";
    const STAGE: Stage = Stage::EarlyNotice;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[super::PortCounters::ALL];
    const NOTIFIES_SENDERS: bool = true;

    type Settings = BoltSettings;

    fn switches(settings: &BoltSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.ports).into_keys().collect()
    }

    /// Notices have a queue at every port of its switches.
    fn claims(settings: &BoltSettings, topology: &Topology) -> Vec<Claimed> {
        vec![Claim::NoticesToSenders.on_switches(&Self::switches(settings, topology))]
    }

    fn queues(_: &BoltSettings) -> u16 {
        1
    }

    fn check(settings: &BoltSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check_entry(settings, around, section, check);
    }

    fn build(entries: &[&BoltSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &BoltSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, switch, ports| {
            let ports = ports.into_iter().map(|number| port(SwitchPort { switch, port: number }, around)).collect();
            Self::new(ports, settings.clone())
        }))
    }
}

fn port(at: SwitchPort, around: Surroundings<'_>) -> BoltPort {
    let link = around.link_settings_at(at);
    BoltPort { port: at.port, rate: link.rate, overhead_bytes: link.overhead_bytes }
}

/// Requires senders that use Bolt, and switches that see their queues.
fn check_entry(settings: &BoltSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let field = |name: &str| format!("{section}.{name}");
    check.ports_named_once(around.topology, &settings.ports, &field("ports"));
    check.require(settings.threshold > Bytes::ZERO, &field("threshold"), "must be above zero");
    let parts = [("segment", settings.segment), ("notice_bytes", settings.notice_bytes)];
    for (name, bytes) in parts {
        let fits = (64..=9_216).contains(&bytes.0);
        check.require(fits, &field(name), "must be from 64 to 9216 B: it is an Ethernet frame");
    }
    let remembers = settings.supply_max >= settings.segment && settings.supply_max <= Bytes(1 << 30);
    check.require(remembers, &field("supply_max"), "must be at least segment and at most 1 GiB");
    let is_bolt =
        |protocol: &Protocol| matches!(protocol, Protocol::Tcp(tcp) if matches!(tcp.congestion, Congestion::Bolt(_)));
    let is_asked = check.scenario.transports.iter().any(|transport| is_bolt(&transport.protocol));
    check.require_else(is_asked, || {
        Problem::new(section, "", "has no effect: no flow sends with Bolt")
            .hint("give a [[transport]] of kind = \"tcp\" congestion = \"bolt\"")
    });
    switch(check, section);
}

fn switch(check: &mut Check<'_>, section: &str) {
    let switch = &check.scenario.switch;
    let sees = !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
    check.require_else(sees, || {
        let rule = "Bolt reads the depths of queues in ingress, and switch.depth_visible is \"egress\"";
        Problem::new(section, "", rule).hint("take depth_visible = \"ingress-and-egress\", or leave out switch.checked")
    });
    let rule = "Bolt asks for a queue of its own for notices, which a port that queues by flow does not have";
    check.require(switch.flow_queueing.is_none(), "switch.flow_queueing", rule);
    let rule = "has no effect live: only simulated hosts send with Bolt";
    check.require(check.purpose != Purpose::Live, section, rule);
}
