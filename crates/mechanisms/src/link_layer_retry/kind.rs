//! Link Layer Retry as a kind of mechanism, at both ends of its links.

use std::collections::{BTreeMap, BTreeSet};

use crate::link_layer_retry::header::PreambleSequence;
use hitless_core::settings::Problem;
use hitless_core::settings::defaults::fill_missing;
use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Entries, Header, Kind, Reach, Stage, Surroundings, built};
use hitless_scenario::network::topology::{SwitchId, Topology};
use toml::Table;

use super::LinkLayerRetry;
use super::settings::{LinkLayerRetryAction, LinkLayerRetrySettings};
use crate::one_link;

impl Kind for LinkLayerRetry {
    const NAME: &'static str = "link-layer-retry";
    const TITLE: &'static str = "Link Layer Retry";
    const SUMMARY: &'static str = "Ultra Ethernet's Link Layer Retry on one link: go-back-N below frames.";
    const STAGE: Stage = Stage::LinkProtection;
    const ENTRIES: Entries = Entries::Shared;
    const PLACES_FIELD: &'static str = "link";
    const COUNTERS: hitless_switch::Declared =
        &[super::transmitter::Counters::ALL, super::receiver::Counters::ALL, super::receiver::DeliveryCounters::ALL];
    const QUANTITIES: &'static [hitless_switch::Quantity] = &[crate::one_link::RECOVERY_DELAY];

    type Settings = LinkLayerRetrySettings;

    fn fill(entry: &mut Table, topology: &Topology) {
        let Some(range) = one_link::written(entry, topology) else { return };
        fill_missing(entry, &LinkLayerRetrySettings::for_range(range));
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

    fn queues(_: &LinkLayerRetrySettings) -> u16 {
        1
    }

    fn check(settings: &LinkLayerRetrySettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        check_entry(settings, around, section, check);
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

/// Maximum share of the line that losses may cost.
const LINE_COST_MAX: f64 = 0.15;

fn check_entry(settings: &LinkLayerRetrySettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let topology = around.topology;
    let field = |name: &str| format!("{section}.{name}");
    let Some(link) = check.link_between_switches(topology, &settings.link, "Link Layer Retry", &field("link")) else {
        return;
    };
    let why = "a network interface shows neither preambles nor ordered sets";
    check.runs_in_simulations_only("Link Layer Retry", why, section);
    let range = one_link::range(link, topology);
    let frame_bytes = check.scenario.frame_max().0.saturating_add(topology.spec(link).overhead_bytes.into());
    let round_trip = |frame: Duration| (range.longest_delay + topology.spec(link).phy_latency + frame) * 2;
    let least = round_trip(range.lowest_rate.time_for(frame_bytes));
    check.require_else(settings.max_replay_timer > least, || {
        let rule = format!("must be longer than {least}: the way there and back, and a frame each way");
        Problem::new(field("max_replay_timer"), "", rule).hint("leave it out: it then follows from the link")
    });
    // Each loss resends all later frames (go-back-N), so that the line loses a round trip.
    let loss_rate = check.scenario.loss_rate_max(topology, link);
    // The highest rate has the maximum number of frames in a round trip.
    let frame = range.highest_rate.time_for(frame_bytes);
    let least = round_trip(frame);
    let lost = least.as_ps() as f64 * loss_rate / frame.as_ps() as f64;
    let is_cheap = lost <= LINE_COST_MAX / (1.0 - LINE_COST_MAX);
    check.require_else(is_cheap || !settings.admission_control, || {
        let rule = format!(
            "go-back-N costs about {:.0} % of this line: each loss ({loss_rate} of the frames, which take {frame}) \
             sends again what {least} bring",
            100.0 * lost / (1.0 + lost),
        );
        Problem::new(field("link"), "", rule)
            .hint("kind = \"linkguardian\" repairs single frames; admission_control = false lets it be tried")
    });
    let is_last_resort =
        settings.data_age_timeout == Duration::ZERO || settings.data_age_timeout > settings.max_replay_timer;
    check.require(is_last_resort, &field("data_age_timeout"), "must be zero (never), or longer than max_replay_timer");
    let is_spacing = (Bytes(400)..=Bytes(16_384)).contains(&settings.ctlos_spacing);
    check.require(is_spacing, &field("ctlos_spacing"), "must be from 400 B to 16384 B");
    let goes_on = settings.re_init_on_flush || settings.flush_action == LinkLayerRetryAction::BestEffort;
    let rule = "with flush_action \"block\" or \"discard\" no packet would cross the link again after a flush";
    check.require(goes_on, &field("re_init_on_flush"), rule);
    let has_room = settings.max_outstanding_bytes > Bytes::ZERO;
    check.require(has_room, &field("max_outstanding_bytes"), "must be above zero");
}
