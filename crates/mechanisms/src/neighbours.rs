//! Ports with neighbouring switches, and which of them may take a packet that does not leave through its own port.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use hitless_core::wire::PortId;
use hitless_switch::{Context, Event, PortState};

#[derive(Debug, hitless_core::state::Value)]
pub(crate) struct Neighbours {
    to_arrival_port: bool,
    ports: Vec<PortId>,
    /// Whether a port's link is known to work, by port.
    is_up: Vec<bool>,
    /// Candidate ports of the current packet; kept to reuse its memory.
    eligible: Vec<PortId>,
}

impl Neighbours {
    pub const fn new(to_arrival_port: bool) -> Self {
        Self { to_arrival_port, ports: Vec::new(), is_up: Vec::new(), eligible: Vec::new() }
    }

    /// Handles the start of the switch and changes of a port's link.
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

    pub fn all(&self) -> &[PortId] {
        &self.ports
    }

    pub fn may_take(&self, port: PortId, arrived_by: PortId) -> bool {
        (self.to_arrival_port || port != arrived_by) && self.is_up[usize::from(port.0)]
    }

    /// Candidate ports for a packet that arrived through `arrived_by`, except `without`. The caller may remove ports.
    pub fn eligible(&mut self, arrived_by: PortId, without: Option<PortId>) -> &mut Vec<PortId> {
        let mut eligible = std::mem::take(&mut self.eligible);
        eligible.clear();
        let may = |&port: &PortId| Some(port) != without && self.may_take(port, arrived_by);
        eligible.extend(self.ports.iter().copied().filter(may));
        self.eligible = eligible;
        &mut self.eligible
    }
}

/// Removes a port from `ports`, drawn uniformly.
pub(crate) fn take_any(ports: &mut Vec<PortId>, stream: &mut Stream) -> Option<PortId> {
    (!ports.is_empty()).then(|| ports.swap_remove(below(stream, ports.len())))
}
