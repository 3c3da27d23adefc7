//! The credit of a receiving host: its connections in turn, at a fraction of the rate of its card.

use std::collections::VecDeque;

use hitless_core::wire::FlowId;

use super::event::Direction;
use crate::transport::uet::NextGrant;

/// One direction of a connection, which receives data at this host.
pub type Granted = (FlowId, Direction);

/// The queues of connections that wait for credit.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct CreditPacer {
    /// Connections with unmet demand, in the order of their turns.
    active: VecDeque<Granted>,
    /// Connections that get credit in advance while no other needs it.
    idle: VecDeque<Granted>,
    /// Whether the event of the next grant is pending.
    is_running: bool,
}

impl CreditPacer {
    /// Adds a connection with unmet demand; returns whether the event of the next grant must be scheduled.
    pub fn enter(&mut self, connection: Granted) -> bool {
        self.active.push_back(connection);
        !std::mem::replace(&mut self.is_running, true)
    }

    /// Returns the next connection in turn, and whether its credit is in advance. Without one the pacer stops.
    pub fn next(&mut self) -> Option<(Granted, bool)> {
        let active = self.active.pop_front().map(|connection| (connection, false));
        let next = active.or_else(|| self.idle.pop_front().map(|connection| (connection, true)));
        self.is_running = next.is_some();
        next
    }

    /// Returns a connection to its place after its turn.
    pub fn put_back(&mut self, connection: Granted, place: NextGrant) {
        match place {
            NextGrant::Active => self.active.push_back(connection),
            NextGrant::Idle if !self.idle.contains(&connection) => self.idle.push_back(connection),
            NextGrant::Idle | NextGrant::Nothing => {}
        }
    }
}
