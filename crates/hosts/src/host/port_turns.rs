//! Hosts with several ports: the lines and the turns of waiting flows, and the states of ports.

use std::collections::VecDeque;
use std::sync::Arc;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, HostId, PortId, Time};

use super::connection::Connection;
use super::environment::HostEnvironment;
use super::event::{HostEvent, Lane};
use super::flow_table::FlowSlot;
use super::hosts::Hosts;
use super::network_card::NetworkCard;
use super::ports::{PortConfig, Ports, Way};
use super::state::HostState;

impl Hosts {
    /// Replaces the card of a host by ports; `planes` has the planes of every host, one bit each.
    pub fn set_ports(&mut self, host: HostId, configs: &[PortConfig], planes: Arc<[u64]>) {
        let cards = configs.iter().map(|config| config.network_card);
        let state = &mut self.hosts[host.0 as usize];
        state.card = NetworkCard::standing_for(cards).expect("a host has ports");
        state.ports = Some(Box::new(Ports::new(configs, planes)));
    }

    /// Tells a host that its port is down or up. Its flows move to other ports, or back. Does nothing at a host with
    /// one port.
    pub fn set_port_state<E: HostEnvironment>(
        &mut self,
        now: Time,
        host: HostId,
        port: PortId,
        is_up: bool,
        env: &mut E,
    ) {
        for flow in self.hosts[host.0 as usize].set_port_state(port, is_up) {
            self.line_up(now, flow, host, env);
        }
    }

    /// Tells all hosts with several ports whether the fabric can reach this port of `host`.
    pub fn set_reachable(&mut self, host: HostId, port: PortId, is_reachable: bool) {
        let Some(ports) = &mut self.hosts[host.0 as usize].ports else { return };
        let planes = ports.set_reachable(port, is_reachable);
        for ports in self.hosts.iter_mut().filter_map(|state| state.ports.as_mut()) {
            ports.set_lost(host, planes);
        }
    }

    /// Tells a host with several ports the destinations that each of them does not reach, in the order of ports. It
    /// forgets the previous ones.
    pub fn set_lost<'a>(&mut self, host: HostId, by_port: impl Iterator<Item = &'a [HostId]>) {
        let ports = self.hosts[host.0 as usize].ports.as_mut();
        ports.expect("only hosts with several ports choose among them").set_lost_by_port(by_port);
    }

    /// Sends a packet that has passed the delay of its host's stack.
    pub(super) fn emit_by_port<E: HostEnvironment>(
        &mut self,
        now: Time,
        packet: PacketHandle,
        port: PortId,
        env: &mut E,
    ) {
        let host = env.packets()[packet].source;
        self.hosts[host.0 as usize].send_by_port(now, port, packet, env);
    }

    /// Gives the waiting flows of a lane their turns.
    pub(super) fn port_drained<E: HostEnvironment>(&mut self, now: Time, host: HostId, lane: Lane, env: &mut E) {
        self.give_turns(now, host, lane, env);
        // Until here the lane's event counts as pending, so that flows that wait again do not schedule another.
        self.hosts[host.0 as usize].lane_drained(lane, now, env);
    }

    /// Gives the waiting flows of a lane turns while its cards have room.
    pub(super) fn give_turns<E: HostEnvironment>(&mut self, now: Time, host: HostId, lane: Lane, env: &mut E) {
        let place = host.0 as usize;
        while let Some(flow) = self.hosts[place].ports.as_mut().and_then(|ports| ports.next_turn(lane, now)) {
            self.visit_at(now, flow, host, env, Connection::take_turn);
            while let Some(flow) = self.hosts[place].take_waiting() {
                self.line_up(now, flow, host, env);
            }
        }
    }

    /// Adds a waiting flow to the line of its port.
    fn line_up<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, host: HostId, env: &mut E) {
        match self.flows.get_mut(flow.0 as usize) {
            Some(FlowSlot::Active(connection)) if connection.is_open_at(host) => {
                let way = connection.way_from(host);
                self.hosts[host.0 as usize].line_up(now, flow, way, env);
            }
            _ => {}
        }
    }
}

impl HostState {
    /// Returns whether a flow must wait for a port, and adds it to the line if so.
    #[cold]
    pub fn waits_for_port<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, way: Way, env: &mut E) -> bool {
        let Some(ports) = &mut self.ports else { return false };
        let lane = ports.lane(way);
        if !ports.must_wait(lane, now) {
            return false;
        }
        ports.line_up(lane, flow);
        self.arm_lane(lane, now, env);
        true
    }

    /// Adds a flow that has had its turn to its line again.
    pub fn line_up<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, way: Way, env: &mut E) {
        let Some(ports) = &mut self.ports else { return };
        let lane = ports.lane(way);
        ports.line_up(lane, flow);
        self.arm_lane(lane, now, env);
    }

    /// Ends the drain event of a lane; the next one follows for flows that still wait.
    pub fn lane_drained<E: HostEnvironment>(&mut self, lane: Lane, now: Time, env: &mut E) {
        if let Some(ports) = &mut self.ports {
            ports.line_mut(lane).drain_pending = false;
        }
        self.arm_lane(lane, now, env);
    }

    /// Schedules the drain event of a lane with waiting flows, if necessary.
    fn arm_lane<E: HostEnvironment>(&mut self, lane: Lane, now: Time, env: &mut E) {
        let Some(ports) = &mut self.ports else { return };
        let turn_at = ports.turn_at(lane, now);
        let line = ports.line_mut(lane);
        if !line.drain_pending && !line.is_empty() {
            line.drain_pending = true;
            env.schedule(turn_at, self.id, HostEvent::PortDrained(self.id, lane));
        }
    }

    /// Queues a packet at a port, or drops it.
    pub fn send_by_port<E: HostEnvironment>(&mut self, now: Time, port: PortId, packet: PacketHandle, env: &mut E) {
        let frame_bytes = env.packets()[packet].frame_bytes;
        let Some(ports) = &mut self.ports else { return };
        if let Some((_, queue)) = ports.changing_line(port) {
            return if queue.push(now, 0, packet, frame_bytes) {
                self.begin_next(now, port, false, env);
            } else {
                self.drop(packet, env);
            };
        }
        match ports.card_mut(port).enqueue(now, frame_bytes) {
            Some(departure) => env.transmit_by_port(self.id, port, packet, departure),
            None => self.drop(packet, env),
        }
    }

    /// Takes a port down or up; returns the flows that have to look for another.
    pub fn set_port_state(&mut self, port: PortId, is_up: bool) -> VecDeque<FlowId> {
        self.ports.as_mut().map_or_else(VecDeque::new, |ports| ports.set_state(port, is_up))
    }
}
