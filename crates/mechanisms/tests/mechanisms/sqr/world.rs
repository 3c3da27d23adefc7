//! One switch with a source and three ways to the same receiver, whose links fail when they are told to.

use hitless_engine::{EventQueue, OrderKey, PacketHandle, PacketStore};
use hitless_mechanisms::AnyMechanism;
use hitless_mechanisms::sqr::{Backstop, Caching, Clock, Marks, Release, Sqr, SqrConfig};
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Environment, PortConfig, PortState, QueueConfig, QueueLimit, Switch,
    SwitchEvent,
};
use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Duration, Packet, PortId, ServiceKey, Time, Transport, UdpHeader};

/// Where packets come from.
pub const SOURCE: PortId = PortId(0);
/// The protected port.
pub const PRIMARY: PortId = PortId(1);
/// Another way to the receiver.
pub const BACKUP: PortId = PortId(2);
/// A third.
pub const THIRD: PortId = PortId(3);

/// The class of protected packets; all others are not.
pub const MARKED: u8 = 1;

/// What repairs a route.
#[derive(Clone, Copy, Debug)]
pub enum Recovery {
    /// The same port works again so long after detection.
    SamePort(Duration),
    /// The next port takes over at detection; the link comes back so long after it failed.
    LocalReroute(Duration),
}

/// A test's switch and what surrounds it.
#[derive(Clone, Debug)]
pub struct Setting {
    pub rate_gbps: u64,
    /// From a MAC to the receiver, by port.
    pub delays: [Duration; 4],
    pub detection: Duration,
    pub recovery: Recovery,
    pub caching: Caching,
    pub release: Release,
    /// By how much copies are kept longer after a failure than they need be.
    pub slack: Duration,
    pub clock_bits: u32,
    pub first_tag: u32,
    /// When the run begins: where in its turn the clock is.
    pub start: Time,
    pub buffer: BufferPolicy,
    pub backstop: Option<Backstop>,
    /// The ring.
    pub caching_ports: Vec<PortId>,
}

impl Setting {
    /// 10G, F10's detection, ShareBackup's repair shortened to `repair_us`.
    pub fn same_port(repair_us: u64) -> Self {
        Self {
            rate_gbps: 10,
            delays: [Duration::from_us(1); 4],
            detection: Duration::from_us(30),
            recovery: Recovery::SamePort(Duration::from_us(repair_us)),
            caching: Caching::Ring,
            release: Release::AfterDelay,
            slack: Duration::ZERO,
            clock_bits: 32,
            first_tag: 0,
            start: Time::ZERO,
            buffer: BufferPolicy::Static,
            backstop: None,
            caching_ports: vec![SOURCE, BACKUP, THIRD],
        }
    }

    pub fn rate(&self) -> BitRate {
        BitRate::from_gbps(self.rate_gbps)
    }

    /// Longest time from egress to the receiver.
    fn flight(&self) -> Duration {
        let longest = self.delays.iter().copied().max().expect("four ports");
        let frame = self.rate().time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES));
        longest + frame + Architecture::tofino_like().egress_latency
    }

    /// The fewest bits of a clock that can measure the delays.
    pub fn least_clock_bits(&self) -> u32 {
        let config = self.config();
        let longest = config.failure_delay.max(config.utilization_window);
        (2..=32).find(|&bits| Clock::new(bits).longest() >= longest).expect("the delays are far below a second")
    }

    pub fn config(&self) -> SqrConfig {
        let steady_delay = self.detection + self.flight();
        let repair = match self.recovery {
            Recovery::SamePort(repair) => repair,
            Recovery::LocalReroute(_) => Duration::ZERO,
        };
        SqrConfig {
            protected: vec![PRIMARY, BACKUP],
            line_ports: 4,
            caching_ports: self.caching_ports.clone(),
            marks: Marks { classes: vec![MARKED], ..Marks::default() },
            steady_delay,
            failure_delay: steady_delay + repair + self.slack,
            clock_bits: self.clock_bits,
            utilization_window: Duration::from_us(20),
            caching: self.caching,
            release: self.release,
            backstop: self.backstop,
            return_hold: Duration::from_us(20),
        }
    }
}

/// A failure of the link of `port` so long after the start.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub port: PortId,
    pub after: Duration,
}

