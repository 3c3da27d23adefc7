//! Flows that are messages on connections which stay open.

use std::collections::BTreeMap;

use hitless_hosts::{Application, FlowConfig};
use hitless_wire::{FlowId, HostId, Time};

use super::Simulation;
use super::environment::HostSide;
use crate::workload::{FlowSize, FlowSpec};

/// A connection: its group, its two hosts, and its number among those that they have.
type Key = (usize, HostId, HostId, u32);

/// The connections that are open. Each is opened when the first flow takes it.
#[derive(Default)]
pub(super) struct OpenConnections {
    flows: BTreeMap<Key, FlowId>,
}

impl Simulation {
    /// A flow that is a message on the connection of this number between its hosts.
    pub(super) fn send_on_connection(&mut self, now: Time, spec: FlowSpec, connection: u32) {
        let FlowSize::Bytes(bytes) = spec.size else { unreachable!("a message has a length") };
        self.messages_expected += 1;
        let key = (spec.group, spec.source, spec.destination, connection);
        let flow = match self.open_connections.flows.get(&key) {
            Some(&flow) => flow,
            None => self.open_connection(now, spec, key),
        };
        self.hosts.append_message(now, flow, bytes, &mut HostSide { medium: &mut self.medium });
    }

    fn open_connection(&mut self, now: Time, spec: FlowSpec, key: Key) -> FlowId {
        let config = FlowConfig { start: now, application: Application::Appended, ..self.flow_config(&spec) };
        self.medium.services.add_flow(spec.group);
        self.medium.drops.add_flow(spec.group);
        self.flow_specs.push(spec);
        let flow = self.hosts.open(now, config, &mut HostSide { medium: &mut self.medium });
        self.sample_from_now_on(flow, spec.group);
        self.open_connections.flows.insert(key, flow);
        flow
    }

    /// No flow will come any more: connections end when their messages are complete.
    pub(super) fn close_connections(&mut self, now: Time) {
        for flow in std::mem::take(&mut self.open_connections.flows).into_values() {
            self.hosts.close(now, flow, &mut HostSide { medium: &mut self.medium });
        }
    }
}
