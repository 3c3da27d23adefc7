//! Whether a link can have Link Layer Retry.

use hitless_scenario::Check;
use hitless_scenario::kind::Surroundings;
use hitless_wire::{Bytes, Duration};

use super::settings::{LinkLayerRetryAction, LinkLayerRetrySettings};

/// Reports what of one entry cannot be meant.
pub fn check_entry(settings: &LinkLayerRetrySettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let topology = around.topology;
    let field = |name: &str| format!("{section}.{name}");
    let Some(link) = check.link_between_switches(topology, &settings.link, "Link Layer Retry", &field("link")) else {
        return;
    };
    let why = "a network interface shows neither preambles nor ordered sets";
    check.runs_in_simulations_only("Link Layer Retry", why, section);
    let way = topology.link(link.link).settings.delay + check.scenario.switch.phy_latency;
    let is_patient = settings.max_replay_timer > way * 2;
    check.require(is_patient, &field("max_replay_timer"), "must be longer than the way there and back");
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
