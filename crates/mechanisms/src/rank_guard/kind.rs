//! A rank guard as a kind of mechanism: on the switches of the ports that its entries name, by which packets of hosts
//! come in.

use std::collections::BTreeSet;

use hitless_network::topology::{SwitchId, Topology};
use hitless_scenario::kind::{Built, Claimed, Header, Kind, Reach, Stage, Surroundings};
use hitless_scenario::{Check, MARKS};
use hitless_wire::PriorityMark;

use super::{RankGuard, RankGuardSettings, check};
use crate::port_choice::on_each_switch;

impl Kind for RankGuard {
    const NAME: &'static str = "rank-guard";
    const TITLE: &'static str = "a rank guard";
    const SUMMARY: &'static str = "A guard at the edge against hosts that lie about their priority.";
    const STAGE: Stage = Stage::RankCheck;
    const PLACES_FIELD: &'static str = "ports";

    type Settings = RankGuardSettings;

    fn switches(settings: &RankGuardSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        settings.ports_by_switch(topology).into_keys().collect()
    }

    /// The table of flows of each switch.
    fn memory_bytes(settings: &RankGuardSettings, around: Surroundings<'_>) -> u64 {
        64 * Self::switches(settings, around.topology).len() as u64 * u64::from(settings.slots)
    }

    /// It only raises ranks, and goes with all others.
    fn claims(_: &RankGuardSettings, _: &Topology) -> Vec<Claimed> {
        Vec::new()
    }

    /// It marks what is not marked.
    fn headers(_: &RankGuardSettings, _: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        vec![Header::of::<PriorityMark>(MARKS, Reach::Everywhere)]
    }

    fn check(settings: &RankGuardSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around.topology, section, check);
    }

    fn build(entries: &[&RankGuardSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let ports = |settings: &RankGuardSettings| settings.ports_by_switch(around.topology);
        Ok(on_each_switch(entries, ports, |settings, _, ports| Self::new(ports, settings)))
    }
}
