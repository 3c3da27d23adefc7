//! A switch with packets in it, and what becomes of them.

use std::collections::BTreeMap;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_switch::{DropReason, Environment, Mechanism, Switch, SwitchEvent};
use hitless_wire::{HostId, Packet, PortId, Time};

pub const IN: PortId = PortId(0);
/// Where routing sends every packet.
pub const OUT: PortId = PortId(1);
pub const ELSEWHERE: PortId = PortId(2);

/// Keeps time and events, and writes down what becomes of packets, by their numbers.
#[derive(Default)]
pub struct World {
    packets: PacketStore,
    events: BTreeMap<(Time, u64), SwitchEvent>,
    count: u64,
    now: Time,
    pub sent: Vec<(PortId, u32)>,
    pub sent_bytes: Vec<u32>,
    pub ended: Vec<(u32, DropReason)>,
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }
    fn route(&mut self, _packet: PacketHandle) -> Option<PortId> {
        Some(OUT)
    }
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        assert!(at >= self.now);
        self.count += 1;
        self.events.insert((at, self.count), event);
    }
    fn transmit(&mut self, port: PortId, packet: PacketHandle, _last_bit_at: Time) {
        self.sent.push((port, self.packets[packet].source.0));
        self.sent_bytes.push(self.packets[packet].frame_bytes);
        self.packets.remove(packet);
    }
    fn created(&mut self, _packet: PacketHandle) {}
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.ended.push((self.packets[packet].source.0, reason));
        self.packets.remove(packet);
    }
}

impl World {
    /// A packet comes in at `at`, after all that happens before.
    pub fn arrive<M: Mechanism>(&mut self, switch: &mut Switch<M>, at: Time, packet: Packet) {
        self.run_until(switch, at);
        self.now = at;
        let handle = self.packets.insert(packet);
        switch.receive(at, IN, handle, self);
    }

    pub fn run_until<M: Mechanism>(&mut self, switch: &mut Switch<M>, limit: Time) {
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 < limit) {
            let ((at, _), event) = entry.remove_entry();
            self.now = at;
            switch.handle(at, event, self);
        }
    }

    /// To the end: nothing is left in the switch or astray.
    pub fn finish<M: Mechanism>(&mut self, switch: &mut Switch<M>) {
        self.run_until(switch, Time::NEVER);
        assert_eq!((self.packets.alive(), switch.packets_queued(), switch.buffer_bytes()), (0, 0, 0));
        assert_eq!(switch.violation(), None);
    }

    /// The numbers of the packets that left by a port, in their order.
    pub fn sent_by(&self, port: PortId) -> Vec<u32> {
        self.sent.iter().filter(|(sent_by, _)| *sent_by == port).map(|&(_, number)| number).collect()
    }
}

pub fn packet(number: u32, frame_bytes: u32) -> Packet {
    Packet { frame_bytes, ttl: 9, source: HostId(number), ..Packet::default() }
}
