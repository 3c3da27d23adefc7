//! Two linked switches, small enough to explore all their behaviours. Packets enter and commands arrive at any step of
//! time, and the test decides the fate of each frame.
//!
//! Time advances in steps. A frame takes a step each to leave a port, to cross the link and to pass ingress; a timer
//! expires at a step. Events of the same step at the same switch follow their causes, except timers, which are tried
//! both before and after arrivals.

use std::cell::RefCell;
use std::hash::Hash;
use std::panic::{UnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::link_layer_retry::header::PreambleSequence;
use crate::linkguardian::headers::{AckHeader, ControlHeader, DataHeader, LossNotification};
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MINIMUM_FRAME_BYTES};
use hitless_core::wire::{BitRate, Duration, HostId, OrderedSet, Packet, PortId, Time, Transport, UdpHeader};
use hitless_scenario::kind::{Kind, Registry};
use hitless_scenario::network::topology::Topology;
use hitless_scenario::{Scenario, check};
use hitless_switch::canary::{ARE_COMPILED_IN, Canary, sow};
use hitless_switch::explore::{Choices, Digest, Explored, State, Visit};
use hitless_switch::testing::{Fate, Harness, Shared};
use hitless_switch::{Architecture, BufferPolicy, Mechanism, PortConfig, PortState, QueueConfig, QueueLimit, Switch};

/// The host side of both switches.
pub const EDGE: PortId = PortId(0);
pub const LINK: PortId = PortId(1);
pub const RECIRCULATION: PortId = PortId(2);
pub const STEP: Duration = Duration::from_ns(100);

pub const fn steps(count: u64) -> Duration {
    Duration::from_ns(100 * count)
}

#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Number of packets from switch 0 to switch 1.
    pub packets: u64,
    /// Number of packets in the other direction.
    pub returning: u64,
    /// Stimuli other than packets, in order, with the switch that receives each.
    pub acts: Vec<(usize, Act)>,
}

#[derive(Clone, Copy, Debug)]
pub enum Act {
    Command(u32),
    State(PortState),
}

impl Scene {
    /// Prints a line of the table in docs/evidence/reliability.md.
    pub fn print(&self, mechanism: &str, name: &str, faults: usize, found: &Explored) {
        let Self { packets, returning, acts } = self;
        let Explored { states, ways, depth, .. } = found;
        let (packets, acts) = (packets + returning, acts.len());
        println!("| {mechanism} | {name} | {packets} | {acts} | {faults} | {states} | {ways} | {depth} |");
    }
}

/// The switches, the remaining stimuli, and the delivered packets.
pub struct SmallWorld<M, L> {
    pub ends: [Shared<M>; 2],
    /// The test's notes about frames, which are part of the state.
    pub ledger: Rc<RefCell<L>>,
    /// Packets that left through the edge of switch 1, and of switch 0.
    pub delivered: [Vec<u64>; 2],
    pub harness: Harness,
    scene: Scene,
    choices: Choices,
    entered: [u64; 2],
    acts_done: usize,
    remembers: bool,
}

/// The number of a host's packet; `None` for a frame made by a mechanism.
pub fn number_of(packet: &Packet) -> Option<u64> {
    match packet.transport {
        Transport::Udp(header) => Some(header.number),
        _ => None,
    }
}

/// A switch with ingress and mirror latencies of a step. The last of its three ports may be a loopback.
pub fn switch(has_loopback: bool, mechanism: Box<dyn Mechanism>) -> Switch {
    let architecture =
        Architecture { checked: true, ingress_latency: STEP, mirror_latency: STEP, ..Architecture::ideal() };
    let queue = QueueConfig::normal(QueueLimit::Unlimited);
    let front = PortConfig::fifo(BitRate::from_gbps(100), ETHERNET_OVERHEAD_BYTES, queue);
    let last = PortConfig { is_loopback: has_loopback, ..front.clone() };
    Switch::new(architecture, vec![front.clone(), front, last], BufferPolicy::Static, vec![mechanism])
}

