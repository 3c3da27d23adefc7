//! Wharf as a kind of mechanism, at both ends of its links.

use std::collections::{BTreeMap, BTreeSet};

use crate::wharf::header::WharfHeader;
use hitless_core::wire::Duration;
use hitless_core::wire::shim::CheckNumber;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Entries, Header, Kind, Reach, Stage, Surroundings, built};
use hitless_scenario::network::topology::{SwitchId, Topology};

use super::{Wharf, WharfSettings, contents};
use crate::one_link;

impl Kind for Wharf {
    const NAME: &'static str = "wharf";
    const TITLE: &'static str = "Wharf";
    const SUMMARY: &'static str =
        "Wharf on one link: forward error correction across frames (Giesen et al., NetCompute 2018).";
    const STAGE: Stage = Stage::LinkProtection;
    const ENTRIES: Entries = Entries::Shared;
    const PLACES_FIELD: &'static str = "link";
    const COUNTERS: hitless_switch::Declared =
        &[super::encoder::Counters::ALL, super::decoder::Counters::ALL, super::decoder::DeliveryCounters::ALL];
    const QUANTITIES: &'static [hitless_switch::Quantity] = &[super::decoder::RESTORATION_DELAY];
    /// The ends share the parity's information about the packets of a block.
    const SHARES_STATE: bool = true;

    type Settings = WharfSettings;

    fn resolve(settings: &mut WharfSettings, around: Surroundings<'_>) {
        settings.resolve(around);
    }

    fn switches(settings: &WharfSettings, topology: &Topology) -> BTreeSet<SwitchId> {
        one_link::switches(&settings.link, topology)
    }

    fn claims(settings: &WharfSettings, topology: &Topology) -> Vec<Claimed> {
        vec![Claim::OwnsLink.on_links(&one_link::named(&settings.link, topology))]
    }

    fn headers(settings: &WharfSettings, around: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        let reach = Reach::OneHop(one_link::sending_ports(&settings.link, around));
        vec![Header::of::<WharfHeader>("Wharf", reach).and::<CheckNumber>()]
    }

    fn queues(_: &WharfSettings) -> u16 {
        1
    }

    fn check(settings: &WharfSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        let field = |name: &str| format!("{section}.{name}");
        if check.link_between_switches(around.topology, &settings.link, "Wharf", &field("link")).is_none() {
            return;
        }
        let why = "there is no coder for real frames";
        check.runs_in_simulations_only("Wharf", why, section);
        check.require(settings.flush_time() > Duration::ZERO, &field("flush_after"), "must be above zero");
    }

    fn build(entries: &[&WharfSettings], around: Surroundings<'_>) -> Result<Built, String> {
        let mut by_switch = BTreeMap::<SwitchId, Self>::new();
        for settings in entries {
            for (from, to) in around.ends_of(&settings.link)? {
                let (writer, reader) = contents();
                by_switch.entry(from.switch).or_default().add_encoder(from.port, settings, writer);
                by_switch.entry(to.switch).or_default().add_decoder(to.port, settings, reader);
            }
        }
        Ok(by_switch.into_iter().map(built).collect())
    }
}
