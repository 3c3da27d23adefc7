//! Two switches joined by a link that loses what it is told to lose: enough of a driver to watch a link protocol.

use hitless_engine::{EventQueue, OrderKey, PacketHandle, PacketStore};
use hitless_mechanisms::AnyMechanism;
use hitless_mechanisms::linkguardian::Command;
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

/// What becomes of a frame on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    /// Corrupted.
    Lost,
    /// Arrives so much later than the line would have it, perhaps behind others.
    Late(Duration),
}

/// Decides the fate of each frame of one direction.
pub type Fates = Box<dyn FnMut(&Packet) -> Fate>;

#[derive(Clone, Copy, Debug)]
enum Happening {
    Inject {
        switch: usize,
        packet: PacketHandle,
    },
    Arrive {
        switch: usize,
        packet: PacketHandle,
        is_whole: bool,
    },
    Forge {
        switch: usize,
        packet: PacketHandle,
    },
    /// An event of a switch, and which of its lives it belongs to.
    Own {
        switch: usize,
        life: u32,
        event: SwitchEvent,
    },
    Command {
        switch: usize,
        number: u32,
    },
    Restart {
        switch: usize,
    },
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
    /// When each of them did.
    pub delivered_at: Vec<Time>,
    /// How long the frames of them were.
    pub delivered_bytes: Vec<u32>,
    /// When each datagram entered switch 0.
    injected_at: Vec<Time>,
    pub ended: [u64; DropReason::COUNT],
    /// By the switch that sends.
    fates: [Fates; 2],
    pub lost: u64,
    /// How often each switch has been started anew.
    lives: [u32; 2],
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

    fn send(&mut self, from: usize, packet: PacketHandle, last_bit_at: Time) {
        let fate = (self.fates[from])(&self.packets[packet]);
        let arrives_at = last_bit_at + LINK_DELAY;
        match fate {
            Fate::Arrives => self.push(arrives_at, Happening::Arrive { switch: 1 - from, packet, is_whole: true }),
            Fate::Late(by) => {
                self.push(arrives_at + by, Happening::Arrive { switch: 1 - from, packet, is_whole: true })
            }
            Fate::Lost => self.push(arrives_at, Happening::Arrive { switch: 1 - from, packet, is_whole: false }),
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
        let life = self.world.lives[self.switch];
        self.world.push(at, Happening::Own { switch: self.switch, life, event });
    }

    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        if port == LINK {
            return self.world.send(self.switch, packet, last_bit_at);
        }
        let descriptor = &self.world.packets[packet];
        assert!(descriptor.shims.is_empty(), "headers of a link leaked to a host: {:?}", descriptor.shims);
        let Transport::Udp(header) = descriptor.transport else { panic!("a control packet leaked to a host") };
        let frame_bytes = descriptor.frame_bytes;
        if self.switch == 1 {
            self.world.delivered_bytes.push(frame_bytes);
            self.world.delivered.push(header.number);
            self.world.delivered_at.push(last_bit_at);
        } else {
            self.world.returned.push(header.number);
        }
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
    /// What a switch runs when it is started anew.
    anew: Option<Box<dyn Fn(usize) -> AnyMechanism>>,
}

impl Pair {
    /// Switch 0 and 1 with their mechanisms; frames from switch 0 to 1 for which `lose` is true are corrupted.
    pub fn new(rate_gbps: u64, mechanisms: [AnyMechanism; 2], mut lose: impl FnMut(&Packet) -> bool + 'static) -> Self {
        let forth = move |packet: &Packet| if lose(packet) { Fate::Lost } else { Fate::Arrives };
        Self::with_fates(rate_gbps, mechanisms, [Box::new(forth), Box::new(|_| Fate::Arrives)])
    }

    /// As [`Self::new`], with what becomes of the frames of either switch.
    pub fn with_fates(rate_gbps: u64, mechanisms: [AnyMechanism; 2], fates: [Fates; 2]) -> Self {
        let rate = BitRate::from_gbps(rate_gbps);
        let world = World {
            queue: EventQueue::default(),
            packets: PacketStore::default(),
            sequence: 0,
            delivered: Vec::new(),
            returned: Vec::new(),
            delivered_at: Vec::new(),
            delivered_bytes: Vec::new(),
            injected_at: Vec::new(),
            ended: [0; DropReason::COUNT],
            fates,
            lost: 0,
            lives: [0; 2],
        };
        let switches = mechanisms.map(|mechanism| switch(rate, mechanism));
        let mut pair = Self { world, switches, rate, anew: None };
        for (number, switch) in pair.switches.iter_mut().enumerate() {
            switch.start(Time::ZERO, &mut Side { world: &mut pair.world, switch: number });
        }
        pair
    }

