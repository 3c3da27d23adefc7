//! The receiver's notion of how much protection the link is worth, and how it tells the sender.

use hitless_switch::Context;
use hitless_wire::linkguardian::{Level, Message, SequenceNumber};

use super::super::fallback::Fallback;
use super::super::settings::FallbackSettings;
use super::super::{TimerKind, timer_token};
use super::Receiver;

/// The policy, and what it was last told.
#[derive(Debug)]
pub struct Monitor {
    config: FallbackSettings,
    policy: Fallback,
    frames_seen: u64,
    corrupted_seen: u64,
    losses_seen: u64,
}

impl Monitor {
    pub fn new(config: FallbackSettings) -> Self {
        Self { config, policy: Fallback::new(config), frames_seen: 0, corrupted_seen: 0, losses_seen: 0 }
    }
}

impl Receiver {
    pub(super) fn start_monitor(&mut self, context: &mut Context<'_>) {
        let Some(monitor) = &self.monitor else { return };
        let at = context.now() + monitor.config.period;
        context.wake_at(at, timer_token(self.config.port, self.config.channel, TimerKind::Monitor));
    }

    /// Reads the counters of the MAC and of the numbers, and says what protection it wants: in every period, since what
    /// is said may be lost.
    pub fn watch_losses(&mut self, context: &mut Context<'_>) {
        let mac = context.mac(self.config.port).counters();
        let Some(monitor) = &mut self.monitor else { return };
        let corrupted = mac.frames_received_all - mac.frames_received_ok;
        let frames = mac.frames_received_all - std::mem::replace(&mut monitor.frames_seen, mac.frames_received_all);
        let of_mac = corrupted - std::mem::replace(&mut monitor.corrupted_seen, corrupted);
        let of_numbers = self.counters.losses - std::mem::replace(&mut monitor.losses_seen, self.counters.losses);
        // A MAC that does not count what it drops, as behind a socket, shows in the numbers all the same.
        monitor.policy.observe(context.now(), frames, of_mac.max(of_numbers));
        let level = monitor.policy.level();
        self.say(Message::Request(level), SequenceNumber::default(), context);
        self.start_monitor(context);
    }

    /// What the monitor asks for, and how often it has changed its mind.
    pub fn wanted_level(&self) -> (Level, u64) {
        self.monitor
            .as_ref()
            .map_or((Level::AsCommanded, 0), |monitor| (monitor.policy.level(), monitor.policy.changes()))
    }
}
