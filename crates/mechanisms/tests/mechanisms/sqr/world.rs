//! A switch with a source and three paths to the same receiver; links fail on command.

use std::cell::RefCell;
use std::rc::Rc;

use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Duration, Packet, PortId, QueueId, ServiceKey, Time, Transport, UdpHeader};
use hitless_mechanisms::sqr::{Clock, Sqr, SqrBackstop, SqrCaching, SqrConfig, SqrRelease, SqrSettings};
use hitless_switch::testing::{Harness, Left};
use hitless_switch::{Architecture, BufferPolicy, DropReason, PortConfig, PortState, QueueConfig, QueueLimit, Switch};

pub const SOURCE: PortId = PortId(0);
pub const PRIMARY: PortId = PortId(1);
/// Another path to the receiver.
pub const BACKUP: PortId = PortId(2);
pub const THIRD: PortId = PortId(3);

/// Hold of packets before they return to their own port.
pub const RETURN_HOLD: Duration = Duration::from_us(20);

/// The class of protected packets; packets of other classes are unprotected.
pub const MARKED: u8 = 1;
/// The class of protected packets that need no order, if [`Setting::sprays`].
pub const SPRAYED: u8 = 2;

#[derive(Clone, Copy, Debug)]
pub enum Recovery {
    /// The same port works again after this time from detection.
    SamePort(Duration),
    /// The next port takes over at detection; the link is repaired after this time from its failure.
    LocalReroute(Duration),
}

#[derive(Clone, Debug)]
pub struct Setting {
    pub rate_gbps: u64,
    /// Delays from a MAC to the receiver, by port.
    pub delays: [Duration; 4],
    pub detection: Duration,
    pub recovery: Recovery,
    pub caching: SqrCaching,
    pub release: SqrRelease,
    /// Extra lifetime of copies after a failure.
    pub slack: Duration,
    pub clock_bits: u32,
    pub first_tag: u32,
    /// Start of the run, which decides the first clock value.
    pub start: Time,
    pub buffer: BufferPolicy,
    pub backstop: Option<SqrBackstop>,
    pub caching_ports: Vec<PortId>,
    /// Whether packets of [`SPRAYED`] are protected, in a separate queue.
    pub sprays: bool,
    /// Maximum age of a copy of [`SPRAYED`] that is sent.
    pub any_order_age: Option<Duration>,
}

impl Setting {
    /// 10G, with the detection of F10 and the repair of ShareBackup shortened to `repair_us`.
    pub fn same_port(repair_us: u64) -> Self {
        Self {
            rate_gbps: 10,
            delays: [Duration::from_us(1); 4],
            detection: Duration::from_us(30),
            recovery: Recovery::SamePort(Duration::from_us(repair_us)),
            caching: SqrCaching::Ring,
            release: SqrRelease::AfterDelay,
            slack: Duration::ZERO,
            clock_bits: 32,
            first_tag: 0,
            start: Time::ZERO,
            buffer: BufferPolicy::Static,
            backstop: None,
            caching_ports: vec![SOURCE, BACKUP, THIRD],
            sprays: false,
            any_order_age: None,
        }
    }

    pub fn rate(&self) -> BitRate {
        BitRate::from_gbps(self.rate_gbps)
    }

