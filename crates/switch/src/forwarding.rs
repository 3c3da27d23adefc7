//! The choice among next hops of equal cost that depends on the switch's own queues.

use hitless_engine::draws::below;
use hitless_engine::{PacketHandle, Stream};
use hitless_wire::{PortId, Time};

use crate::core::Core;
use crate::environment::Environment;

/// Power of two choices, packet by packet: of two different next hops, drawn at random, the one whose queue has fewer
/// bytes (Vertigo, CoNEXT 2021, section 3; DRILL, SIGCOMM 2017). Packets of a flow overtake each other by it.
#[derive(Debug)]
pub(crate) struct TwoChoices {
    stream: Stream,
}

impl TwoChoices {
    /// Draws from `stream`.
    pub const fn new(stream: Stream) -> Self {
        Self { stream }
    }
}

impl Core {
    /// The next hop of a packet for which `by_route` is one.
    #[inline]
    pub fn next_hop<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        by_route: PortId,
        environment: &mut E,
    ) -> PortId {
        if self.two_choices.is_none() { by_route } else { self.less_loaded(now, packet, by_route, environment) }
    }

    #[inline(never)]
    fn less_loaded<E: Environment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        by_route: PortId,
        environment: &mut E,
    ) -> PortId {
        let class = usize::from(environment.packets()[packet].class & 7);
        let hops = environment.next_hops(packet);
        let Some(TwoChoices { stream }) = self.two_choices.as_mut().filter(|_| hops.len() > 1) else { return by_route };
        // The first is as random as the second, so that a tie is broken by chance.
        let first = below(stream, hops.len());
        let second = (first + 1 + below(stream, hops.len() - 1)) % hops.len();
        let mut depth_bytes = |hop: usize| {
            let queue = self.ports[usize::from(hops[hop].0)].config.class_queue[class];
            self.queue_bytes(now, hops[hop], queue)
        };
        hops[if depth_bytes(second) < depth_bytes(first) { second } else { first }]
    }
}
