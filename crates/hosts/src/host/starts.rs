//! Starts of flows. Flows that start at the same time do so in random order: with the order of their numbers, the first
//! flow of the scenario would always have the first place at the card.

use hitless_core::wire::{FlowId, HostId, Time};

use super::connection::Connection;
use super::environment::HostEnvironment;
use super::event::HostEvent;
use super::flow_table::FlowSlot;
use super::hosts::Hosts;
use crate::application::FlowConfig;

impl Hosts {
    /// Returns the configuration of a flow that has not started.
    fn config(&self, flow: FlowId) -> &FlowConfig {
        let Some(FlowSlot::Waiting(config)) = self.flows.get(flow.0 as usize) else { panic!("{flow:?} starts twice") };
        config
    }

    pub(super) fn collect_start<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let opener = self.config(flow).opener();
        let starting = &mut self.hosts[opener.0 as usize].starting;
        if starting.is_empty() {
            env.schedule(now, opener, HostEvent::StartFlows(opener));
        }
        starting.push(flow);
    }

    /// Starts the flows that a host opens now, in the random order of their identities.
    pub(super) fn start_flows<E: HostEnvironment>(&mut self, now: Time, host: HostId, env: &mut E) {
        let mut flows = std::mem::take(&mut self.hosts[host.0 as usize].starting);
        flows.sort_unstable_by_key(|&flow| (self.config(flow).identity, flow));
        flows.drain(..).for_each(|flow| self.start(now, flow, env));
        assert!(self.hosts[host.0 as usize].starting.is_empty(), "flows of {host:?} start while others do");
        // Keeps the memory for the next starts.
        self.hosts[host.0 as usize].starting = flows;
    }

    pub(super) fn start<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, env: &mut E) {
        let opener = self.config(flow).opener();
        self.activate(now, flow);
        self.totals.flows_started += 1;
        self.visit_at(now, flow, opener, env, Connection::start);
    }
}
