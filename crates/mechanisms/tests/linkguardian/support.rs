//! Two switches joined by a link that loses what it is told to lose: enough of a driver to watch a link protocol.

use hitless_engine::{EventQueue, OrderKey, PacketHandle, PacketStore};
use hitless_mechanisms::AnyMechanism;
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Environment, PortConfig, QueueConfig, QueueLimit, Switch, SwitchEvent,
};
use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Bytes, Duration, HostId, Packet, PortId, Time, Transport, UdpHeader};

/// Host side of both switches.
pub const EDGE: PortId = PortId(0);
/// The link between them.
pub const LINK: PortId = PortId(1);
/// The recirculation port of both.
pub const RECIRCULATION: PortId = PortId(2);

/// Propagation and PHY of the link.
const LINK_DELAY: Duration = Duration::from_ns(300);

#[derive(Clone, Copy, Debug)]
enum Happening {
    Inject { switch: usize, packet: PacketHandle },
    Arrive { switch: usize, packet: PacketHandle },
    Forge { switch: usize, packet: PacketHandle },
    Own { switch: usize, event: SwitchEvent },
}

/// What the driver keeps; the environment of either switch.
pub struct World {
    queue: EventQueue<Happening>,
    pub packets: PacketStore,
    sequence: u64,
    /// Datagrams that came out at the edge of switch 1, by number.
    pub delivered: Vec<u64>,
    /// Datagrams that came out at the edge of switch 0.
    pub returned: Vec<u64>,
    pub ended: [u64; DropReason::COUNT],
    lose: Box<dyn FnMut(&Packet) -> bool>,
    pub lost: u64,
}

struct Side<'a> {
    world: &'a mut World,
    switch: usize,
}

impl World {
    fn push(&mut self, at: Time, happening: Happening) {
        self.sequence += 1;
        self.queue.push(at, OrderKey::new(0, 0, self.sequence), happening);
    }
}

impl Environment for Side<'_> {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.world.packets
    }

    fn route(&mut self, packet: PacketHandle) -> Option<PortId> {
        let here = HostId(self.switch as u32);
        Some(if self.world.packets[packet].destination == here { EDGE } else { LINK })
    }

    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.world.push(at, Happening::Own { switch: self.switch, event });
    }

    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        if port == LINK {
            let switch = 1 - self.switch;
            return self.world.push(last_bit_at + LINK_DELAY, Happening::Arrive { switch, packet });
        }
        let descriptor = &self.world.packets[packet];
        assert!(descriptor.shims.is_empty(), "headers of a link leaked to a host: {:?}", descriptor.shims);
        let Transport::Udp(header) = descriptor.transport else { panic!("a control packet leaked to a host") };
        let out = if self.switch == 1 { &mut self.world.delivered } else { &mut self.world.returned };
        out.push(header.number);
        self.world.packets.remove(packet);
    }

    fn created(&mut self, _packet: PacketHandle) {}

    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.world.ended[reason as usize] += 1;
        self.world.packets.remove(packet);
    }
}

/// The two switches and everything between them.
pub struct Pair {
    pub world: World,
    pub switches: [Switch<AnyMechanism>; 2],
    rate: BitRate,
}

impl Pair {
    /// Switch 0 and 1 with their mechanisms; frames from switch 0 to 1 for which `lose` is true are corrupted.
    pub fn new(rate_gbps: u64, mechanisms: [AnyMechanism; 2], lose: impl FnMut(&Packet) -> bool + 'static) -> Self {
        let rate = BitRate::from_gbps(rate_gbps);
        let world = World {
            queue: EventQueue::default(),
            packets: PacketStore::default(),
            sequence: 0,
            delivered: Vec::new(),
            returned: Vec::new(),
            ended: [0; DropReason::COUNT],
            lose: Box::new(lose),
            lost: 0,
        };
        let switches = mechanisms.map(|mechanism| switch(rate, mechanism));
        let mut pair = Self { world, switches, rate };
        for (number, switch) in pair.switches.iter_mut().enumerate() {
            switch.start(Time::ZERO, &mut Side { world: &mut pair.world, switch: number });
        }
        pair
    }

