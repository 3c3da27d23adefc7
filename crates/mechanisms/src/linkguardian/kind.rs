//! LinkGuardian as a kind of mechanism, at both ends of its links. Its protection can be switched on and off.

use std::collections::BTreeSet;

use crate::linkguardian::headers::{AckHeader, DataHeader};
use hitless_core::wire::link::LinkHeaders;
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Duration, PortId};
use hitless_scenario::Check;
use hitless_scenario::kind::{
    Built, Claim, Claimed, ControlCommand, Entries, Header, Kind, Protection, ProtectionOrder, Reach,
    RecirculationLimit, Stage, Surroundings, built,
};
use hitless_scenario::network::topology::{DirectedLink, SwitchId, Topology};
use hitless_switch::LinkEnd;

use super::headers::ON_LINKS;
use super::protected_ends::{ProtectedEnd, overload_of, protected_ends};
use super::{Action, Command, LinkGuardian, LinkGuardianSettings, Mode, build, check};
use crate::one_link;

impl Kind for LinkGuardian {
    const NAME: &'static str = "linkguardian";
    const TITLE: &'static str = "LinkGuardian";
    const SUMMARY: &'static str = "LinkGuardian on one link (Joshi et al., SIGCOMM 2023).";
    const STAGE: Stage = Stage::LinkProtection;
    const ENTRIES: Entries = Entries::Shared;
    const PLACES_FIELD: &'static str = "link";
    const COUNTERS: hitless_switch::Declared = &[
        super::report::EndState::ALL,
        super::report::SenderState::ALL,
        super::sender::SenderCounters::ALL,
        super::report::ReceiverCounters::ALL,
    ];
    const QUANTITIES: &'static [hitless_switch::Quantity] = &[crate::one_link::RECOVERY_DELAY];

    type Settings = LinkGuardianSettings;

    fn resolve(settings: &mut LinkGuardianSettings, around: Surroundings<'_>) {
        settings.resolve(around);
    }

    fn switches(settings: &LinkGuardianSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        one_link::switches(&settings.link, topology)
    }

    fn claims(settings: &LinkGuardianSettings, topology: &Topology) -> Vec<Claimed> {
        let links = one_link::named(&settings.link, topology);
        vec![Claim::OwnsLink.on_links(&links), Claim::PausesQueues.on_links(&links)]
    }

    /// Headers on the protected link. If both directions are protected, packets also carry acknowledgements.
    fn headers(settings: &LinkGuardianSettings, around: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        let entries = around.entries::<LinkGuardianSettings>();
        let protected: Vec<DirectedLink> = entries.flat_map(|(_, other)| around.links(&other.link)).collect();
        let links = around.links(&settings.link);
        let own = links.first().map(|own| own.link);
        let ways: Vec<DirectedLink> = protected.into_iter().filter(|way| Some(way.link) == own).collect();
        let reach = Reach::OneHop(ways.iter().filter_map(|&way| around.sending_port(way)).collect());
        if ways.len() > 1 {
            let header = Header::of::<DataHeader>("LinkGuardian both ways", reach);
            return vec![header.and::<CheckNumber>().and::<AckHeader>()];
        }
        vec![Header::of::<DataHeader>("LinkGuardian", reach).and::<CheckNumber>()]
    }

    /// Queues for waiting copies or packets, for dummies or acknowledgements, and for messages.
    fn queues(_: &LinkGuardianSettings) -> u16 {
        3
    }

    fn check(settings: &LinkGuardianSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn check_together(around: Surroundings<'_>, check: &mut Check<'_>) {
        check::admission(around, check);
    }

    fn commands(settings: &LinkGuardianSettings, around: Surroundings<'_>) -> Vec<ControlCommand> {
        let ends = protected_ends(around).into_iter().filter(|end| std::ptr::eq(end.settings, settings));
        ends.flat_map(|end| {
            settings.activation.iter().map(move |change| {
                let action = if change.active { Action::Activate } else { Action::Deactivate };
                let number = Command { port: end.at.port, end: end.end, action }.number();
                ControlCommand { at: change.at, switch: end.switch, number }
            })
        })
        .collect()
    }

    fn recirculation_limits(around: Surroundings<'_>) -> Vec<RecirculationLimit> {
        build::recirculation_limits(around)
    }

    fn build(_: &[&LinkGuardianSettings], around: Surroundings<'_>) -> Result<Built, String> {
        Ok(build::build(around)?.into_iter().map(built).collect())
    }

    fn waits(settings: &LinkGuardianSettings, topology: &Topology) -> Vec<(DirectedLink, &'static str, Duration)> {
        let links = one_link::named(&settings.link, topology).into_iter();
        links.map(|link| (link, "ack_no_timeout", settings.timeout())).collect()
    }

    fn link_headers(
        settings: &LinkGuardianSettings,
        topology: &Topology,
    ) -> Option<(&'static LinkHeaders, Vec<DirectedLink>)> {
        Some((&ON_LINKS, Self::protections(settings, topology)))
    }

    fn protections(settings: &LinkGuardianSettings, topology: &Topology) -> Vec<DirectedLink> {
        one_link::named(&settings.link, topology)
    }

    fn protection_command(port: PortId, end: LinkEnd, order: ProtectionOrder) -> u32 {
        let action = match order {
            ProtectionOrder::Off => Action::Deactivate,
            ProtectionOrder::On { copies, keeps_order } => {
                let mode = if keeps_order { Mode::Blocking } else { Mode::NonBlocking };
                Action::Protect { copies, mode }
            }
        };
        Command { port, end, action }.number()
    }

    fn admits(link: DirectedLink, around: Surroundings<'_>, is_on: &dyn Fn(Protection) -> bool) -> Result<(), String> {
        let ends = protected_ends(around);
        let is_active = |end: &ProtectedEnd<'_>| {
            end.link == link || is_on(Protection { switch: end.switch, port: end.at.port, end: end.end })
        };
        let Some(overload) = overload_of(around, &ends, is_active) else { return Ok(()) };
        let switch = &around.topology.switch(overload.switch).name;
        let (name, number) = (around.topology.link_name(link), overload.recirculation);
        Err(format!("recirculation{number} of {switch} has no room for '{name}': {}", overload.reason))
    }
}
