//! Calls the hooks of mechanisms, one after the other, and applies the effects of each.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{PortId, Time};

use crate::context::{Context, Visit};
use crate::environment::Environment;
use crate::event::Event;
use crate::mechanism::Mechanism;
use crate::outbox::Outbox;
use crate::switch::Switch;
use crate::verdict::Half;
use crate::verdict::Verdict;

impl Switch {
    /// Calls a hook of the mechanisms in `subscribed`, one bit each, until one of them returns a verdict other than
    /// `Continue`.
    #[inline]
    pub(crate) fn run<E: Environment>(
        &mut self,
        mut subscribed: u8,
        visit: Visit,
        environment: &mut E,
        mut hook: impl FnMut(&mut (dyn Mechanism + 'static), &mut Context<'_>) -> Verdict,
    ) -> Verdict {
        debug_assert!(u32::from(subscribed).checked_shr(self.mechanisms.len() as u32).unwrap_or(0) == 0);
        while subscribed != 0 {
            // The list's order is the order of the bits, so the lowest bit runs first.
            let number = subscribed.trailing_zeros() as usize;
            subscribed &= subscribed - 1;
            self.core.pass.enter(number as u8);
            let verdict = {
                let (packets, tables) = environment.parts();
                let outbox = Outbox { packets, outputs: &mut self.outputs };
                let mut context = Context::new(&mut self.core, outbox, &tables, number as u8, visit);
                hook(&mut *self.mechanisms[number], &mut context)
            };
            // A later hook must see the effects of an earlier one in the environment, so they are not collected for the
            // packet.
            if !self.outputs.is_empty() {
                if E::OBSERVES {
                    environment.hook_ran(visit.packet);
                }
                self.empty_outbox(environment);
            }
            if E::OBSERVES && self.core.has_new_stops {
                self.report_new_stops(environment);
            }
            if verdict != Verdict::Continue {
                return verdict;
            }
        }
        Verdict::Continue
    }

    #[inline(never)]
    fn empty_outbox<E: Environment>(&mut self, environment: &mut E) {
        for &output in &self.outputs {
            output.apply(environment);
        }
        self.outputs.clear();
    }

    /// Sends an event to the mechanisms in `told`, one bit each; each gets a separate pass through ingress.
    pub(crate) fn tell<E: Environment>(&mut self, told: u8, now: Time, event: Event, environment: &mut E) {
        // An event concerns no packet; `Context::packet` with this handle panics.
        let packet = PacketHandle(u32::MAX);
        let visit = Visit { now, port: PortId(0), packet, is_last_try: false, queued: (now, 0) };
        self.run(told, visit, environment, |mechanism, context| {
            context.pass().begin(Half::Ingress);
            mechanism.on(event, context);
            Verdict::Continue
        });
    }

    /// Sends an event to all mechanisms.
    pub(crate) fn tell_all<E: Environment>(&mut self, now: Time, event: Event, environment: &mut E) {
        let all = (1u16 << self.mechanisms.len()) - 1;
        self.tell(all as u8, now, event, environment);
    }
}
