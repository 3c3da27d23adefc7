//! Two switches joined by a link that loses what it is told to lose, frames and control ordered sets.

use std::cell::RefCell;
use std::rc::Rc;

use hitless_switch::testing::{Harness, Left};
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Mechanism, PortConfig, PortState, QueueConfig, QueueLimit, Switch,
};
use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Duration, HostId, OrderedSet, Packet, PortId, Time, Transport, UdpHeader};

/// Host side of both switches.
pub const EDGE: PortId = PortId(0);
/// The link between them.
pub const LINK: PortId = PortId(1);

/// Propagation and PHY of the link.
pub const LINK_DELAY: Duration = Duration::from_ns(330);

pub use hitless_switch::testing::Fate;

/// What the two switches run.
pub type Ends = [Box<dyn Mechanism>; 2];

/// What came out at the edge of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub number: u64,
    pub at: Time,
    pub frame_bytes: u32,
}

/// Both of them, to be run.
pub fn boxed<M: Mechanism + 'static>(ends: [M; 2]) -> Ends {
    ends.map(|end| Box::new(end) as Box<dyn Mechanism>)
}

/// What was put on the link, by the switch that sent it.
#[derive(Clone, Copy, Default)]
struct OnLink {
    frames: [u64; 2],
    bytes: [u64; 2],
    sets: [u64; 2],
}

/// What came out of the switches.
pub struct World {
    /// By switch.
    pub delivered: [Vec<Delivery>; 2],
    pub ended: [u64; DropReason::COUNT],
    /// Frames and bytes put on the link, by the switch that sent them.
    pub frames_sent: [u64; 2],
    pub bytes_sent: [u64; 2],
    pub frames_lost: u64,
    pub sets_sent: [u64; 2],
}

impl World {
    /// Takes out of the harness what has come out of the switches, and ended.
    fn collect(&mut self, harness: &mut Harness) {
        for Left { switch, at, packet, .. } in harness.world.left.drain(..) {
            assert!(packet.shims.is_empty(), "headers of a link leaked to a host: {:?}", packet.shims);
            assert!(!packet.is_link_retransmission, "a mark of the link leaked to a host");
            let Transport::Udp(header) = packet.transport else { panic!("a control packet leaked to a host") };
            self.delivered[switch].push(Delivery { number: header.number, at, frame_bytes: packet.frame_bytes });
        }
        harness.world.ended.drain(..).for_each(|ended| self.ended[ended.reason as usize] += 1);
        self.frames_lost = harness.world.lost;
    }
}

/// The two switches and everything between them.
pub struct Pair {
    pub world: World,
    harness: Harness,
    on_link: Rc<RefCell<OnLink>>,
    rate: BitRate,
}

impl Pair {
    /// Switch 0 and 1 with their mechanisms; `fate` and `loses_set` are asked for each frame and each control ordered
    /// set, with the number of the switch that sends it.
    pub fn new(
        rate_gbps: u64,
        mechanisms: Ends,
        fate: impl FnMut(usize, &Packet) -> Fate + 'static,
        loses_set: impl FnMut(usize, OrderedSet) -> bool + 'static,
    ) -> Self {
        let rate = BitRate::from_gbps(rate_gbps);
        let world = World {
            delivered: Default::default(),
            ended: [0; DropReason::COUNT],
            frames_sent: [0; 2],
            bytes_sent: [0; 2],
            frames_lost: 0,
            sets_sent: [0; 2],
        };
        let switches = mechanisms.map(|mechanism| switch(rate, mechanism)).into();
        let is_here = |switch: usize, packet: &Packet| packet.destination == HostId(switch as u32);
        let route = move |switch, packet: &Packet| Some(if is_here(switch, packet) { EDGE } else { LINK });
        let mut harness = Harness::new(switches, route);
        let on_link = Rc::new(RefCell::new(OnLink::default()));
        let (fate, loses_set) = (Rc::new(RefCell::new(fate)), Rc::new(RefCell::new(loses_set)));
        for from in 0..2 {
            let (fate, loses_set) = (Rc::clone(&fate), Rc::clone(&loses_set));
            let (frames, sets) = (Rc::clone(&on_link), Rc::clone(&on_link));
            let fate = move |packet: &Packet| {
                frames.borrow_mut().frames[from] += 1;
                frames.borrow_mut().bytes[from] += u64::from(packet.frame_bytes);
                (fate.borrow_mut())(from, packet)
            };
            let loses_set = move |set| {
                sets.borrow_mut().sets[from] += 1;
                (loses_set.borrow_mut())(from, set)
            };
            harness.connect((from, LINK), (1 - from, LINK), LINK_DELAY, fate, loses_set);
        }
        harness.start();
        Self { world, harness, on_link, rate }
    }

    /// `count` full-size datagrams enter switch `from` back to back from `start` on, numbered from `first`; answers
    /// when the last has entered.
    pub fn inject(&mut self, from: usize, start: Time, first: u64, count: u64) -> Time {
        self.inject_sized(from, start, first, (0..count).map(|_| MTU_FRAME_BYTES))
    }

    /// The same with frames of these sizes.
    pub fn inject_sized(&mut self, from: usize, start: Time, first: u64, sizes: impl Iterator<Item = u32>) -> Time {
        let mut at = start;
        for (number, frame_bytes) in (first..).zip(sizes) {
            let header = UdpHeader { number, ..UdpHeader::default() };
            let packet = Packet {
                frame_bytes,
                destination: HostId(1 - from as u32),
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(header),
                ..Packet::default()
            };
            self.harness.enter(at, from, EDGE, packet);
            at += self.rate.time_for(u64::from(frame_bytes + ETHERNET_OVERHEAD_BYTES));
        }
        at
    }

    /// Failure detection tells a switch of the link.
    pub fn tell_state(&mut self, switch: usize, at: Time, state: PortState) {
        self.harness.tell_state(at, switch, LINK, state);
    }

    /// Runs until nothing happens any more; answers when.
    pub fn run(&mut self) -> Time {
        self.run_until(Time::NEVER)
    }

    /// Runs until then at most.
    pub fn run_until(&mut self, end: Time) -> Time {
        const MOST_EVENTS: u64 = 100_000_000;
        let mut events = 0;
        while self.harness.next_time().is_some_and(|at| at <= end) {
            self.harness.step();
            self.world.collect(&mut self.harness);
            events += 1;
            assert!(events < MOST_EVENTS, "the switches do not come to rest: {}", self.harness.world.now);
        }
        let OnLink { frames, bytes, sets } = *self.on_link.borrow();
        (self.world.frames_sent, self.world.bytes_sent, self.world.sets_sent) = (frames, bytes, sets);
        for switch in &self.harness.switches {
            assert_eq!(switch.violation(), None);
        }
        self.harness.world.now
    }

    /// How many packets exist.
    pub fn alive(&self) -> usize {
        self.harness.world.packets.alive()
    }

    /// The numbers that came out at the edge of a switch.
    pub fn numbers(&self, switch: usize) -> Vec<u64> {
        self.world.delivered[switch].iter().map(|delivery| delivery.number).collect()
    }

    /// The value of a counter, summed over both switches.
    pub fn counter(&self, _now: Time, name: &str) -> u64 {
        self.harness.counter(name).unwrap_or_else(|| panic!("there is no counter {name:?}"))
    }

    /// The invariants that were violated.
    pub fn violated_invariants(&self, _now: Time) -> Vec<String> {
        self.harness.violated_invariants()
    }
}

fn switch(rate: BitRate, mechanism: Box<dyn Mechanism>) -> Switch {
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
