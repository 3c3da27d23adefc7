//! The lines of flows that wait for the ports of a host with several.

use std::collections::VecDeque;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, PortId, Time};

use super::environment::HostEnvironment;
use super::event::{HostEvent, Lane};
use super::network_card::NetworkCard;
use super::ports::Way;
use super::state::HostState;

impl HostState {
    /// Returns whether a flow must wait for a port, and adds it to the line if so.
    #[cold]
    pub fn waits_for_port<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, way: Way, env: &mut E) -> bool {
        let Some(ports) = &mut self.ports else { return false };
        let lane = ports.lane(way);
        if ports.line_mut(lane).flows.is_empty() && ports.has_room(lane, now) {
            return false;
        }
        ports.line_mut(lane).flows.push_back(flow);
        self.arm_lane(lane, now, env);
        true
    }

    /// Adds a flow that has had its turn to its line again.
    pub fn line_up<E: HostEnvironment>(&mut self, now: Time, flow: FlowId, way: Way, env: &mut E) {
        let Some(ports) = &mut self.ports else { return };
        let lane = ports.lane(way);
        ports.line_mut(lane).flows.push_back(flow);
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
        let drained_at = ports.cards(lane).map(NetworkCard::drained_at).max().unwrap_or(now).max(now);
        let line = ports.line_mut(lane);
        if !line.drain_pending && !line.flows.is_empty() {
            line.drain_pending = true;
            env.schedule(drained_at, self.id, HostEvent::PortDrained(self.id, lane));
        }
    }

    /// Queues a packet at a port, or drops it.
    pub fn send_by_port<E: HostEnvironment>(&mut self, now: Time, port: PortId, packet: PacketHandle, env: &mut E) {
        let frame_bytes = env.packets()[packet].frame_bytes;
        let Some(ports) = &mut self.ports else { return };
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
