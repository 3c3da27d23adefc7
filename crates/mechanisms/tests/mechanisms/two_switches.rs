//! Two switches joined by a link with chosen losses of frames and control ordered sets.

use std::cell::RefCell;
use std::rc::Rc;

use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration, HostId, OrderedSet, Packet, PortId, Time, Transport, UdpHeader};
use hitless_mechanisms::linkguardian::Command;
use hitless_switch::testing::{Harness, Left};
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Mechanism, PortConfig, PortState, QueueConfig, QueueLimit, Switch,
};

/// The host side of both switches.
const EDGE: PortId = PortId(0);
pub const LINK: PortId = PortId(1);
pub const RECIRCULATION: PortId = PortId(2);

pub use hitless_switch::testing::Fate;

pub type Ends = [Box<dyn Mechanism>; 2];

pub fn boxed<M: Mechanism + 'static>(ends: [M; 2]) -> Ends {
    ends.map(|end| Box::new(end) as Box<dyn Mechanism>)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub number: u64,
    pub at: Time,
    pub frame_bytes: u32,
}

/// Frames, bytes and sets on the link, by sending switch.
#[derive(Clone, Copy, Default)]
pub struct OnLink {
    pub frames: [u64; 2],
    pub bytes: [u64; 2],
    pub sets: [u64; 2],
}

pub struct World {
    pub delivered: [Vec<Delivery>; 2],
    pub ended: [u64; DropReason::COUNT],
    pub frames_lost: u64,
    /// The time when each datagram entered switch 0.
    injected_at: Vec<Time>,
}

impl World {
    /// Takes delivered and dropped packets from the harness.
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

pub struct Pair {
    pub world: World,
    harness: Harness,
    on_link: Rc<RefCell<OnLink>>,
    rate: BitRate,
    /// Restarts of switches, in order, with the mechanisms they run afterwards.
    restarts: Vec<(Time, usize, Box<dyn Mechanism>)>,
}

impl Pair {
    /// Switches 0 and 1 with their mechanisms; `delay` is propagation and PHY delay of the link. `fate` and `loses_set`
    /// decide each frame and each control ordered set, given the number of the sending switch.
    pub fn new(
        rate_gbps: u64,
        delay: Duration,
        mechanisms: Ends,
        fate: impl FnMut(usize, &Packet) -> Fate + 'static,
        loses_set: impl FnMut(usize, OrderedSet) -> bool + 'static,
    ) -> Self {
        let rate = BitRate::from_gbps(rate_gbps);
        let (delivered, ended) = (Default::default(), [0; DropReason::COUNT]);
        let world = World { delivered, ended, frames_lost: 0, injected_at: Vec::new() };
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
            harness.connect((from, LINK), (1 - from, LINK), delay, fate, loses_set);
        }
        harness.start();
        Self { world, harness, on_link, rate, restarts: Vec::new() }
    }

    /// Injects `count` full-size datagrams at switch `from` back to back from `start`, numbered from `first`; returns
    /// the time when the last has entered.
    pub fn inject(&mut self, from: usize, start: Time, first: u64, count: u64) -> Time {
        self.inject_class(from, start, first, count, |_| 0)
    }

    /// Like [`Self::inject`], with a traffic class for each number.
    pub fn inject_class(
        &mut self,
        from: usize,
        start: Time,
        first: u64,
        count: u64,
        class: impl Fn(u64) -> u8,
    ) -> Time {
        self.inject_each(from, start, first, (first..first + count).map(|number| (MTU_FRAME_BYTES, class(number))))
    }

    pub fn inject_sized(&mut self, from: usize, start: Time, first: u64, sizes: impl Iterator<Item = u32>) -> Time {
        self.inject_each(from, start, first, sizes.map(|frame_bytes| (frame_bytes, 0)))
    }

