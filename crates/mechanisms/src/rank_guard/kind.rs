//! A rank guard as a kind of mechanism, on the switches with a named port through which hosts send.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_core::wire::PriorityMark;
use hitless_core::wire::link::{LinkHeaders, PRIORITIES};
use hitless_scenario::kind::{Built, Claimed, Header, Kind, Reach, Stage, Surroundings};
use hitless_scenario::network::topology::select::select_ports;
use hitless_scenario::network::topology::{DirectedLink, SwitchId, Topology};
use hitless_scenario::{Check, MARKS};

use super::{RankGuard, RankGuardSettings};
use crate::port_choice::on_each_switch;

impl Kind for RankGuard {
    const NAME: &'static str = "rank-guard";
    const TITLE: &'static str = "a rank guard";
    const SUMMARY: &'static str = "A guard at the edge against hosts that lie about their priority.";
    const STAGE: Stage = Stage::RankCheck;
    const PLACES_FIELD: &'static str = "ports";
    const COUNTERS: hitless_switch::Declared = &[super::Counters::ALL];

    type Settings = RankGuardSettings;

    fn switches(settings: &RankGuardSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.ports_by_switch(topology).into_keys().collect()
    }

    fn memory_bytes(settings: &RankGuardSettings, around: Surroundings<'_>) -> u64 {
        64 * Self::switches(settings, around.topology).len() as u64 * u64::from(settings.slots)
    }

    /// No claims: it only raises ranks, and is compatible with all others.
    fn claims(_: &RankGuardSettings, _: &Topology) -> Vec<Claimed> {
        Vec::new()
    }

    fn headers(_: &RankGuardSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        vec![Header::of::<PriorityMark>(MARKS, Reach::Everywhere)]
    }

    /// The mark must reach the next process too.
    fn link_headers(_: &RankGuardSettings, topology: &Topology) -> Option<(&'static LinkHeaders, Vec<DirectedLink>)> {
        Some((&PRIORITIES, (0..2 * topology.links.len()).map(DirectedLink::from_index).collect()))
    }

    fn check(settings: &RankGuardSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check_entry(settings, around.topology, section, check);
    }

    fn build(entries: &[&RankGuardSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &RankGuardSettings| settings.ports_by_switch(around.topology);
        Ok(on_each_switch(entries, ports, |settings, _, ports| Self::new(ports, settings)))
    }
}

fn check_entry(settings: &RankGuardSettings, topology: &Topology, section: &str, check: &mut Check<'_>) {
    let field = format!("{section}.ports");
    let before = check.found();
    for (number, name) in settings.ports.iter().enumerate() {
        let rule = select_ports(topology, name).err();
        check.report_all(rule.map(|rule| Problem::new(format!("{field}[{number}]"), "", rule)));
    }
    let guards = !settings.ports_by_switch(topology).is_empty();
    let rule = "has no port by which packets of a host come in";
    check.require(guards || check.found() > before, &field, rule);
    let fixed = check.scenario.flows.iter().position(|group| group.rank.is_some());
    check.require_else(fixed.is_none(), || {
        let rule = "a rank guard takes the first rank of a flow for the bytes that it promises, and this one is fixed";
        Problem::new(format!("flows[{}].rank", fixed.unwrap_or(0)), "", rule)
    });
}
