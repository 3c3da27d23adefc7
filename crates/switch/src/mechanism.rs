//! The interface between a mechanism and the switch: its needs and its hooks.

use hitless_core::state::State;
use hitless_core::wire::{Packet, PortId, Time};

use crate::context::Context;
use crate::drop_reason::DropReason;
use crate::event::Event;
use crate::needs::Needs;
use crate::protection::LinkEnd;
use crate::protection::ProtectionState;
use crate::report::Report;
use crate::resources::Resources;
use crate::verdict::Verdict;

/// A mechanism: a state machine that receives packets and events from the switch.
///
/// Every hook gets a [`Context`] with the time, the packet and the operations that the switch offers. The context does
/// not reveal who drives the switch, so the same code runs under both clocks. A mechanism keeps no packet handles
/// between calls; it stores packets in queues. A packet with an owner visits only its owner's hooks, whatever the
/// subscriptions, until the owner calls [`Context::release`].
pub trait Mechanism: Send {
    /// States the mechanism's requirements; called once, when the switch is built. `queue_counts` has the number of
    /// queues of each port before the mechanism's are added.
    fn needs(&mut self, queue_counts: &[usize]) -> Needs;

    /// Returns counters, histograms and violated invariants; `now` is the end of the run.
    fn report(&self, now: Time) -> Report;

    /// States the hardware resources that the mechanism needs, including every register array. Queues and hooks are
    /// taken from its [needs](Self::needs), which are asked for first.
    fn resources(&self) -> Resources;

    /// Returns the state of the protection of the link at `port`, as its sender or receiver `end`. `None` means that
    /// the control plane cannot switch any protection there on and off.
    fn protection(&self, _port: PortId, _end: LinkEnd) -> Option<ProtectionState> {
        None
    }

    /// Returns the state for a checkpoint. It must be complete: a mechanism built from the same settings that loads it
    /// must continue exactly as this one would. A run with a mechanism that returns `None` cannot be saved.
    fn state(&self) -> Option<&dyn State> {
        None
    }

    /// Returns the same state for loading.
    fn state_mut(&mut self) -> Option<&mut dyn State> {
        None
    }

    /// Calls `see` for each packet held outside the switch's queues that the mechanism may still send at `now` or
    /// later, such as a kept copy. A flow's result row is not written while such a packet exists.
    fn each_copy(&self, _now: Time, _see: &mut dyn FnMut(&Packet)) {}

    /// Called for a good frame that has come in, before routing.
    fn rx(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Called when routing has proposed an egress port and queue. An owned packet has the port and queue that its owner
    /// set last.
    fn ingress(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Called before [`Self::ingress`] for a packet in a [quiet role](Needs::quiet_roles) that returns from a
    /// recirculation port. Returns true to send the packet back to the queue that it came from, without `ingress`. It
    /// may only change state if it returns true. Checked runs skip this hook.
    fn goes_round(&mut self, _packet: &Packet) -> bool {
        false
    }

    /// Called when the packet has left its queue; the queue depth is visible.
    fn egress(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Called last, before the MAC sends the packet.
    fn tx(&mut self, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Called when the traffic manager drops a packet that the mechanism owns, drops any packet towards a port with a
    /// subscription to drops, or evicts a packet that it had admitted. It counts as a pass through egress, like the
    /// "deflected on drop" packet of a real switch. All subscribers are called, and the first verdict other than
    /// [`Verdict::Continue`] counts.
    ///
    /// After [`Verdict::Continue`] the packet ends here. After [`Verdict::Forward`] it tries the other queue at once,
    /// with the changes that the hook made. That is its last try: if it is dropped again, the hooks are called again
    /// with [`Context::is_last_try`] true, and the packet ends whatever they return. So no packet loops inside a
    /// switch.
    fn on_tm_drop(&mut self, _reason: DropReason, _context: &mut Context<'_>) -> Verdict {
        Verdict::Continue
    }

    /// Called for an event that concerns no packet.
    fn on(&mut self, _event: Event, _context: &mut Context<'_>) {}
}

/// For use in an `impl Mechanism`: the mechanism is itself the [`State`](hitless_core::state::State) to save.
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
