//! One switch with a host, the port that all packets are for, another host and three neighbours.

use std::collections::BTreeMap;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_mechanisms::AnyMechanism;
use hitless_switch::{
    Architecture, BufferPolicy, DepthVisibility, DropReason, Environment, PortConfig, QueueConfig, QueueLimit, Report,
    Switch, SwitchEvent,
};
use hitless_wire::shim::DetourCount;
use hitless_wire::{BitRate, Packet, PortId, PriorityMark, Time};

pub const HOST: PortId = PortId(0);
/// The port that routing chooses for every packet.
pub const OUT: PortId = PortId(1);
pub const OTHER_HOST: PortId = PortId(2);
pub const NEIGHBOURS: [PortId; 3] = [PortId(3), PortId(4), PortId(5)];

#[derive(Default)]
pub struct World {
    pub packets: PacketStore,
    events: BTreeMap<(Time, u64), SwitchEvent>,
    count: u64,
    pub now: Time,
    /// By port, and the detours that the packet has behind it.
    pub sent: Vec<(PortId, Option<u8>)>,
    pub ended: Vec<DropReason>,
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }
    fn route(&mut self, _packet: PacketHandle) -> Option<PortId> {
        Some(OUT)
    }
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }
    fn transmit(&mut self, port: PortId, packet: PacketHandle, _last_bit_at: Time) {
        let detours = self.packets[packet].shims.get::<DetourCount>().map(|count| count.0);
        self.sent.push((port, detours));
        self.packets.remove(packet);
    }
    fn created(&mut self, _packet: PacketHandle) {}
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.ended.push(reason);
        self.packets.remove(packet);
    }
}

pub struct Bench {
    pub switch: Switch<AnyMechanism>,
    pub world: World,
}

/// What the switch is like.
#[derive(Clone, Copy)]
pub struct Hardware {
    pub limit: QueueLimit,
    pub buffer: BufferPolicy,
    pub out_faces_switch: bool,
    /// Without latency in its pipelines.
    pub is_ideal: bool,
    /// How many recirculation ports follow the others.
    pub recirculation_ports: usize,
    pub depth_visibility: DepthVisibility,
}

pub const HARDWARE: Hardware = Hardware {
    limit: QueueLimit::Packets(3),
    buffer: BufferPolicy::Static,
    out_faces_switch: false,
    is_ideal: false,
    recirculation_ports: 0,
    depth_visibility: DepthVisibility::IngressAndEgress,
};

impl Bench {
    pub fn new(hardware: Hardware, mechanism: impl Into<AnyMechanism>) -> Self {
        let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(hardware.limit));
        let faces_switch =
            |number| NEIGHBOURS.contains(&PortId(number)) || PortId(number) == OUT && hardware.out_faces_switch;
        let ports = (0..6).map(|number| PortConfig { faces_switch: faces_switch(number), ..port.clone() });
        let recirculation = PortConfig {
            is_loopback: true,
            ..PortConfig::fifo(BitRate::from_gbps(100), 20, QueueConfig::normal(QueueLimit::Unlimited))
        };
        let ports = ports.chain(std::iter::repeat_n(recirculation, hardware.recirculation_ports)).collect();
        let preset = if hardware.is_ideal { Architecture::ideal() } else { Architecture::tofino_like() };
        let architecture = Architecture { checked: true, depth_visibility: hardware.depth_visibility, ..preset };
        let mut switch = Switch::new(architecture, ports, hardware.buffer, vec![mechanism.into()]);
        let mut world = World::default();
        switch.start(Time::ZERO, &mut world);
        Self { switch, world }
    }

    pub fn arrive(&mut self, at: Time, port: PortId, packet: Packet) {
        self.run_until(at);
        let handle = self.world.packets.insert(packet);
        self.switch.receive(at, port, handle, &mut self.world);
    }

    pub fn run_until(&mut self, limit: Time) {
        while let Some(entry) = self.world.events.first_entry().filter(|entry| entry.key().0 < limit) {
            let ((at, _), event) = entry.remove_entry();
            self.world.now = at;
            self.switch.handle(at, event, &mut self.world);
        }
    }

    pub fn finish(&mut self) {
        self.run_until(Time::NEVER);
        assert_eq!(self.world.packets.alive(), 0);
        assert_eq!(self.switch.violation(), None);
    }

    /// As [`Self::finish`], where control packets go round for ever.
    pub fn finish_by(&mut self, limit: Time, control_packets: usize) {
        self.run_until(limit);
        assert_eq!(self.world.packets.alive(), control_packets);
        assert_eq!(self.switch.violation(), None);
    }

    pub fn sent_by(&self, port: PortId) -> usize {
        self.world.sent.iter().filter(|(sent_by, _)| *sent_by == port).count()
    }

    /// Packets sent to neighbours that were not to go there.
    pub fn sent_to_neighbours(&self) -> usize {
        NEIGHBOURS.iter().map(|&port| self.sent_by(port)).sum()
    }

    pub fn report(&self) -> Report {
        let report = self.switch.reports(self.world.now).next().expect("the mechanism reports");
        assert!(report.broken_promises.is_empty(), "{:?}", report.broken_promises);
        report
    }

    pub fn counter(&self, scope: &str, name: &str) -> u64 {
        let report = self.report();
        let found = report.counters.iter().find(|counter| counter.0 == scope && counter.1 == name);
        found.unwrap_or_else(|| panic!("no {name} of {scope}")).2
    }

    /// Of the port that all packets are for.
    pub fn of_out(&self, name: &str) -> u64 {
        self.counter("port 1", name)
    }
}

pub fn packet() -> Packet {
    Packet { frame_bytes: 1_000, ttl: 9, ..Packet::default() }
}

/// A packet that its sender has marked, of 1,000 bytes with the mark.
pub fn ranked(rank_bytes: u32) -> Packet {
    let mut packet = Packet { frame_bytes: 992, ..packet() };
    packet.push_shim(PriorityMark { rank_bytes, ..PriorityMark::default() }).expect("it carries no other shim");
    packet
}