    /// `count` full-size datagrams enter switch `from` back to back from `start` on, numbered from `first`.
    pub fn inject(&mut self, from: usize, start: Time, first: u64, count: u64) {
        let spacing = self.rate.time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES));
        for index in 0..count {
            let header = UdpHeader { number: first + index, ..UdpHeader::default() };
            let packet = self.world.packets.insert(Packet {
                frame_bytes: MTU_FRAME_BYTES,
                destination: HostId(1 - from as u32),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(header),
                ..Packet::default()
            });
            self.world.push(start + spacing * index, Happening::Inject { switch: from, packet });
        }
    }

    /// A frame that neither switch has sent reaches `switch` from the link at `at`.
    pub fn forge(&mut self, switch: usize, at: Time, packet: Packet) {
        let packet = self.world.packets.insert(packet);
        self.world.push(at, Happening::Forge { switch, packet });
    }

    /// Runs until nothing happens any more; answers when.
    pub fn run(&mut self) -> Time {
        let mut now = Time::ZERO;
        const MOST_EVENTS: u64 = 20_000_000;
        let mut events = 0;
        while let Some(event) = self.world.queue.pop() {
            now = event.time;
            events += 1;
            assert!(events < MOST_EVENTS, "the switches do not come to rest: {now}");
            self.step(now, event.payload);
        }
        for switch in &self.switches {
            assert_eq!(switch.violation(), None);
        }
        now
    }

    fn step(&mut self, now: Time, happening: Happening) {
        match happening {
            Happening::Own { switch, event } => {
                self.switches[switch].handle(now, event, &mut Side { world: &mut self.world, switch });
            }
            Happening::Inject { switch, packet } => {
                self.switches[switch].receive(now, EDGE, packet, &mut Side { world: &mut self.world, switch });
            }
            Happening::Forge { switch, packet } => {
                self.switches[switch].receive(now, LINK, packet, &mut Side { world: &mut self.world, switch });
            }
            Happening::Arrive { switch, packet } => {
                let descriptor = self.world.packets[packet];
                if switch == 1 && (self.world.lose)(&descriptor) {
                    self.world.lost += 1;
                    self.world.packets.remove(packet);
                    let mut side = Side { world: &mut self.world, switch };
                    return self.switches[switch].receive_corrupted(now, LINK, &mut side);
                }
                self.switches[switch].receive(now, LINK, packet, &mut Side { world: &mut self.world, switch });
            }
        }
    }

    /// The value of a counter, summed over both switches.
    pub fn counter(&self, now: Time, name: &str) -> u64 {
        let reports = self.switches.iter().flat_map(|switch| switch.reports(now));
        reports
            .flat_map(|report| report.counters)
            .filter(|(_, counter, _)| *counter == name)
            .map(|(.., value)| value)
            .sum()
    }

    /// The promises that were broken.
    pub fn broken_promises(&self, now: Time) -> Vec<String> {
        self.switches.iter().flat_map(|switch| switch.reports(now)).flat_map(|report| report.broken_promises).collect()
    }
}

fn switch(rate: BitRate, mechanism: AnyMechanism) -> Switch<AnyMechanism> {
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let buffer = QueueConfig::normal(QueueLimit::Bytes(Bytes::from_kilobytes(200).0));
    let loopback = PortConfig::fifo(architecture.recirculation_rate, ETHERNET_OVERHEAD_BYTES, buffer);
    let front = PortConfig::fifo(rate, ETHERNET_OVERHEAD_BYTES, queue);
    let ports = vec![front.clone(), front, PortConfig { is_loopback: true, ..loopback }];
    Switch::new(architecture, ports, BufferPolicy::Static, vec![mechanism])
}