/// A packet that enters at [`SOURCE`], so long after the start, for the receiver by `towards`.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub after: Duration,
    pub frame_bytes: u32,
    pub towards: PortId,
    pub class: u8,
    pub service: ServiceKey,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Link { port: PortId, is_up: bool },
    Learn { port: PortId, state: PortState },
    Arrive { packet: PacketHandle },
    Deliver { packet: PacketHandle, port: PortId, lost_if_down_since: Time },
    Own { event: SwitchEvent },
}

/// Everything but the switch.
pub struct World {
    queue: EventQueue<Happening>,
    packets: PacketStore,
    sequence: u64,
    setting: Setting,
    services: Vec<ServiceKey>,
    /// By port: the state of its link, and since when.
    links: [(bool, Time); 4],
    /// By the port that they were sent towards: marked packets as they reached the receiver, by number, duplicates
    /// included, and when.
    pub delivered: [Vec<(u64, Time)>; 4],
    pub unmarked_delivered: u64,
    pub lost_on_links: u64,
    pub ended: [u64; DropReason::COUNT],
}

impl World {
    fn push(&mut self, at: Time, kind: u8, happening: Happening) {
        self.sequence += 1;
        self.queue.push(at, OrderKey::new(kind, 0, self.sequence), happening);
    }

    fn number(&self, packet: PacketHandle) -> u64 {
        let Transport::Udp(header) = self.packets[packet].transport else { panic!("only datagrams are here") };
        header.number
    }

    fn deliver(&mut self, now: Time, packet: PacketHandle, port: PortId, lost_if_down_since: Time) {
        let (is_up, since) = self.links[usize::from(port.0)];
        let was_down = !is_up || (since > lost_if_down_since && since > self.setting.start);
        if was_down {
            self.lost_on_links += 1;
        } else if self.packets[packet].class == MARKED {
            let number = self.number(packet);
            self.delivered[self.packets[packet].destination.0 as usize].push((number, now));
        } else {
            self.unmarked_delivered += 1;
        }
        assert!(self.packets[packet].shims.is_empty(), "metadata leaked to a link");
        self.packets.remove(packet);
    }
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }

    fn route(&mut self, packet: PacketHandle) -> Option<PortId> {
        Some(PortId(self.packets[packet].destination.0 as u16))
    }

    fn service_key(&self, packet: PacketHandle) -> ServiceKey {
        self.services[self.packets[packet].flow.0 as usize]
    }

    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.push(at, 3, Happening::Own { event });
    }

    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        let frame_bytes = self.packets[packet].frame_bytes;
        let serialization = self.setting.rate().time_for(u64::from(frame_bytes + ETHERNET_OVERHEAD_BYTES));
        let lost_if_down_since = Time(last_bit_at.as_ps() - serialization.as_ps());
        let at = last_bit_at + self.setting.delays[usize::from(port.0)];
        self.push(at, 2, Happening::Deliver { packet, port, lost_if_down_since });
    }

    fn created(&mut self, _packet: PacketHandle) {}

    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.ended[reason as usize] += 1;
        self.packets.remove(packet);
    }
}

/// The switch in its world.
pub struct Bench {
    pub world: World,
    pub switch: Switch<AnyMechanism>,
}

impl Bench {
    pub fn new(setting: &Setting) -> Self {
        Self::with_config(setting, setting.config())
    }

    pub fn with_config(setting: &Setting, config: SqrConfig) -> Self {
        let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
        let queue = QueueConfig::normal(QueueLimit::Unlimited);
        let port = PortConfig::fifo(setting.rate(), ETHERNET_OVERHEAD_BYTES, queue);
        let mechanism = Sqr::with_first_tag(config, setting.first_tag).into();
        let switch = Switch::new(architecture, vec![port; 4], setting.buffer, vec![mechanism]);
        let world = World {
            queue: EventQueue::default(),
            packets: PacketStore::default(),
            sequence: 0,
            setting: setting.clone(),
            services: Vec::new(),
            links: [(true, Time::ZERO); 4],
            delivered: Default::default(),
            unmarked_delivered: 0,
            lost_on_links: 0,
            ended: [0; DropReason::COUNT],
        };
        let mut bench = Self { world, switch };
        bench.switch.start(setting.start, &mut bench.world);
        bench
    }

