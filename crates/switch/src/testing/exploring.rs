//! The harness for exhaustive exploration: time in steps, and a digest of the state.

use hitless_core::wire::{Duration, Packet, Time};

use super::{Happening, Harness, World};
use crate::environment::SwitchEvent;
use crate::explore::{Choices, Digest, State};

impl World {
    /// Returns the first step at or after `at`.
    pub(super) fn on_grid(&self, at: Time) -> Time {
        let step = self.grid.as_ps();
        if step == 0 { at } else { Time(at.as_ps().div_ceil(step) * step) }
    }

    /// Returns the next event. Of a timer and an arrival at the same switch at the same time, either can come first.
    pub(super) fn next(&self) -> Option<(Time, u64)> {
        let (&first, _) = self.events.first_key_value()?;
        let Some(choices) = &self.choices else { return Some(first) };
        let now = || self.events.range(first..=(first.0, u64::MAX));
        let Some((&timer, switch)) = now().find_map(|(key, happening)| Some((key, happening.switch_of_timer()?)))
        else {
            return Some(first);
        };
        let Some((&other, _)) = now().find(|(_, happening)| happening.switch_reached() == Some(switch)) else {
            return Some(first);
        };
        if first != timer && first != other {
            return Some(first);
        }
        Some([timer.min(other), timer.max(other)][choices.any(2)])
    }
}

impl Happening {
    fn switch_of_timer(&self) -> Option<usize> {
        match self {
            Happening::Own { switch, event: SwitchEvent::Timer { .. }, .. } => Some(*switch),
            _ => None,
        }
    }

    fn switch_reached(&self) -> Option<usize> {
        match self {
            Happening::Own { switch, event: SwitchEvent::Loopback { .. } | SwitchEvent::OrderedSet { .. }, .. }
            | Happening::Arrive { switch, .. } => Some(*switch),
            _ => None,
        }
    }

    fn tell(&self, digest: &mut Digest<'_>) {
        match *self {
            Happening::Own { switch, life, event } => {
                digest.value((0, switch, life));
                tell_event(event, digest);
            }
            Happening::Arrive { switch, port, packet, is_whole } => {
                digest.value((1, switch, port, is_whole));
                digest.packet(packet);
            }
            Happening::State { switch, port, state } => digest.value((2, switch, port, state)),
            Happening::Command { switch, number } => digest.value((3, switch, number)),
        }
    }
}

fn tell_event(event: SwitchEvent, digest: &mut Digest<'_>) {
    match event {
        SwitchEvent::Loopback { port, packet } => {
            digest.value((0, port));
            digest.packet(packet);
        }
        SwitchEvent::Enqueue { packet, is_last_try } => {
            digest.value((1, is_last_try));
            digest.packet(packet);
        }
        SwitchEvent::Release { packet } => {
            digest.value(2);
            digest.packet(packet);
        }
        SwitchEvent::Service { port } => digest.value((3, port)),
        SwitchEvent::PauseEnds { port, class } => digest.value((4, port, class)),
        SwitchEvent::PauseBegins { port, class } => digest.value((8, port, class)),
        SwitchEvent::TellPause { port, class } => digest.value((9, port, class)),
        SwitchEvent::PauseWatchdog { port, class } => digest.value((10, port, class)),
        SwitchEvent::Resume { port, queue } => digest.value((5, port, queue)),
        SwitchEvent::OrderedSet { port, set } => digest.value((6, port, set)),
        SwitchEvent::UpdateCredits { .. } | SwitchEvent::SyncCredits { .. } | SwitchEvent::CreditsFreed { .. } => {
            unreachable!("no exploring test has credits")
        }
        SwitchEvent::Timer { mechanism, token } => digest.value((7, mechanism, token)),
    }
}

impl Harness {
    /// Restricts events to steps of time, and lets `choices` decide the remaining order within a step.
    #[must_use]
    pub fn in_steps(mut self, step: Duration, choices: &Choices) -> Self {
        self.world.grid = step;
        self.world.choices = Some(choices.clone());
        self
    }

    /// Returns the digest of the present state, all scheduled events, and the state that `also` adds. Nothing more may
    /// happen at `now`. `since_now` makes the times in packets relative to now.
    pub fn digest(&self, now: Time, since_now: fn(Packet, Time) -> Packet, also: impl FnOnce(&mut Digest<'_>)) -> u64 {
        let mut digest = Digest::new(now, &self.world.packets, since_now);
        for (&(at, _), happening) in &self.world.events {
            digest.time(at);
            happening.tell(&mut digest);
        }
        self.switches.iter().for_each(|switch| switch.tell(&mut digest));
        also(&mut digest);
        digest.finish()
    }
}
