//! What functions beyond v1model ask of the switch.

use hitless_engine::{Stream, draws};
use hitless_p4::fabric::{Fabric, Rounds};
use hitless_switch::Context;
use hitless_wire::{Duration, PortId, QueueId};

/// The switch, as a program sees it.
pub struct Around<'c, 'a> {
    /// The hook's view.
    pub context: &'c mut Context<'a>,
    /// Random numbers.
    pub stream: &'c mut Stream,
    /// Whether a packet is at hand.
    pub has_packet: bool,
    /// How many queues each port has.
    pub queues: &'c [usize],
}

/// Longer than any run: a timer further off never rings.
const DELAY_NS_MAX: u64 = 1 << 50;

impl Around<'_, '_> {
    fn port(&self, port: u32) -> Option<PortId> {
        u16::try_from(port).ok().filter(|&port| usize::from(port) < self.queues.len()).map(PortId)
    }
}

/// A queue by its numbers, if the switch has it.
pub fn place(queues: &[usize], port: u32, queue: u32) -> Option<(PortId, QueueId)> {
    let (port, queue) = (u16::try_from(port).ok()?, u8::try_from(queue).ok()?);
    let count = *queues.get(usize::from(port))?;
    (usize::from(queue) < count).then_some((PortId(port), QueueId(queue)))
}

impl Fabric for Around<'_, '_> {
    fn flow_hash(&mut self) -> u32 {
        if self.has_packet { self.context.packet().flow_hash } else { 0 }
    }

    fn queue_depth_bytes(&mut self, port: u32, of: u32) -> u64 {
        place(self.queues, port, of).map_or(0, |(port, queue)| self.context.queue(port, queue).bytes())
    }

    fn queue_has_room(&mut self, port: u32, of: u32) -> bool {
        let at = place(self.queues, port, of).filter(|_| self.has_packet);
        at.is_some_and(|(port, queue)| self.context.queue(port, queue).has_room())
    }

    fn class_queue(&mut self, port: u32) -> u32 {
        let class = if self.has_packet { self.context.packet().class } else { 0 };
        self.port(port).map_or(0, |port| self.context.ports().class_queue(port, class).0.into())
    }

    fn pause_queue(&mut self, port: u32, of: u32) {
        if let Some((port, queue)) = place(self.queues, port, of) {
            self.context.queue(port, queue).pause();
        }
    }

    fn resume_queue(&mut self, port: u32, of: u32) {
        if let Some((port, queue)) = place(self.queues, port, of) {
            self.context.queue(port, queue).resume();
        }
    }

    fn start_timer(&mut self, delay_ns: u64, token: u32) {
        let at = self.context.now() + Duration::from_ns(delay_ns.min(DELAY_NS_MAX));
        self.context.wake_at(at, token);
    }

    /// None: programs that ask for it are refused when they are loaded.
    fn current_round(&mut self, _: u32) -> Rounds {
        Rounds::default()
    }

    fn routed_port(&mut self) -> u32 {
        if self.has_packet { self.context.packet().egress_port.0.into() } else { 511 }
    }

    fn below(&mut self, count: u64) -> Option<u64> {
        let count = usize::try_from(count).ok().filter(|&count| count > 0)?;
        Some(draws::below(self.stream, count) as u64)
    }
}
