//! Packet trimming as a kind of mechanism, on the switches of the ports that its entries name.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::trimmed::Trimmed;
use hitless_scenario::kind::{Built, Claim, Claimed, Header, Kind, Reach, Stage, Surroundings};
use hitless_scenario::network::switch::SchedulerKind;
use hitless_scenario::network::topology::select::select_ports_by_switch;
use hitless_scenario::network::topology::{SwitchId, Topology};
use hitless_scenario::{Check, LENGTH_RULE, Protocol, is_length};

use super::{Trimming, TrimmingSettings};
use crate::port_choice::on_each_switch;

impl Kind for Trimming {
    const NAME: &'static str = "trimming";
    const TITLE: &'static str = "packet trimming";
    const SUMMARY: &'static str = "Packet trimming, refused packets cut to headers that go first, on ports of switches \
        (CP, NDP, Ultra Ethernet).";
    const STAGE: Stage = Stage::Salvage;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[super::PortCounters::ALL];

    type Settings = TrimmingSettings;

    fn switches(settings: &TrimmingSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.ports).into_keys().collect()
    }

    fn claims(settings: &TrimmingSettings, topology: &Topology) -> Vec<Claimed> {
        let ports = || select_ports_by_switch(topology, &settings.ports).into_values().flatten();
        vec![Claim::JumpsTheQueue.at_ports(ports()), Claim::DecidesOnDrop.at_ports(ports())]
    }

    fn headers(_: &TrimmingSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        vec![Header::of::<Trimmed>("what is left of trimmed packets", Reach::Everywhere)]
    }

    fn queues(_: &TrimmingSettings) -> u16 {
        1
    }

    fn check(settings: &TrimmingSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check_entry(settings, around, section, check);
    }

    fn build(entries: &[&TrimmingSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &TrimmingSettings| select_ports_by_switch(around.topology, &settings.ports);
        Ok(on_each_switch(entries, ports, |settings, _, ports| Self::new(ports, settings.clone())))
    }
}

fn check_entry(settings: &TrimmingSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    check.ports_named_once(around.topology, &settings.ports, &format!("{section}.ports"));
    let field = |name: &str| format!("{section}.{name}");
    let is_frame = settings.trimmed_frame.0 >= u64::from(MINIMUM_FRAME_BYTES);
    check.require(is_frame, &field("trimmed_frame"), "must be at least 64 B, the shortest frame");
    let longest = check.scenario.frame_max();
    check.require_else(settings.trimmed_frame < longest, || {
        let rule = format!("is not below the longest frame of all transports, {longest}: nothing would be cut");
        Problem::new(field("trimmed_frame"), "", rule)
    });
    check.require(is_length(settings.queue), &field("queue"), LENGTH_RULE);
    let reads = |protocol: &Protocol| matches!(protocol, Protocol::Tcp(_) | Protocol::Roce(_) | Protocol::Uet(_));
    let has_reader = check.scenario.transports.iter().any(|transport| reads(&transport.protocol));
    let rule = "has no effect: only TCP, RoCE and UET are trimmed, and no transport is one of them";
    check.require(has_reader, section, rule);
    let shares = settings.headers_per_packet > 0;
    let switches = select_ports_by_switch(around.topology, &settings.ports).into_keys();
    let own = check.scenario.switch.variants_at(around.topology, switches);
    let is_strict = own.iter().any(|switch| switch.scheduler == SchedulerKind::Strict);
    check.require_else(!shares || !is_strict, || {
        let rule = "headers and data share a port by deficit round robin, and the scheduler is \"strict\"";
        Problem::new(field("headers_per_packet"), "", rule).hint("give 0: then headers always go first")
    });
    let why = "it needs hosts whose transport can tell of a packet that came without its payload";
    check.runs_in_simulations_only("packet trimming", why, section);
}
