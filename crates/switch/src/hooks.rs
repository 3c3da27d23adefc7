//! The calls of hooks: one mechanism after the other, and after each of them what it has caused.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{PortId, Time};

use crate::context::{Context, Visit};
use crate::environment::Environment;
use crate::event::Event;
use crate::half::Half;
use crate::mechanism::Mechanism;
use crate::outbox::Outbox;
use crate::switch::Switch;
use crate::verdict::Verdict;

impl Switch {
    /// Calls a hook of the mechanisms in `subscribed`, one bit each, until one does not let the packet go on, or takes
    /// it.
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
            let number = subscribed.trailing_zeros() as usize;
            subscribed &= subscribed - 1;
            self.core.pass.enter(number as u8);
            let verdict = {
                let (packets, tables) = environment.parts();
                let outbox = Outbox { packets, outputs: &mut self.outputs };
                let mut context = Context::new(&mut self.core, outbox, &tables, number as u8, visit);
                hook(&mut *self.mechanisms[number], &mut context)
            };
            if !self.outputs.is_empty() {
                self.empty_outbox(environment);
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

    /// Tells the mechanisms in `told`, one bit each, of an event: a pass through ingress for each.
    pub(crate) fn tell<E: Environment>(&mut self, told: u8, now: Time, event: Event, environment: &mut E) {
        let packet = PacketHandle(u32::MAX);
        let visit = Visit { now, port: PortId(0), packet, is_last_try: false, queued: (now, 0) };
        self.run(told, visit, environment, |mechanism, context| {
            context.pass().begin(Half::Ingress);
            mechanism.on(event, context);
            Verdict::Continue
        });
    }

    /// Tells all mechanisms of an event.
    pub(crate) fn tell_all<E: Environment>(&mut self, now: Time, event: Event, environment: &mut E) {
        let all = (1u16 << self.mechanisms.len()) - 1;
        self.tell(all as u8, now, event, environment);
    }
}