    /// Maximum time from egress to the receiver.
    fn flight(&self) -> Duration {
        let longest = self.delays.iter().copied().max().expect("four ports");
        let frame = self.rate().time_for(u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES));
        longest + frame + Architecture::tofino_like().egress_latency
    }

    /// The minimum bits of a clock that can measure the delays.
    pub fn least_clock_bits(&self) -> u32 {
        let settings = self.config().settings;
        let longest = settings.delays().1.max(settings.utilization_window);
        (2..=32).find(|&bits| Clock::new(bits).longest() >= longest).expect("the delays are far below a second")
    }

    pub fn config(&self) -> SqrConfig {
        let steady_delay = self.detection + self.flight();
        let repair = match self.recovery {
            Recovery::SamePort(repair) => repair,
            Recovery::LocalReroute(_) => Duration::ZERO,
        };
        SqrConfig {
            protected: vec![PRIMARY, BACKUP, THIRD],
            line_ports: 4,
            caching_ports: self.caching_ports.clone(),
            ring_shares: Vec::new(),
            settings: SqrSettings {
                classes: if self.sprays { vec![MARKED, SPRAYED] } else { vec![MARKED] },
                any_order: self.sprays.then(|| vec![SPRAYED]),
                any_order_age: self.any_order_age,
                steady_delay: Some(steady_delay),
                failure_delay: Some(steady_delay + repair + self.slack),
                clock_bits: self.clock_bits,
                utilization_window: Duration::from_us(20),
                caching: self.caching,
                release: self.release,
                backstop: self.backstop,
                return_hold: Some(RETURN_HOLD),
                ..SqrSettings::default()
            },
        }
    }
}

/// A failure of the link of `port`, `after` the start.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub port: PortId,
    pub after: Duration,
}

/// A packet that enters at [`SOURCE`], `after` the start, for the receiver through port `towards`.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub after: Duration,
    pub frame_bytes: u32,
    pub towards: PortId,
    pub class: u8,
    pub service: ServiceKey,
}

#[derive(Default)]
pub struct World {
    /// Marked packets that reached the receiver, by intended port: numbers and times, duplicates included.
    pub delivered: [Vec<(u64, Time)>; 4],
    /// Packets of [`SPRAYED`] that reached the receiver.
    pub sprayed: Vec<(u64, Time)>,
    pub unmarked_delivered: u64,
    pub lost_on_links: u64,
    pub ended: [u64; DropReason::COUNT],
}

pub struct Bench {
    pub world: World,
    harness: Harness,
    setting: Setting,
    /// Times at which a link goes down and comes up, by port.
    links: [Vec<(Time, bool)>; 4],
    services: Rc<RefCell<Vec<ServiceKey>>>,
}

impl Bench {
    pub fn new(setting: &Setting) -> Self {
        Self::with_config(setting, setting.config())
    }

    pub fn with_config(setting: &Setting, config: SqrConfig) -> Self {
        let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
        let queue = QueueConfig::normal(QueueLimit::Unlimited);
        let mut port = PortConfig::fifo(setting.rate(), ETHERNET_OVERHEAD_BYTES, queue);
        if setting.sprays {
            port.queues.push(queue);
            port.class_queue[usize::from(SPRAYED)] = QueueId(1);
        }
        let mechanism = Box::new(Sqr::with_first_tag(config, setting.first_tag));
        let switch = Switch::new(architecture, vec![port; 4], setting.buffer, vec![mechanism]);
        let services = Rc::new(RefCell::new(Vec::<ServiceKey>::new()));
        let of_flows = Rc::clone(&services);
        let service = move |packet: &Packet| of_flows.borrow()[packet.flow.0 as usize];
        let route = |_, packet: &Packet| Some(PortId(packet.destination.0 as u16));
        let mut harness = Harness::new(vec![switch], route).with_tables(|_, _| false, service);
        harness.world.now = setting.start;
        harness.start();
        Self { world: World::default(), harness, setting: setting.clone(), links: Default::default(), services }
    }

    /// Injects packets. Marked packets are numbered from 0 per intended port, in the order of `arrivals`.
    pub fn inject(&mut self, arrivals: &[Arrival]) {
        let (mut numbers, mut sprayed) = ([0; 4], 0);
        for arrival in arrivals {
            let sprays = arrival.class == SPRAYED;
            let number = if sprays { &mut sprayed } else { &mut numbers[usize::from(arrival.towards.0)] };
            let service = self.services.borrow().len() as u32;
            self.services.borrow_mut().push(arrival.service);
            let packet = Packet {
                frame_bytes: arrival.frame_bytes,
                class: arrival.class,
                flow: hitless_core::wire::FlowId(service),
                destination: hitless_core::wire::HostId(u32::from(arrival.towards.0)),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(UdpHeader { number: *number, ..UdpHeader::default() }),
                ..Packet::default()
            };
            *number += u64::from(sprays || arrival.class == MARKED);
            self.harness.enter(self.setting.start + arrival.after, 0, SOURCE, packet);
        }
    }