    /// Marked packets are numbered from 0 for each port they are sent towards, in the order of `arrivals`.
    pub fn inject(&mut self, arrivals: &[Arrival]) {
        let mut numbers = [0; 4];
        for arrival in arrivals {
            let number = &mut numbers[usize::from(arrival.towards.0)];
            let service = self.world.services.len() as u32;
            self.world.services.push(arrival.service);
            let packet = self.world.packets.insert(Packet {
                frame_bytes: arrival.frame_bytes,
                class: arrival.class,
                flow: hitless_wire::FlowId(service),
                destination: hitless_wire::HostId(u32::from(arrival.towards.0)),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(UdpHeader { number: *number, ..UdpHeader::default() }),
                ..Packet::default()
            });
            *number += u64::from(arrival.class == MARKED);
            let at = self.world.setting.start + arrival.after;
            self.world.push(at, 2, Happening::Arrive { packet });
        }
    }

    /// Plans the failures of each link, with their detection and repair. One that comes before the last is over is left
    /// out; the answer is how many were planned.
    pub fn fail(&mut self, failures: &[Failure]) -> usize {
        let (detection, recovery) = (self.world.setting.detection, self.world.setting.recovery);
        let mut over_at = [Time::ZERO; 4];
        let mut planned = 0;
        let mut failures = failures.to_vec();
        failures.sort_by_key(|failure| failure.after);
        for Failure { port, after } in failures {
            let down_at = self.world.setting.start + after;
            if down_at <= over_at[usize::from(port.0)] {
                continue;
            }
            planned += 1;
            self.world.push(down_at, 0, Happening::Link { port, is_up: false });
            let detected_at = down_at + detection;
            self.world.push(detected_at, 1, Happening::Learn { port, state: PortState::Down });
            let (up_at, known_at) = match recovery {
                Recovery::SamePort(repair) => (detected_at + repair, detected_at + repair),
                Recovery::LocalReroute(outage) => {
                    let backup = if port == THIRD { PRIMARY } else { PortId(port.0 + 1) };
                    self.world.push(detected_at, 1, Happening::Learn { port, state: PortState::Rerouted { backup } });
                    (down_at + outage, down_at + outage + detection)
                }
            };
            self.world.push(up_at, 0, Happening::Link { port, is_up: true });
            self.world.push(known_at, 1, Happening::Learn { port, state: PortState::Up });
            over_at[usize::from(port.0)] = known_at;
        }
        planned
    }

    /// Runs until nothing happens any more; answers when.
    pub fn run(&mut self) -> Time {
        let mut now = self.world.setting.start;
        const MOST_EVENTS: u64 = 5_000_000;
        let mut events = 0;
        while let Some(event) = self.world.queue.pop() {
            now = event.time;
            events += 1;
            assert!(events < MOST_EVENTS, "the switch does not come to rest: {now}");
            self.step(now, event.payload);
        }
        assert_eq!(self.switch.violation(), None);
        assert_eq!(self.world.packets.alive(), 0, "packets are left over");
        assert_eq!(self.counter("bytes now"), 0, "the cache is not empty");
        now
    }

    fn step(&mut self, now: Time, happening: Happening) {
        match happening {
            Happening::Link { port, is_up } => self.world.links[usize::from(port.0)] = (is_up, now),
            Happening::Learn { port, state } => self.switch.port_state(now, port, state, &mut self.world),
            Happening::Arrive { packet } => self.switch.receive(now, SOURCE, packet, &mut self.world),
            Happening::Deliver { packet, port, lost_if_down_since } => {
                self.world.deliver(now, packet, port, lost_if_down_since);
            }
            Happening::Own { event } => self.switch.handle(now, event, &mut self.world),
        }
    }

    /// The value of a counter of SQR.
    pub fn counter(&self, name: &str) -> u64 {
        let reports = self.switch.reports(Time::ZERO);
        reports
            .flat_map(|report| report.counters)
            .filter(|(_, counter, _)| *counter == name)
            .map(|(.., value)| value)
            .sum()
    }

    /// Of the first `sent` marked packets towards `port`, those that never arrived, and those that arrived after a later
    /// one, not having arrived before.
    pub fn lost_and_reordered(&self, port: PortId, sent: u64) -> (Vec<u64>, Vec<u64>) {
        let mut seen = vec![false; sent as usize];
        let mut highest = None;
        let mut reordered = Vec::new();
        for &(number, _) in &self.world.delivered[usize::from(port.0)] {
            if !std::mem::replace(&mut seen[number as usize], true) && highest > Some(number) {
                reordered.push(number);
            }
            highest = highest.max(Some(number));
        }
        let lost = (0..sent).filter(|&number| !seen[number as usize]).collect();
        (lost, reordered)
    }
}