    fn inject_each(&mut self, from: usize, start: Time, first: u64, frames: impl Iterator<Item = (u32, u8)>) -> Time {
        let mut at = start;
        for (number, (frame_bytes, class)) in (first..).zip(frames) {
            let packet = Packet {
                frame_bytes,
                destination: HostId(1 - from as u32),
                class,
                ttl: Packet::INITIAL_TTL,
                transport: Transport::Udp(UdpHeader { number, ..UdpHeader::default() }),
                ..Packet::default()
            };
            if from == 0 {
                let (injected_at, place) = (&mut self.world.injected_at, number as usize);
                injected_at.resize(injected_at.len().max(place + 1), Time::NEVER);
                injected_at[place] = at;
            }
            self.harness.enter(at, from, EDGE, packet);
            at += self.rate.time_for(u64::from(frame_bytes + ETHERNET_OVERHEAD_BYTES));
        }
        at
    }

    /// The time when the datagram entered switch 0.
    pub fn injected_at(&self, number: u64) -> Option<Time> {
        self.world.injected_at.get(number as usize).copied().filter(|&at| at != Time::NEVER)
    }

    /// Lets a forged frame reach `switch` from the link at `at`.
    pub fn forge(&mut self, switch: usize, at: Time, packet: Packet) {
        self.harness.enter(at, switch, LINK, packet);
    }

    /// Sends a command of the control plane to an end of the link at `at`.
    pub fn command(&mut self, switch: usize, at: Time, command: Command) {
        self.harness.command(at, switch, command.number());
    }

    pub fn tell_state(&mut self, switch: usize, at: Time, state: PortState) {
        self.harness.tell_state(at, switch, LINK, state);
    }

    /// Restarts a switch at `at`: it loses its state and its packets, and then runs its part of `ends`.
    pub fn restart(&mut self, number: usize, at: Time, ends: Ends) {
        let mechanism = ends.into_iter().nth(number).expect("there are two switches");
        self.restarts.push((at, number, mechanism));
    }

    /// Injects `count` datagrams at switch 0 from the beginning, and runs to the end.
    pub fn send(&mut self, count: u64) -> Time {
        self.inject(0, Time::ZERO, 0, count);
        self.run()
    }

    /// Runs until no event is left; returns the time.
    pub fn run(&mut self) -> Time {
        let is_restarted = !self.restarts.is_empty();
        for (at, number, mechanism) in std::mem::take(&mut self.restarts) {
            self.run_before(at);
            self.harness.world.now = at;
            self.harness.replace(number, switch(self.rate, mechanism));
        }
        self.run_before(Time::NEVER);
        for switch in &self.harness.switches {
            assert_eq!(switch.violation(), None);
        }
        // An end that is started anew does not know what the link has delivered before.
        assert!(is_restarted || self.violated_invariants().is_empty(), "{:?}", self.violated_invariants());
        self.harness.world.now
    }

    /// Runs until `until`, for switches that never come to rest; returns that time.
    pub fn run_until(&mut self, until: Time) -> Time {
        self.run_before(Time(until.as_ps() + 1));
        until
    }

    fn run_before(&mut self, limit: Time) {
        const MOST_EVENTS: u64 = 100_000_000;
        let mut events = 0;
        while self.harness.next_time().is_some_and(|at| at < limit) {
            self.harness.step();
            self.world.collect(&mut self.harness);
            events += 1;
            assert!(events < MOST_EVENTS, "the switches do not come to rest: {}", self.harness.world.now);
        }
    }

    pub fn on_link(&self) -> OnLink {
        *self.on_link.borrow()
    }

    pub fn alive(&self) -> usize {
        self.harness.world.packets.alive()
    }

    pub fn numbers(&self, switch: usize) -> Vec<u64> {
        self.world.delivered[switch].iter().map(|delivery| delivery.number).collect()
    }

    /// The value of a counter, summed over both switches.
    pub fn counter(&self, name: &str) -> u64 {
        self.harness.counter(name).unwrap_or_else(|| panic!("there is no counter {name:?}"))
    }

    pub fn violated_invariants(&self) -> Vec<String> {
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

/// Sorts the numbers, for tests without an expected order.
pub fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

/// The numbers of all sent packets, if nothing is missing.
pub fn in_order(count: u64) -> Vec<u64> {
    (0..count).collect()
}

/// A generator of loss decisions, so that a failing case replays from its seed: true with a probability of `per_mille`
/// in a thousand.
pub fn chances(seed: u64) -> impl FnMut(u64) -> bool {
    let mut state = seed | 1;
    move |per_mille| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 1_000 < per_mille
    }
}