impl<M: Mechanism + State + 'static, L: Hash + Default + 'static> SmallWorld<M, L> {
    /// Builds the switches with their mechanisms. `fate` and `loses_set` decide and record the fate of a switch's
    /// frames and control ordered sets.
    pub fn new(
        choices: &Choices,
        scene: Scene,
        ends: [M; 2],
        fate: fn(usize, &Packet, &Choices, &mut L) -> Fate,
        loses_set: fn(usize, OrderedSet, &Choices, &mut L) -> bool,
    ) -> Self {
        let ends = ends.map(Shared::new);
        let switches = ends.iter().map(|end| switch(true, Box::new(end.clone()))).collect();
        let is_here = |switch: usize, packet: &Packet| packet.destination == HostId(switch as u32);
        let route = move |switch, packet: &Packet| Some(if is_here(switch, packet) { EDGE } else { LINK });
        let mut harness = Harness::new(switches, route).in_steps(STEP, choices);
        let ledger = Rc::new(RefCell::new(L::default()));
        for from in 0..2 {
            let (asked, written) = (choices.clone(), Rc::clone(&ledger));
            let fate = move |packet: &Packet| {
                let fate = fate(from, packet, &asked, &mut written.borrow_mut());
                asked.tell(|| format!("switch {from} sends {}: {fate:?}", name_of(packet)));
                fate
            };
            let (asked, written) = (choices.clone(), Rc::clone(&ledger));
            let loses_set = move |set| {
                let is_lost = loses_set(from, set, &asked, &mut written.borrow_mut());
                let control = crate::link_layer_retry::header::Control::read(set);
                asked.tell(|| format!("switch {from} sends {control:?}: {}", if is_lost { "Lost" } else { "Arrives" }));
                is_lost
            };
            // With its serialization a frame takes one step.
            harness.connect((from, LINK), (1 - from, LINK), STEP / 2, fate, loses_set);
        }
        harness.start();
        let delivered = [Vec::new(), Vec::new()];
        let (choices, entered) = (choices.clone(), [0; 2]);
        Self { ends, ledger, delivered, harness, scene, choices, entered, acts_done: 0, remembers: true }
    }

    /// The same world without a memory of states: each path is followed to its end, so that it must have one.
    pub fn forgetful(self) -> Self {
        Self { remembers: false, ..self }
    }

    /// Runs until no event is left. Calls `judge` after each step, with the present time and whether it was the last
    /// step. A path that repeats a state for ever has ended too.
    pub fn run(mut self, mut judge: impl FnMut(&Self, Time, bool) -> Result<(), String>) -> Result<(), String> {
        let mut now = Time::ZERO;
        loop {
            self.collect()?;
            let next = self.harness.next_time();
            let is_over = next.is_none() && !self.has_more();
            judge(&self, now, is_over)?;
            if is_over {
                return Ok(());
            }
            let visit = if self.remembers { self.choices.visit(|| self.digest(now)) } else { Visit::First };
            match visit {
                Visit::First => {}
                // A loop without further stimuli is the final state.
                Visit::Again if !self.has_more() => return judge(&self, now, true),
                Visit::Known | Visit::Again => return Ok(()),
            }
            if self.has_more() {
                self.let_in(now, next.is_none());
            } else {
                now = now.max(next.unwrap_or(now));
            }
            let after = now + STEP;
            self.choices.tell(|| format!("at step {}", now.as_ps() / STEP.as_ps()));
            self.harness.run_until(after);
            now = after;
        }
    }

    fn has_more(&self) -> bool {
        let Scene { packets, returning, ref acts } = self.scene;
        self.entered != [packets, returning] || self.acts_done < acts.len()
    }