    /// Plans the failures of each link, with detection and repair. Skips a failure that begins before the last one is
    /// over. Returns the number of planned failures.
    pub fn fail(&mut self, failures: &[Failure]) -> usize {
        let (detection, recovery) = (self.setting.detection, self.setting.recovery);
        let mut over_at = [Time::ZERO; 4];
        let mut planned = 0;
        let mut failures = failures.to_vec();
        failures.sort_by_key(|failure| failure.after);
        for Failure { port, after } in failures {
            let down_at = self.setting.start + after;
            if down_at <= over_at[usize::from(port.0)] {
                continue;
            }
            planned += 1;
            self.links[usize::from(port.0)].push((down_at, false));
            let detected_at = down_at + detection;
            self.harness.tell_state(detected_at, 0, port, PortState::Down);
            let (up_at, known_at) = match recovery {
                Recovery::SamePort(repair) => (detected_at + repair, detected_at + repair),
                Recovery::LocalReroute(outage) => {
                    let backup = if port == THIRD { PRIMARY } else { PortId(port.0 + 1) };
                    self.harness.tell_state(detected_at, 0, port, PortState::Rerouted { backup });
                    (down_at + outage, down_at + outage + detection)
                }
            };
            self.links[usize::from(port.0)].push((up_at, true));
            self.harness.tell_state(known_at, 0, port, PortState::Up);
            over_at[usize::from(port.0)] = known_at;
        }
        planned
    }

    pub fn run(&mut self) -> Time {
        const MOST_EVENTS: u64 = 5_000_000;
        let mut events = 0;
        while self.harness.step().is_some() {
            events += 1;
            assert!(events < MOST_EVENTS, "the switch does not come to rest: {}", self.harness.world.now);
        }
        let mut left = std::mem::take(&mut self.harness.world.left);
        left.sort_by_key(|left| self.arrives_at(left));
        left.iter().for_each(|left| self.deliver(left));
        self.harness.world.ended.iter().for_each(|ended| self.world.ended[ended.reason as usize] += 1);
        self.harness.finish();
        assert_eq!(self.counter("cached_bytes"), 0, "the cache is not empty");
        left.last().map_or(Time::ZERO, |left| self.arrives_at(left)).max(self.harness.world.now)
    }

    fn arrives_at(&self, left: &Left) -> Time {
        left.at + self.setting.delays[usize::from(left.port.0)]
    }

    /// Delivers a packet to the receiver, unless the link was down at any time after its first bit.
    fn deliver(&mut self, left: &Left) {
        let Left { packet, at: last_bit_at, .. } = *left;
        let serialization = self.setting.rate().time_for(u64::from(packet.frame_bytes + ETHERNET_OVERHEAD_BYTES));
        let first_bit_at = Time(last_bit_at.as_ps() - serialization.as_ps());
        let now = self.arrives_at(left);
        let link = &self.links[usize::from(left.port.0)];
        let latest = link.iter().rfind(|&&(changed_at, _)| changed_at <= now);
        assert!(packet.shims.is_empty(), "metadata leaked to a link");
        if latest.is_some_and(|&(changed_at, is_up)| !is_up || changed_at > first_bit_at) {
            self.world.lost_on_links += 1;
        } else if packet.class == MARKED || packet.class == SPRAYED {
            let Transport::Udp(header) = packet.transport else { panic!("only datagrams are here") };
            if packet.class == SPRAYED {
                return self.world.sprayed.push((header.number, now));
            }
            self.world.delivered[packet.destination.0 as usize].push((header.number, now));
        } else {
            self.world.unmarked_delivered += 1;
        }
    }

    pub fn counter(&self, name: &str) -> u64 {
        self.harness.counter(name).unwrap_or(0)
    }

    /// Of the first `sent` marked packets towards `port`: those that never arrived, and those whose first arrival came
    /// after a later packet.
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
