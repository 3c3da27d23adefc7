//! The ends of links with Link Layer Retry.

use hitless_mechanisms::link_layer_retry::{EndConfig, FrameAction, Profile};
use hitless_wire::{Duration, PortId};

use super::Planner;
use crate::scenario::{LinkLayerRetryAction, LinkLayerRetrySettings};

impl Planner<'_> {
    pub(super) fn add_link_layer_retry(&mut self, settings: &LinkLayerRetrySettings) -> Result<(), String> {
        for (from, to) in self.ends_of(&settings.link)? {
            let end = |port: PortId| EndConfig { port, profile: profile(settings) };
            self.draft(from.0).link_layer_retry.get_or_insert_default().add_transmitter(end(from.1));
            self.draft(to.0).link_layer_retry.get_or_insert_default().add_receiver(end(to.1));
        }
        Ok(())
    }
}

fn profile(settings: &LinkLayerRetrySettings) -> Profile {
    Profile {
        max_outstanding_frames: settings.max_outstanding_frames,
        max_outstanding_bytes: settings.max_outstanding_bytes,
        max_replay_count: settings.max_replay_count,
        max_replay_timer: settings.max_replay_timer,
        pcs_lost_timeout: unless_zero(settings.pcs_lost_timeout),
        data_age_timeout: unless_zero(settings.data_age_timeout),
        ctlos_spacing: settings.ctlos_spacing,
        init_action: action(settings.init_action),
        flush_action: action(settings.flush_action),
        re_init_on_flush: settings.re_init_on_flush,
    }
}

fn unless_zero(time: Duration) -> Option<Duration> {
    (time > Duration::ZERO).then_some(time)
}

const fn action(action: LinkLayerRetryAction) -> FrameAction {
    match action {
        LinkLayerRetryAction::BestEffort => FrameAction::BestEffort,
        LinkLayerRetryAction::Block => FrameAction::Block,
        LinkLayerRetryAction::Discard => FrameAction::Discard,
    }
}
