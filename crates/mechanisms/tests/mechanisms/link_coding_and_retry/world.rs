//! Two switches joined by a link that loses what it is told to lose, frames and control ordered sets.

use hitless_engine::{EventQueue, OrderKey, PacketHandle, PacketStore};
use hitless_mechanisms::AnyMechanism;
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Environment, PortConfig, PortState, QueueConfig, QueueLimit, Switch,
    SwitchEvent,
};
use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Duration, HostId, OrderedSet, Packet, PortId, Time, Transport, UdpHeader};

/// Host side of both switches.
pub const EDGE: PortId = PortId(0);
/// The link between them.
pub const LINK: PortId = PortId(1);

/// Propagation and PHY of the link.
pub const LINK_DELAY: Duration = Duration::from_ns(330);

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives whole.
    Arrives,
    /// It arrives with a bad check sequence.
    Corrupted,
    /// Nothing of it arrives.
    Vanishes,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Enter { switch: usize, port: PortId, packet: PacketHandle },
    Own { switch: usize, event: SwitchEvent },
    State { switch: usize, state: PortState },
}

/// What came out at the edge of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub number: u64,
    pub at: Time,
    pub frame_bytes: u32,
}

type FrameFate = Box<dyn FnMut(usize, &Packet) -> Fate>;
type SetLoss = Box<dyn FnMut(usize, OrderedSet) -> bool>;

pub struct World {
    queue: EventQueue<Happening>,
    pub packets: PacketStore,
    sequence: u64,
    /// By switch.
    pub delivered: [Vec<Delivery>; 2],
    pub ended: [u64; DropReason::COUNT],
    fate: FrameFate,
    loses_set: SetLoss,
    /// Frames and bytes put on the link, by the switch that sent them.
    pub frames_sent: [u64; 2],
    pub bytes_sent: [u64; 2],
    pub frames_lost: u64,
    pub sets_sent: [u64; 2],
    spoilt: Vec<PacketHandle>,
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

