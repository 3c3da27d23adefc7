//! The harness when every way of its world is gone through: time in steps, and a state that can be told.

use hitless_core::wire::{Duration, Packet, Time};

use super::{Happening, Harness, World};
use crate::environment::SwitchEvent;
use crate::explore::{Choices, Digest, State};

impl World {
    /// The first step at which it may happen.
    pub(super) fn on_grid(&self, at: Time) -> Time {
        let step = self.grid.as_ps();
        if step == 0 { at } else { Time(at.as_ps().div_ceil(step) * step) }
    }

    /// What happens next. Of a timer and something that reaches the same switch at the same time, either may come
    /// first.
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
        SwitchEvent::Resume { port, queue } => digest.value((5, port, queue)),
        SwitchEvent::OrderedSet { port, set } => digest.value((6, port, set)),
        SwitchEvent::Timer { mechanism, token } => digest.value((7, mechanism, token)),
    }
}

impl Harness {
    /// Lets everything happen in steps of time, and has `choices` decide what else the order within a step is.
    #[must_use]
    pub fn in_steps(mut self, step: Duration, choices: &Choices) -> Self {
        self.world.grid = step;
        self.world.choices = Some(choices.clone());
        self
    }

    /// The digest of all that is here and will happen, and of what `also` tells, `now`, at which nothing more is to
    /// happen. `since_now` makes times in packets count from now on.
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
