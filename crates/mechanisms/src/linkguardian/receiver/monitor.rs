//! The receiver's estimate of the protection that the link needs.

use crate::linkguardian::headers::Level;
use hitless_core::wire::Time;
use hitless_switch::MacCounters;

use super::super::fallback::Fallback;
use super::super::settings::FallbackSettings;

/// The policy, and the last counter values.
#[derive(Debug, hitless_core::state::State)]
pub struct Monitor {
    #[configured]
    pub config: FallbackSettings,
    #[part]
    pub policy: Fallback,
    frames_seen: u64,
    corrupted_seen: u64,
    losses_seen: u64,
}

impl Monitor {
    pub fn new(config: FallbackSettings) -> Self {
        Self { config, policy: Fallback::new(config), frames_seen: 0, corrupted_seen: 0, losses_seen: 0 }
    }

    /// The level for the counters of the MAC and for `losses`, the losses found by gaps in the numbers.
    pub fn observe(&mut self, now: Time, mac: MacCounters, losses: u64) -> Level {
        assert!(mac.frames_received_ok <= mac.frames_received_all, "all frames are no fewer than the good ones");
        assert!(mac.frames_received_all >= self.frames_seen, "the counters of a MAC do not fall");
        assert!(losses >= self.losses_seen, "losses that were found stay");
        let corrupted = mac.frames_received_all - mac.frames_received_ok;
        // Counters of a MAC only grow; the policy needs the difference to the last period.
        let frames = mac.frames_received_all - std::mem::replace(&mut self.frames_seen, mac.frames_received_all);
        let of_mac = corrupted - std::mem::replace(&mut self.corrupted_seen, corrupted);
        let of_numbers = losses - std::mem::replace(&mut self.losses_seen, losses);
        // Some MACs do not count the frames they drop, for example behind a socket; the numbers show such losses.
        self.policy.observe(now, frames, of_mac.max(of_numbers));
        self.policy.level()
    }
}
