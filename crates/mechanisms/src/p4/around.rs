//! Requests to the switch by functions beyond v1model.

use hitless_core::engine::{Stream, draws};
use hitless_core::wire::{Duration, PortId, QueueId};
use hitless_p4::action::DROP_PORT;
use hitless_p4::fabric::{Fabric, Rounds};
use hitless_switch::Context;

use super::queues::Queues;
use super::told::InVain;

pub struct Around<'c, 'a> {
    pub context: &'c mut Context<'a>,
    pub stream: &'c mut Stream,
    pub has_packet: bool,
    pub queues: &'c Queues,
    pub in_vain: &'c mut InVain,
}

impl Around<'_, '_> {
    /// The queue with these numbers; a missing one is reported at the end.
    fn place(&mut self, port: u32, queue: u32) -> Option<(PortId, QueueId)> {
        let place = self.queues.place(port, queue);
        if place.is_none() {
            self.in_vain.note_missing(self.queues.missing(port, queue));
        }
        place
    }
}

/// The maximum delay of a timer, longer than any run.
const DELAY_NS_MAX: u64 = 1 << 50;

impl Fabric for Around<'_, '_> {
    fn flow_hash(&mut self) -> u32 {
        if self.has_packet { self.context.packet().flow_hash } else { 0 }
    }

    fn queue_depth_bytes(&mut self, port: u32, of: u32) -> u64 {
        self.place(port, of).map_or(0, |(port, queue)| self.context.queue(port, queue).bytes())
    }

    fn queue_has_room(&mut self, port: u32, of: u32) -> bool {
        let at = self.place(port, of).filter(|_| self.has_packet);
        at.is_some_and(|(port, queue)| self.context.queue(port, queue).has_room())
    }

    fn class_queue(&mut self, port: u32) -> u32 {
        let class = if self.has_packet { self.context.packet().class } else { 0 };
        self.queues.port(port).map_or(0, |port| self.context.ports().class_queue(port, class).0.into())
    }

    fn pause_queue(&mut self, port: u32, of: u32) {
        if let Some((port, queue)) = self.place(port, of) {
            self.context.queue(port, queue).pause();
        }
    }

    fn resume_queue(&mut self, port: u32, of: u32) {
        if let Some((port, queue)) = self.place(port, of) {
            self.context.queue(port, queue).resume();
        }
    }

    fn start_timer(&mut self, delay_ns: u64, token: u32) {
        let at = self.context.now() + Duration::from_ns(delay_ns.min(DELAY_NS_MAX));
        self.context.wake_at(at, token);
    }

    fn current_round(&mut self, port: u32) -> Rounds {
        let port = self.queues.port(port);
        port.and_then(|port| self.queues.rounds(port, self.context)).unwrap_or_default()
    }

    fn routed_port(&mut self) -> u32 {
        if self.has_packet { self.context.packet().egress_port.0.into() } else { DROP_PORT as u32 }
    }

    fn below(&mut self, count: u64) -> Option<u64> {
        let count = usize::try_from(count).ok().filter(|&count| count > 0)?;
        Some(draws::below(self.stream, count) as u64)
    }
}