    /// `count` full-size datagrams enter switch `from` back to back from `start` on, numbered from `first`.
    pub fn inject(&mut self, from: usize, start: Time, first: u64, count: u64) {
        self.inject_class(from, start, first, count, |_| 0);
    }

    /// As [`Self::inject`], with a traffic class for each number.
    pub fn inject_class(&mut self, from: usize, start: Time, first: u64, count: u64, class: impl Fn(u64) -> u8) {
        let spacing = self.rate.time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES));
        for index in 0..count {
            let header = UdpHeader { number: first + index, ..UdpHeader::default() };
            let packet = self.world.packets.insert(Packet {
                frame_bytes: MTU_FRAME_BYTES,
                destination: HostId(1 - from as u32),
                class: class(first + index),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(header),
                ..Packet::default()
            });
            let at = start + spacing * index;
            if from == 0 {
                let injected_at = &mut self.world.injected_at;
                let slot = (first + index) as usize;
                injected_at.resize(injected_at.len().max(slot + 1), Time::NEVER);
                injected_at[slot] = at;
            }
            self.world.push(at, Happening::Inject { switch: from, packet });
        }
    }

    /// A frame that neither switch has sent reaches `switch` from the link at `at`.
    pub fn forge(&mut self, switch: usize, at: Time, packet: Packet) {
        let packet = self.world.packets.insert(packet);
        self.world.push(at, Happening::Forge { switch, packet });
    }

    /// When the datagram entered switch 0.
    pub fn injected_at(&self, number: u64) -> Option<Time> {
        self.world.injected_at.get(number as usize).copied().filter(|&at| at != Time::NEVER)
    }

    /// The control plane tells one end of the link something at `at`.
    pub fn command(&mut self, switch: usize, at: Time, command: Command) {
        self.world.push(at, Happening::Command { switch, number: command.number() });
    }

    /// A switch loses all it knows and all it holds at `at`, and runs what `mechanism` makes for its next life.
    pub fn restart(&mut self, switch: usize, at: Time, mechanism: impl Fn(usize) -> AnyMechanism + 'static) {
        self.anew = Some(Box::new(mechanism));
        self.world.push(at, Happening::Restart { switch });
    }

    fn start_anew(&mut self, now: Time, number: usize) {
        let anew = self.anew.as_ref().expect("who restarts a switch says what it runs");
        self.world.lives[number] += 1;
        self.switches[number] = switch(self.rate, anew(number));
        self.switches[number].start(now, &mut Side { world: &mut self.world, switch: number });
    }

    /// Runs until nothing happens any more; answers when.
    pub fn run(&mut self) -> Time {
        let mut now = Time::ZERO;
        const MOST_EVENTS: u64 = 20_000_000;
        let mut events = 0;
        while let Some(event) = self.world.queue.pop() {
            now = event.time;
            events += 1;
            assert!(
                events < MOST_EVENTS,
                "the switches do not come to rest: {now}: {:?}",
                self.switches
                    .iter()
                    .flat_map(|switch| switch.reports(now))
                    .flat_map(|report| report.counters)
                    .filter(|(.., value)| *value > 0)
                    .collect::<Vec<_>>()
            );
            self.step(now, event.payload);
        }
        for switch in &self.switches {
            assert_eq!(switch.violation(), None);
        }
        now
    }

    /// Runs up to `until`, for switches that never come to rest; answers that time.
    pub fn run_until(&mut self, until: Time) -> Time {
        while self.world.queue.next_time().is_some_and(|next| next <= until)
            && let Some(event) = self.world.queue.pop()
        {
            self.step(event.time, event.payload);
        }
        until
    }

    fn step(&mut self, now: Time, happening: Happening) {
        match happening {
            Happening::Command { switch, number } => {
                self.switches[switch].command(now, 0, number, &mut Side { world: &mut self.world, switch });
            }
            Happening::Restart { switch } => self.start_anew(now, switch),
            Happening::Own { switch, life, .. } if life != self.world.lives[switch] => {}
            Happening::Own { switch, event, .. } => {
                self.switches[switch].handle(now, event, &mut Side { world: &mut self.world, switch });
            }
            Happening::Inject { switch, packet } => {
                self.switches[switch].receive(now, EDGE, packet, &mut Side { world: &mut self.world, switch });
            }
            Happening::Forge { switch, packet } => {
                self.switches[switch].receive(now, LINK, packet, &mut Side { world: &mut self.world, switch });
            }
            Happening::Arrive { switch, packet, is_whole } => {
                if !is_whole {
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
