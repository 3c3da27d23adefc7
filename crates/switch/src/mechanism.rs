//! What a mechanism is to the switch: what it needs, and its hooks.

use hitless_core::state::State;
use hitless_core::wire::{Packet, PortId, Time};

use crate::context::Context;
use crate::drop_reason::DropReason;
use crate::event::Event;
use crate::link_end::LinkEnd;
use crate::needs::Needs;
use crate::report::Report;
use crate::resources::Resources;
use crate::verdict::Verdict;

/// A mechanism: a state machine that the switch tells of packets and events.
///
/// Every hook gets a [`Context`] with the time, the packet and what it may ask of the switch; the context says nothing
/// of who drives the switch, so the same code runs under both clocks. A mechanism keeps no packet handles between
/// calls: what it stores, it stores in queues. A packet with an owner visits only its owner's hooks, whatever the
/// subscriptions, until that owner calls [`Context::release`].
pub trait Mechanism: Send {
    /// What it needs; asked once, when the switch is built. `queue_counts` has the number of queues that each port
    /// has before the mechanism's own are added.
    fn needs(&mut self, queue_counts: &[usize]) -> Needs;

    /// Counters, histograms and violated invariants; `now` is the end of the run.
    fn report(&self, now: Time) -> Report;

    /// What it takes of a real switch, but for the queues and hooks that are among its [needs](Self::needs); asked
    /// after these. Every register array is in it.
    fn resources(&self) -> Resources;

    /// Whether it protects the link of `port`, of which the port is `end`. None: it has no protection there that the
    /// control plane can switch on and off.
    fn protection(&self, _port: PortId, _end: LinkEnd) -> Option<bool> {
        None
    }

    /// What changes in it while it runs, for a checkpoint: all of it, so that one that was built from the same settings
    /// and has loaded it goes on as this one would. None: a run with it has no checkpoints.
    fn state(&self) -> Option<&dyn State> {
        None
    }

    /// The same, to load it.
    fn state_mut(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Shows each packet that is in none of the switch's queues and that it may send all the same at `now` or later, as
    /// it keeps a copy. While there is one of a flow, the flow's row of the results is not written.
    fn each_copy(&self, _now: Time, _see: &mut dyn FnMut(&Packet)) {}

    /// A good frame has come in; before routing.
    fn rx(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Routing has proposed an egress port and queue (for an owned packet: whatever its owner last set).
    fn ingress(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// The packet has left its queue; queue depth is visible.
    fn egress(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// The last hook before the MAC.
    fn tx(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// The traffic manager has dropped a packet that the mechanism owns, or any that was to leave by a port whose drops
    /// it subscribed to; or it gives up one that it had admitted. A pass through egress, with the packet
    /// "deflected on drop". All who subscribed are told, and the first verdict other than [`Verdict::Continue`] counts.
    ///
    /// A packet that goes on ends here. One that is forwarded tries the other queue at once, with what the hook made of
    /// it. That is its last try: if it is dropped again the hooks are told again, [`Context::is_last_try`] is true, and
    /// the packet ends whatever they return. So no packet goes round within a switch.
    fn on_tm_drop(&mut self, _reason: DropReason, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Something has happened beside the way of a packet.
    fn on(&mut self, _event: Event, _context: &mut Context<'_>) {}
}

/// In an `impl Mechanism`: what changes in it is itself, as its `state!` of crates/core/src/state says.
#[macro_export]
macro_rules! is_its_own_state {
    () => {
        fn state(&self) -> Option<&dyn $crate::state::State> {
            Some(self)
        }

        fn state_mut(&mut self) -> Option<&mut dyn $crate::state::State> {
            Some(self)
        }
    };
}