    /// Lets a packet or a command in, or nothing; an idle world must let something in.
    fn let_in(&mut self, now: Time, is_idle: bool) {
        let mut may: Vec<Option<usize>> = Vec::new();
        if !is_idle {
            may.push(None);
        }
        let packets = [self.scene.packets, self.scene.returning];
        may.extend((0..2).filter(|&from| self.entered[from] < packets[from]).map(Some));
        if self.acts_done < self.scene.acts.len() {
            may.push(Some(2));
        }
        match may[self.choices.any(may.len())] {
            None => {}
            Some(2) => {
                let (switch, act) = self.scene.acts[self.acts_done];
                self.acts_done += 1;
                self.choices.tell(|| format!("switch {switch} is told {act:x?}"));
                match act {
                    Act::Command(number) => self.harness.command(now, switch, number),
                    Act::State(state) => self.harness.tell_state(now, switch, LINK, state),
                }
            }
            Some(from) => {
                let number = self.entered[from];
                self.entered[from] += 1;
                self.choices.tell(|| format!("packet {number} enters switch {from}"));
                let packet = Packet { destination: HostId(1 - from as u32), ..packet(number) };
                self.harness.enter(now, from, EDGE, packet);
            }
        }
    }

    fn collect(&mut self) -> Result<(), String> {
        for left in self.harness.world.left.drain(..) {
            let number = number_of(&left.packet).filter(|_| left.packet.shims.is_empty());
            let Some(number) = number else { return Err(format!("{} leaked to a host", name_of(&left.packet))) };
            self.choices.tell(|| format!("packet {number} leaves switch {}", left.switch));
            self.delivered[1 - left.switch].push(number);
        }
        let broken = self.harness.switches.iter().find_map(Switch::violation);
        broken.map_or(Ok(()), |broken| Err(broken.to_string()))
    }

    fn digest(&self, now: Time) -> u64 {
        self.harness.digest(
            now,
            |packet, _| packet,
            |digest: &mut Digest<'_>| {
                self.ends.iter().for_each(|end| end.tell(digest));
                digest.value((&*self.ledger.borrow(), &self.delivered, self.entered, self.acts_done));
            },
        )
    }
}

pub fn packet(number: u64) -> Packet {
    Packet {
        frame_bytes: MINIMUM_FRAME_BYTES,
        ttl: Packet::INITIAL_TTL,
        transport: Transport::Udp(UdpHeader { number, ..UdpHeader::default() }),
        ..Packet::default()
    }
}

/// The message of the failure that a planted bug leads to; `None` if bugs are not compiled in.
pub fn found(bug: Canary, explored: impl FnOnce() -> Explored + UnwindSafe) -> Option<String> {
    ARE_COMPILED_IN.then(|| {
        sow(Some(bug));
        let outcome = catch_unwind(explored);
        sow(None);
        outcome.expect_err("the bug is not found").downcast_ref::<String>().cloned().unwrap_or_default()
    })
}

/// Describes a frame for readers of a trace.
fn name_of(packet: &Packet) -> String {
    let shims = &packet.shims;
    let headers = [
        number_of(packet).map(|number| format!("packet {number}")),
        shims.get::<DataHeader>().map(|header| format!("{header:?}")),
        shims.get::<PreambleSequence>().map(|PreambleSequence(number)| format!("numbered {number:?}")),
        shims.get::<AckHeader>().map(|header| format!("{header:?}")),
        shims.get::<LossNotification>().map(|header| format!("{header:?}")),
        shims.get::<ControlHeader>().map(|header| format!("{header:?}")),
        shims.get::<PauseFrame>().map(|header| format!("{header:?}")),
    ];
    headers.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// sw3 has the ports h, sw4 and sw5; sw4 and sw5 are linked too.
const TRIANGLE: &str = include_str!("../tests/scenario/triangle.toml");

pub(crate) fn triangle_with<K: Kind>(entries: &str) -> (Scenario, Topology) {
    let text = format!("{TRIANGLE}{entries}");
    let scenario = check(&text, "triangle", &Registry::new().with::<K>()).unwrap_or_else(|error| panic!("{error}"));
    let topology = scenario.build_topology().expect("the triangle is sound");
    (scenario, topology)
}
