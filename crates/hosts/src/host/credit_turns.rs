//! The turns of connections that wait for credit.

use hitless_core::wire::{HostId, Time};

use super::environment::HostEnvironment;
use super::event::{Direction, HostEvent, Side};
use super::flow_endpoints::Visit;
use super::flow_table::FlowSlot;
use super::hosts::Hosts;

impl Hosts {
    /// Grants a credit to the next connection in turn; connections that have ended are skipped.
    pub(super) fn grant_credit<E: HostEnvironment>(&mut self, now: Time, host: HostId, env: &mut E) {
        let place = host.0 as usize;
        while let Some((granted, in_advance)) = self.hosts[place].credits.next() {
            let (flow, direction) = granted;
            let Some(FlowSlot::Active(connection)) = self.flows.get_mut(flow.0 as usize) else { continue };
            let side = if direction == Direction::Flow { Side::Receiver } else { Side::Sender };
            if !connection.is_here(side) {
                continue;
            }
            let mut visit = Visit::new(now, &mut self.hosts[place], env);
            let Some(grant) = connection.grant_credit(direction, in_advance, &mut visit) else { continue };
            let state = &mut self.hosts[place];
            state.credits.put_back(granted, grant.next);
            let pause = state.card.rate().time_for(grant.bytes * 1_000_000 / grant.rate_millionths);
            env.schedule(now + pause, host, HostEvent::Credit(host));
            return;
        }
    }
}
