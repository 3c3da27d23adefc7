//! A mechanism that a switch runs and a test inspects.

use std::sync::{Arc, Mutex, MutexGuard};

use hitless_core::wire::{PortId, Time};

use crate::context::Context;
use crate::drop_reason::DropReason;
use crate::event::Event;
use crate::explore::{Digest, State};
use crate::mechanism::Mechanism;
use crate::needs::Needs;
use crate::protection::LinkEnd;
use crate::protection::ProtectionState;
use crate::report::Report;
use crate::resources::Resources;
use crate::verdict::Verdict;

/// A mechanism shared by a switch and a test.
#[derive(Debug, Default)]
pub struct Shared<M>(Arc<Mutex<M>>);

impl<M> Clone for Shared<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> Shared<M> {
    /// Shares a mechanism.
    pub fn new(mechanism: M) -> Self {
        Self(Arc::new(Mutex::new(mechanism)))
    }

    /// Returns the mechanism, while none of its hooks runs.
    ///
    /// # Panics
    /// If one of its hooks has panicked.
    pub fn get(&self) -> MutexGuard<'_, M> {
        self.0.lock().expect("no hook has panicked")
    }
}

impl<M: State> State for Shared<M> {
    fn tell(&self, digest: &mut Digest<'_>) {
        self.get().tell(digest);
    }
}

impl<M: Mechanism> Mechanism for Shared<M> {
    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.get().needs(queue_counts)
    }

    fn report(&self, now: Time) -> Report {
        self.get().report(now)
    }

    fn resources(&self) -> Resources {
        self.get().resources()
    }

    fn protection(&self, port: PortId, end: LinkEnd) -> Option<ProtectionState> {
        self.get().protection(port, end)
    }

    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.get().rx(context)
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.get().ingress(context)
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.get().egress(context)
    }

    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.get().tx(context)
    }

    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        self.get().on_tm_drop(reason, context)
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.get().on(event, context);
    }
}
