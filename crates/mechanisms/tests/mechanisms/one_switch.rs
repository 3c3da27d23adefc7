//! One switch and what comes of it: its events in order, the packets that leave, and those that end.

use std::collections::BTreeMap;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_mechanisms::AnyMechanism;
use hitless_switch::{DropReason, Environment, PortState, Report, Switch, SwitchEvent};
use hitless_wire::shim::DetourCount;
use hitless_wire::{Packet, PortId, Time};

/// A packet as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub port: PortId,
    /// When its last bit did.
    pub at: Time,
    pub packet: Packet,
}

impl Sent {
    /// How often switches have detoured it.
    pub fn detours(&self) -> Option<u8> {
        self.packet.shims.get::<DetourCount>().map(|count| count.0)
    }
}

pub struct World {
    pub packets: PacketStore,
    /// The port for a packet.
    route: fn(&Packet) -> PortId,
    events: BTreeMap<(Time, u64), SwitchEvent>,
    count: u64,
    pub now: Time,
    /// How many packets mechanisms have made.
    pub created: u64,
    /// In the order in which they left.
    pub sent: Vec<Sent>,
    pub ended: Vec<(Packet, DropReason)>,
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }
    fn route(&mut self, packet: PacketHandle) -> Option<PortId> {
        Some((self.route)(&self.packets[packet]))
    }
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.sent.push(Sent { port, at: last_bit_at, packet: self.packets[packet] });
        self.packets.remove(packet);
    }
    fn created(&mut self, _packet: PacketHandle) {
        self.created += 1;
    }
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.ended.push((self.packets[packet], reason));
        self.packets.remove(packet);
    }
}

/// The switch in its world. Packets are numbered as they arrive, in [`Packet::frame`].
pub struct OneSwitch {
    pub switch: Switch<AnyMechanism>,
    pub world: World,
    arrived: u32,
}

impl OneSwitch {
    /// Started, with the port for each packet.
    pub fn new(switch: Switch<AnyMechanism>, route: fn(&Packet) -> PortId) -> Self {
        let world = World {
            packets: PacketStore::default(),
            route,
            events: BTreeMap::new(),
            count: 0,
            now: Time::ZERO,
            created: 0,
            sent: Vec::new(),
            ended: Vec::new(),
        };
        let mut one = Self { switch, world, arrived: 0 };
        one.switch.start(Time::ZERO, &mut one.world);
        one
    }

    /// A packet reaches `port`, after all that happens before.
    pub fn arrive(&mut self, at: Time, port: PortId, packet: Packet) {
        self.run_until(at);
        let handle = self.world.packets.insert(Packet { frame: self.arrived, ..packet });
        self.arrived += 1;
        self.switch.receive(at, port, handle, &mut self.world);
    }

    pub fn port_state(&mut self, port: PortId, state: PortState) {
        self.switch.port_state(self.world.now, port, state, &mut self.world);
    }

    pub fn run_until(&mut self, limit: Time) {
        while let Some(entry) = self.world.events.first_entry().filter(|entry| entry.key().0 < limit) {
            let ((at, _), event) = entry.remove_entry();
            self.world.now = at;
            self.switch.handle(at, event, &mut self.world);
        }
    }

    /// Runs to the end, at which nothing is left anywhere.
    pub fn finish(&mut self) {
        self.finish_by(Time::NEVER, 0);
        assert_eq!(self.switch.buffer_bytes(), 0);
    }

    /// As [`Self::finish`], where control packets go round for ever.
    pub fn finish_by(&mut self, limit: Time, control_packets: usize) {
        self.run_until(limit);
        assert_eq!(self.world.packets.alive(), control_packets);
        assert_eq!(self.switch.violation(), None);
    }

    /// The numbers of all packets that left.
    pub fn sent(&self) -> Vec<u32> {
        self.world.sent.iter().map(|sent| sent.packet.frame).collect()
    }

    /// The numbers of the packets that left by a port.
    pub fn sent_by(&self, port: PortId) -> Vec<u32> {
        let by_port = self.world.sent.iter().filter(|sent| sent.port == port);
        by_port.map(|sent| sent.packet.frame).collect()
    }

    /// How many packets left by some ports.
    pub fn count_sent_by(&self, ports: &[PortId]) -> usize {
        self.world.sent.iter().filter(|sent| ports.contains(&sent.port)).count()
    }

    /// The numbers of the packets that ended, with the reasons.
    pub fn ended(&self) -> Vec<(u32, DropReason)> {
        self.world.ended.iter().map(|(packet, reason)| (packet.frame, *reason)).collect()
    }

    /// Why packets ended.
    pub fn reasons(&self) -> Vec<DropReason> {
        self.world.ended.iter().map(|(_, reason)| *reason).collect()
    }

    /// Of the only mechanism, which has kept its promises.
    pub fn report(&self) -> Report {
        let report = self.switch.reports(self.world.now).next().expect("one mechanism runs");
        assert!(report.broken_promises.is_empty(), "{:?}", report.broken_promises);
        report
    }

    pub fn counter(&self, scope: &str, name: &str) -> u64 {
        let report = self.report();
        let found = report.counters.iter().find(|counter| counter.0 == scope && counter.1 == name);
        found.unwrap_or_else(|| panic!("no {name} of {scope}")).2
    }
}
