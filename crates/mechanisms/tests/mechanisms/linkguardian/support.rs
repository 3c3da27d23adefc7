//! Two switches joined by a link that loses what it is told to lose: enough of a driver to watch a link protocol.

use hitless_mechanisms::LinkGuardian;
use hitless_mechanisms::linkguardian::Command;
use hitless_switch::testing::{Harness, Left};
use hitless_switch::{Architecture, BufferPolicy, DropReason, Mechanism, PortConfig, QueueConfig, QueueLimit, Switch};
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

pub use hitless_switch::testing::Fate;

/// Decides the fate of each frame of one direction.
pub type Fates = Box<dyn FnMut(&Packet) -> Fate>;

/// What the two switches run.
pub type Ends = [Box<dyn Mechanism>; 2];

/// Both of them, to be run.
pub fn boxed(ends: [LinkGuardian; 2]) -> Ends {
    ends.map(|end| Box::new(end) as Box<dyn Mechanism>)
}

/// What came out of the switches.
pub struct World {
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
    pub lost: u64,
}

impl World {
    /// Takes out of the harness what has come out of the switches, and ended.
    fn collect(&mut self, harness: &mut Harness) {
        for Left { switch, at, packet, .. } in harness.world.left.drain(..) {
            assert!(packet.shims.is_empty(), "headers of a link leaked to a host: {:?}", packet.shims);
            let Transport::Udp(header) = packet.transport else { panic!("a control packet leaked to a host") };
            if switch == 0 {
                self.returned.push(header.number);
                continue;
            }
            self.delivered_bytes.push(packet.frame_bytes);
            self.delivered.push(header.number);
            self.delivered_at.push(at);
        }
        harness.world.ended.drain(..).for_each(|ended| self.ended[ended.reason as usize] += 1);
        self.lost = harness.world.lost;
    }
}

/// Makes what a switch runs in its next life, by its number.
type Anew = Box<dyn Fn(usize) -> Box<dyn Mechanism>>;

/// The two switches and everything between them.
pub struct Pair {
    pub world: World,
    harness: Harness,
    rate: BitRate,
    /// When switches are started anew, in order.
    restarts: Vec<(Time, usize)>,
    /// What a switch runs then.
    anew: Option<Anew>,
}

impl Pair {
    /// Switch 0 and 1 with their mechanisms; frames from switch 0 to 1 for which `lose` is true are corrupted.
    pub fn new(rate_gbps: u64, mechanisms: Ends, mut lose: impl FnMut(&Packet) -> bool + 'static) -> Self {
        let forth = move |packet: &Packet| if lose(packet) { Fate::Corrupted } else { Fate::Arrives };
        Self::with_fates(rate_gbps, mechanisms, [Box::new(forth), Box::new(|_| Fate::Arrives)])
    }

    /// As [`Self::new`], with what becomes of the frames of either switch.
    pub fn with_fates(rate_gbps: u64, mechanisms: Ends, fates: [Fates; 2]) -> Self {
        let rate = BitRate::from_gbps(rate_gbps);
        let world = World {
            delivered: Vec::new(),
            returned: Vec::new(),
            delivered_at: Vec::new(),
            delivered_bytes: Vec::new(),
            injected_at: Vec::new(),
            ended: [0; DropReason::COUNT],
            lost: 0,
        };
        let switches = mechanisms.map(|mechanism| switch(rate, mechanism)).into();
        let is_here = |switch: usize, packet: &Packet| packet.destination == HostId(switch as u32);
        let route = move |switch, packet: &Packet| Some(if is_here(switch, packet) { EDGE } else { LINK });
        let mut harness = Harness::new(switches, route);
        for (from, fate) in fates.into_iter().enumerate() {
            harness.connect((from, LINK), (1 - from, LINK), LINK_DELAY, fate, |_| false);
        }
        harness.start();
        Self { world, harness, rate, restarts: Vec::new(), anew: None }
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
            let packet = Packet {
                frame_bytes: MTU_FRAME_BYTES,
                destination: HostId(1 - from as u32),
                class: class(first + index),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(header),
                ..Packet::default()
            };
            let at = start + spacing * index;
            if from == 0 {
                let injected_at = &mut self.world.injected_at;
                let slot = (first + index) as usize;
                injected_at.resize(injected_at.len().max(slot + 1), Time::NEVER);
                injected_at[slot] = at;
            }
            self.harness.enter(at, from, EDGE, packet);
        }
    }

    /// A frame that neither switch has sent reaches `switch` from the link at `at`.
    pub fn forge(&mut self, switch: usize, at: Time, packet: Packet) {
        self.harness.enter(at, switch, LINK, packet);
    }

    /// When the datagram entered switch 0.
    pub fn injected_at(&self, number: u64) -> Option<Time> {
        self.world.injected_at.get(number as usize).copied().filter(|&at| at != Time::NEVER)
    }

    /// The control plane tells one end of the link something at `at`.
    pub fn command(&mut self, switch: usize, at: Time, command: Command) {
        self.harness.command(at, switch, command.number());
    }

    /// A switch loses all it knows and all it holds at `at`, and runs what `mechanism` makes for its next life.
    pub fn restart(&mut self, switch: usize, at: Time, mechanism: impl Fn(usize) -> Box<dyn Mechanism> + 'static) {
        self.anew = Some(Box::new(mechanism));
        self.restarts.push((at, switch));
    }

    /// Runs until nothing happens any more; answers when.
    pub fn run(&mut self) -> Time {
        for (at, number) in std::mem::take(&mut self.restarts) {
            self.run_before(at);
            let anew = self.anew.as_ref().expect("who restarts a switch says what it runs");
            self.harness.world.now = at;
            self.harness.replace(number, switch(self.rate, anew(number)));
        }
        self.run_before(Time::NEVER);
        for switch in &self.harness.switches {
            assert_eq!(switch.violation(), None);
        }
        self.harness.world.now
    }

    /// Runs up to `until`, for switches that never come to rest; answers that time.
    pub fn run_until(&mut self, until: Time) -> Time {
        self.run_before(Time(until.as_ps() + 1));
        until
    }

    fn run_before(&mut self, limit: Time) {
        const MOST_EVENTS: u64 = 20_000_000;
        let mut events = 0;
        while self.harness.next_time().is_some_and(|at| at < limit) {
            self.harness.step();
            self.world.collect(&mut self.harness);
            events += 1;
            assert!(events < MOST_EVENTS, "the switches do not come to rest: {}", self.harness.world.now);
        }
    }

    /// How many packets exist.
    pub fn alive(&self) -> usize {
        self.harness.world.packets.alive()
    }

    /// The value of a counter, summed over both switches.
    pub fn counter(&self, _now: Time, name: &str) -> u64 {
        self.harness.counter(name).unwrap_or(0)
    }

    /// The invariants that were violated.
    pub fn violated_invariants(&self, _now: Time) -> Vec<String> {
        self.harness.violated_invariants()
    }
}

fn switch(rate: BitRate, mechanism: Box<dyn Mechanism>) -> Switch {
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let buffer = QueueConfig::normal(QueueLimit::Bytes(Bytes::from_kilobytes(200).0));
    let loopback = PortConfig::fifo(architecture.recirculation_rate, ETHERNET_OVERHEAD_BYTES, buffer);
    let front = PortConfig::fifo(rate, ETHERNET_OVERHEAD_BYTES, queue);
    let ports = vec![front.clone(), front, PortConfig { is_loopback: true, ..loopback }];
    Switch::new(architecture, ports, BufferPolicy::Static, vec![mechanism])
}
