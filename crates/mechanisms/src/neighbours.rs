//! The ports that face switches, and which of them may get a packet that is not to leave by its own.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use hitless_core::wire::PortId;
use hitless_switch::{Context, Event, PortState};

/// The ports of a switch that face switches.
#[derive(Debug, hitless_core::state::Value)]
pub(crate) struct Neighbours {
    /// Whether a packet may go to the port by which it came.
    to_arrival_port: bool,
    /// In their order.
    ports: Vec<PortId>,
    /// By port: whether its link works, as far as is known.
    is_up: Vec<bool>,
    /// The ports that may be drawn for the packet at hand.
    eligible: Vec<PortId>,
}

impl Neighbours {
    pub const fn new(to_arrival_port: bool) -> Self {
        Self { to_arrival_port, ports: Vec::new(), is_up: Vec::new(), eligible: Vec::new() }
    }

    /// The switch has been built, or a port's link works or does not.
    pub fn on(&mut self, event: Event, context: &Context<'_>) {
        match event {
            Event::Start => self.start(context),
            Event::PortState { port, state } => self.is_up[usize::from(port.0)] = state == PortState::Up,
            _ => {}
        }
    }

    fn start(&mut self, context: &Context<'_>) {
        self.ports = context.ports().facing_switches().collect();
        self.is_up = vec![true; usize::from(context.ports().count())];
    }

    /// All of them, in order.
    pub fn all(&self) -> &[PortId] {
        &self.ports
    }

    /// Whether a packet that came by `arrived_by` may go to `port`.
    pub fn may_take(&self, port: PortId, arrived_by: PortId) -> bool {
        (self.to_arrival_port || port != arrived_by) && self.is_up[usize::from(port.0)]
    }

    /// Those to which a packet that came by `arrived_by` may go, but for `without`; for the caller to take from.
    pub fn eligible(&mut self, arrived_by: PortId, without: Option<PortId>) -> &mut Vec<PortId> {
        let mut eligible = std::mem::take(&mut self.eligible);
        eligible.clear();
        let may = |&port: &PortId| Some(port) != without && self.may_take(port, arrived_by);
        eligible.extend(self.ports.iter().copied().filter(may));
        self.eligible = eligible;
        &mut self.eligible
    }
}

/// Takes one of `ports`, each with the same probability.
pub(crate) fn take_any(ports: &mut Vec<PortId>, stream: &mut Stream) -> Option<PortId> {
    (!ports.is_empty()).then(|| ports.swap_remove(below(stream, ports.len())))
}
