//! Link Layer Retry as a kind of mechanism: at both ends of its links.

use std::collections::{BTreeMap, BTreeSet};

use crate::link_layer_retry::header::PreambleSequence;
use hitless_network::topology::{SwitchId, Topology};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Entries, Header, Kind, Reach, Stage, Surroundings, built};
use hitless_settings::defaults::fill_missing;
use hitless_wire::shim::CheckNumber;
use toml::Table;

use super::{LinkLayerRetry, LinkLayerRetrySettings, check};
use crate::one_link;

impl Kind for LinkLayerRetry {
    const NAME: &'static str = "link-layer-retry";
    const TITLE: &'static str = "Link Layer Retry";
    const SUMMARY: &'static str = "Ultra Ethernet's Link Layer Retry on one link: go-back-N below frames.";
    const STAGE: Stage = Stage::LinkProtection;
    const ENTRIES: Entries = Entries::Shared;
    const PLACES_FIELD: &'static str = "link";

    type Settings = LinkLayerRetrySettings;

    fn fill(entry: &mut Table, topology: &Topology) {
        let Some(link) = one_link::written(entry, topology) else { return };
        fill_missing(entry, &LinkLayerRetrySettings::for_link(link.rate, link.delay));
    }

    fn switches(settings: &LinkLayerRetrySettings, topology: &Topology) -> BTreeSet<SwitchId> {
        one_link::switches(&settings.link, topology)
    }

    fn claims(settings: &LinkLayerRetrySettings, topology: &Topology) -> Vec<Claimed> {
        vec![Claim::OwnsLink.on_links(&one_link::named(&settings.link, topology))]
    }

    fn headers(settings: &LinkLayerRetrySettings, around: Surroundings<'_>, _: &Check<'_>) -> Vec<Header> {
        let reach = Reach::OneHop(one_link::sending_ports(&settings.link, around));
        vec![Header::of::<PreambleSequence>("Link Layer Retry", reach).and::<CheckNumber>()]
    }

    /// For replays.
    fn queues(_: &LinkLayerRetrySettings) -> u16 {
        1
    }

    fn check(settings: &LinkLayerRetrySettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check::check_entry(settings, around, section, check);
    }

    fn build(entries: &[&LinkLayerRetrySettings], around: Surroundings<'_>) -> Result<Built, String> {
        let mut by_switch = BTreeMap::<SwitchId, Self>::new();
        for settings in entries {
            for (from, to) in around.ends_of(&settings.link)? {
                by_switch.entry(from.switch).or_default().add_transmitter(from.port, settings);
                by_switch.entry(to.switch).or_default().add_receiver(to.port, settings);
            }
        }
        Ok(by_switch.into_iter().map(built).collect())
    }
}