    fn put_on_link(&mut self, from: usize, packet: PacketHandle, last_bit_at: Time) {
        let descriptor = self.packets[packet];
        self.frames_sent[from] += 1;
        self.bytes_sent[from] += u64::from(descriptor.frame_bytes);
        let fate = (self.fate)(from, &descriptor);
        self.frames_lost += u64::from(fate != Fate::Arrives);
        match fate {
            Fate::Vanishes => self.packets.remove(packet),
            Fate::Corrupted => self.spoilt.push(packet),
            Fate::Arrives => {}
        }
        if fate != Fate::Vanishes {
            self.push(last_bit_at + LINK_DELAY, Happening::Enter { switch: 1 - from, port: LINK, packet });
        }
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
            return self.world.put_on_link(self.switch, packet, last_bit_at);
        }
        let descriptor = &self.world.packets[packet];
        assert!(descriptor.shims.is_empty(), "headers of a link leaked to a host: {:?}", descriptor.shims);
        assert!(!descriptor.is_repair, "a mark of the link leaked to a host");
        let Transport::Udp(header) = descriptor.transport else { panic!("a control packet leaked to a host") };
        let delivery = Delivery { number: header.number, at: last_bit_at, frame_bytes: descriptor.frame_bytes };
        self.world.delivered[self.switch].push(delivery);
        self.world.packets.remove(packet);
    }

    fn send_ordered_set(&mut self, port: PortId, set: OrderedSet, last_bit_at: Time) {
        assert_eq!(port, LINK);
        let switch = self.switch;
        self.world.sets_sent[switch] += 1;
        if !(self.world.loses_set)(switch, set) {
            let event = SwitchEvent::OrderedSet { port: LINK, set };
            self.world.push(last_bit_at + LINK_DELAY, Happening::Own { switch: 1 - switch, event });
        }
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
    /// Switch 0 and 1 with their mechanisms; `fate` and `loses_set` are asked for each frame and each control ordered set,
    /// with the number of the switch that sends it.
    pub fn new(
        rate_gbps: u64,
        mechanisms: [AnyMechanism; 2],
        fate: impl FnMut(usize, &Packet) -> Fate + 'static,
        loses_set: impl FnMut(usize, OrderedSet) -> bool + 'static,
    ) -> Self {
        let rate = BitRate::from_gbps(rate_gbps);
        let world = World {
            queue: EventQueue::default(),
            packets: PacketStore::default(),
            sequence: 0,
            delivered: Default::default(),
            ended: [0; DropReason::COUNT],
            fate: Box::new(fate),
            loses_set: Box::new(loses_set),
            frames_sent: [0; 2],
            bytes_sent: [0; 2],
            frames_lost: 0,
            sets_sent: [0; 2],
            spoilt: Vec::new(),
        };
        let switches = mechanisms.map(|mechanism| switch(rate, mechanism));
        let mut pair = Self { world, switches, rate };
        for (number, switch) in pair.switches.iter_mut().enumerate() {
            switch.start(Time::ZERO, &mut Side { world: &mut pair.world, switch: number });
        }
        pair
    }

    /// `count` full-size datagrams enter switch `from` back to back from `start` on, numbered from `first`; answers when the
    /// last has entered.
    pub fn inject(&mut self, from: usize, start: Time, first: u64, count: u64) -> Time {
        self.inject_sized(from, start, first, (0..count).map(|_| MTU_FRAME_BYTES))
    }

    /// The same with frames of these sizes.
    pub fn inject_sized(&mut self, from: usize, start: Time, first: u64, sizes: impl Iterator<Item = u32>) -> Time {
        let mut at = start;
        for (number, frame_bytes) in (first..).zip(sizes) {
            let header = UdpHeader { number, ..UdpHeader::default() };
            let packet = self.world.packets.insert(Packet {
                frame_bytes,
                destination: HostId(1 - from as u32),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(header),
                ..Packet::default()
            });
            self.world.push(at, Happening::Enter { switch: from, port: EDGE, packet });
            at += self.rate.time_for(u64::from(frame_bytes + ETHERNET_OVERHEAD_BYTES));
        }
        at
    }

    /// Failure detection tells a switch of the link.
    pub fn tell_state(&mut self, switch: usize, at: Time, state: PortState) {
        self.world.push(at, Happening::State { switch, state });
    }

    /// Runs until nothing happens any more; answers when.
    pub fn run(&mut self) -> Time {
        self.run_until(Time::NEVER)
    }

    /// Runs until then at most.
    pub fn run_until(&mut self, end: Time) -> Time {
        let mut now = Time::ZERO;
        const MOST_EVENTS: u64 = 100_000_000;
        let mut events = 0;
        while let Some(event) = self.world.queue.pop() {
            if event.time > end {
                self.world.push(event.time, event.payload);
                break;
            }
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
        let world = &mut self.world;
        match happening {
            Happening::Own { switch, event } => {
                self.switches[switch].handle(now, event, &mut Side { world, switch });
            }
            Happening::State { switch, state } => {
                self.switches[switch].port_state(now, LINK, state, &mut Side { world, switch });
            }
            Happening::Enter { switch, packet, .. } if world.spoilt.contains(&packet) => {
                world.spoilt.retain(|&spoilt| spoilt != packet);
                world.packets.remove(packet);
                self.switches[switch].receive_corrupted(now, LINK, &mut Side { world, switch });
            }
            Happening::Enter { switch, port, packet } => {
                self.switches[switch].receive(now, port, packet, &mut Side { world, switch });
            }
        }
    }

    /// The numbers that came out at the edge of a switch.
    pub fn numbers(&self, switch: usize) -> Vec<u64> {
        self.world.delivered[switch].iter().map(|delivery| delivery.number).collect()
    }

    /// The value of a counter, summed over both switches.
    pub fn counter(&self, now: Time, name: &str) -> u64 {
        let counters: Vec<u64> = self
            .switches
            .iter()
            .flat_map(|switch| switch.reports(now))
            .flat_map(|report| report.counters)
            .filter(|(_, counter, _)| *counter == name)
            .map(|(.., value)| value)
            .collect();
        assert!(!counters.is_empty(), "there is no counter {name:?}");
        counters.iter().sum()
    }

    /// The promises that were broken.
    pub fn broken_promises(&self, now: Time) -> Vec<String> {
        self.switches.iter().flat_map(|switch| switch.reports(now)).flat_map(|report| report.broken_promises).collect()
    }
}

fn switch(rate: BitRate, mechanism: AnyMechanism) -> Switch<AnyMechanism> {
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let front = PortConfig::fifo(rate, ETHERNET_OVERHEAD_BYTES, queue);
    Switch::new(architecture, vec![front.clone(), front], BufferPolicy::Static, vec![mechanism])
}

/// A generator for loss decisions, so that a failing case replays from its seed.
pub fn chances(seed: u64) -> impl FnMut(u64) -> bool {
    let mut state = seed | 1;
    move |per_mille| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 1_000 < per_mille
    }
}
