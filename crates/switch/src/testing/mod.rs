//! A test harness: switches, links that lose, corrupt and delay frames as instructed, and a record of the results.
//!
//! Events happen in order of time; simultaneous events happen in order of scheduling. Packets that leave through a port
//! without a link are kept in [`World::left`], and packets that end in [`World::ended`].

mod exploring;
mod shared;

use std::collections::BTreeMap;
use std::fmt::Debug;

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Duration, OrderedSet, Packet, PortId, ServiceKey, Time};

use crate::drop_reason::DropReason;
use crate::environment::{Environment, SwitchEvent, Tables};
use crate::event::{PortState, TimerToken};
use crate::explore::Choices;
use crate::switch::Switch;

pub use shared::Shared;

/// The fate of a frame on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives intact.
    Arrives,
    /// It arrives intact, but later by this time, possibly behind other frames.
    Late(Duration),
    /// It arrives with a bad check sequence.
    Corrupted,
    /// It is lost.
    Vanishes,
    /// It arrives intact, and a second time after this time.
    Twice(Duration),
}

/// Asserts that each timer survives its conversion to a token and back.
pub fn assert_tokens<T: TimerToken + PartialEq + Debug>(timers: impl IntoIterator<Item = T>) {
    for timer in timers {
        assert_eq!(T::from_token(timer.to_token()), timer, "token {:#x}", timer.to_token());
    }
}

/// A packet that left a switch through a port without a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The switch, by its number.
    pub switch: usize,
    /// The port.
    pub port: PortId,
    /// Time of its last bit.
    pub at: Time,
    /// The packet.
    pub packet: Packet,
}

/// A packet that ended in a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The switch, by its number.
    pub switch: usize,
    /// The packet.
    pub packet: Packet,
    /// Reason.
    pub reason: DropReason,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    /// An event that a switch scheduled, and the life of the switch that it belongs to.
    Own {
        switch: usize,
        life: u32,
        event: SwitchEvent,
    },
    Arrive {
        switch: usize,
        port: PortId,
        packet: PacketHandle,
        is_whole: bool,
    },
    State {
        switch: usize,
        port: PortId,
        state: PortState,
    },
    Command {
        switch: usize,
        number: u32,
    },
}

/// Decides the fate of a frame by the time of its last bit.
type FateOf = Box<dyn FnMut(Time, &Packet) -> Fate>;

/// One direction of a link.
struct Link {
    from: (usize, PortId),
    to: (usize, PortId),
    delay: Duration,
    fate: FateOf,
    loses_set: Box<dyn FnMut(OrderedSet) -> bool>,
}

/// Returns the egress port for a packet at a switch, given by number.
type Route = Box<dyn Fn(usize, &Packet) -> Option<PortId>>;

/// Everything except the switches.
pub struct World {
    /// All existing packets.
    pub packets: PacketStore,
    /// The time of the last event.
    pub now: Time,
    /// Packets that left, in order.
    pub left: Vec<Left>,
    /// Packets that ended, in order.
    pub ended: Vec<Ended>,
    /// Number of packets that mechanisms have made.
    pub created: u64,
    /// Number of frames that links have lost or corrupted.
    pub lost: u64,
    /// Scheduled events, by time and then in the order of scheduling.
    events: BTreeMap<(Time, u64), Happening>,
    planned: u64,
    /// Events are delayed to a multiple of this time; zero disables it.
    grid: Duration,
    /// Decides the order of two simultaneous events; `None` keeps the order of scheduling.
    choices: Option<Choices>,
    links: Vec<Link>,
    /// Number of restarts, by switch.
    lives: Vec<u32>,
    route: Route,
    returns: Box<dyn Fn(usize, PortId) -> bool>,
    service: Box<dyn Fn(&Packet) -> ServiceKey>,
}

impl World {
    fn plan(&mut self, at: Time, happening: Happening) {
        assert!(at >= self.now, "nothing is planned for the past");
        self.planned += 1;
        self.events.insert((self.on_grid(at), self.planned), happening);
    }

    fn link(&mut self, from: (usize, PortId)) -> Option<&mut Link> {
        self.links.iter_mut().find(|link| link.from == from)
    }
}

/// The environment of a switch in the harness.
struct Side<'w> {
    world: &'w mut World,
    switch: usize,
}

struct SideTables<'w> {
    returns: &'w dyn Fn(usize, PortId) -> bool,
    service: &'w dyn Fn(&Packet) -> ServiceKey,
    switch: usize,
}

impl Tables for SideTables<'_> {
    fn service_key(&self, packet: &Packet) -> ServiceKey {
        (self.service)(packet)
    }

    fn returns(&self, _packet: &Packet, port: PortId) -> bool {
        (self.returns)(self.switch, port)
    }
}

impl Environment for Side<'_> {
    type Tables<'t>
        = SideTables<'t>
    where
        Self: 't;

    fn packets(&mut self) -> &mut PacketStore {
        &mut self.world.packets
    }

    fn parts(&mut self) -> (&mut PacketStore, Self::Tables<'_>) {
        let World { packets, returns, service, .. } = &mut *self.world;
        (packets, SideTables { returns, service, switch: self.switch })
    }

    fn route(&mut self, packet: PacketHandle) -> Option<PortId> {
        (self.world.route)(self.switch, &self.world.packets[packet])
    }

    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        let (switch, life) = (self.switch, self.world.lives[self.switch]);
        self.world.plan(at, Happening::Own { switch, life, event });
    }

    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        let (switch, descriptor) = (self.switch, self.world.packets[packet]);
        let Some(link) = self.world.link((switch, port)) else {
            self.world.left.push(Left { switch, port, at: last_bit_at, packet: descriptor });
            return self.world.packets.remove(packet);
        };
        let (fate, (switch, port), at) = ((link.fate)(last_bit_at, &descriptor), link.to, last_bit_at + link.delay);
        let arrive = |is_whole| Happening::Arrive { switch, port, packet, is_whole };
        self.world.lost += u64::from(matches!(fate, Fate::Corrupted | Fate::Vanishes));
        match fate {
            Fate::Arrives => self.world.plan(at, arrive(true)),
            Fate::Late(by) => self.world.plan(at + by, arrive(true)),
            Fate::Corrupted => self.world.plan(at, arrive(false)),
            Fate::Vanishes => self.world.packets.remove(packet),
            Fate::Twice(by) => {
                let again = self.world.packets.insert(descriptor);
                self.world.plan(at, arrive(true));
                self.world.plan(at + by, Happening::Arrive { switch, port, packet: again, is_whole: true });
            }
        }
    }

    fn send_ordered_set(&mut self, port: PortId, set: OrderedSet, last_bit_at: Time) {
        let Some(link) = self.world.link((self.switch, port)) else { return };
        let ((switch, port), at) = (link.to, last_bit_at + link.delay);
        if !(link.loses_set)(set) {
            let life = self.world.lives[switch];
            self.world.plan(at, Happening::Own { switch, life, event: SwitchEvent::OrderedSet { port, set } });
        }
    }

    fn created(&mut self, _packet: PacketHandle) {
        self.world.created += 1;
    }

    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        let ended = Ended { switch: self.switch, packet: self.world.packets[packet], reason };
        self.world.ended.push(ended);
        self.world.packets.remove(packet);
    }
}

/// Switches in their world.
pub struct Harness {
    /// The switches, by number.
    pub switches: Vec<Switch>,
    /// Everything except the switches.
    pub world: World,
    arrived: u32,
}

impl Harness {
    /// Creates switches without links, with the egress port for a packet at a switch; call [`Self::start`] next.
    pub fn new(switches: Vec<Switch>, route: impl Fn(usize, &Packet) -> Option<PortId> + 'static) -> Self {
        let world = World {
            packets: PacketStore::default(),
            now: Time::ZERO,
            left: Vec::new(),
            ended: Vec::new(),
            created: 0,
            lost: 0,
            events: BTreeMap::new(),
            planned: 0,
            grid: Duration::ZERO,
            choices: None,
            links: Vec::new(),
            lives: vec![0; switches.len()],
            route: Box::new(route),
            returns: Box::new(|_, _| false),
            service: Box::new(|_| ServiceKey::default()),
        };
        Self { switches, world, arrived: 0 }
    }

    /// Creates and starts one switch, with the egress port for a packet.
    pub fn of_one(switch: Switch, route: impl Fn(&Packet) -> PortId + 'static) -> Self {
        let mut harness = Self::new(vec![switch], move |_, packet| Some(route(packet)));
        harness.start();
        harness
    }

    /// Sets the results of [`Tables::returns`] and [`Tables::service_key`].
    #[must_use]
    pub fn with_tables(
        mut self,
        returns: impl Fn(usize, PortId) -> bool + 'static,
        service: impl Fn(&Packet) -> ServiceKey + 'static,
    ) -> Self {
        (self.world.returns, self.world.service) = (Box::new(returns), Box::new(service));
        self
    }

    /// Connects a port of a switch to a port of another, in one direction.
    pub fn connect(
        &mut self,
        from: (usize, PortId),
        to: (usize, PortId),
        delay: Duration,
        mut fate: impl FnMut(&Packet) -> Fate + 'static,
        loses_set: impl FnMut(OrderedSet) -> bool + 'static,
    ) {
        self.connect_in_time(from, to, delay, move |_, packet| fate(packet), loses_set);
    }

    /// Like [`Self::connect`], with a fate that can depend on the time of the last bit.
    pub fn connect_in_time(
        &mut self,
        from: (usize, PortId),
        to: (usize, PortId),
        delay: Duration,
        fate: impl FnMut(Time, &Packet) -> Fate + 'static,
        loses_set: impl FnMut(OrderedSet) -> bool + 'static,
    ) {
        let (fate, loses_set) = (Box::new(fate), Box::new(loses_set));
        self.world.links.push(Link { from, to, delay, fate, loses_set });
    }

    /// Starts all switches now.
    pub fn start(&mut self) {
        for (number, switch) in self.switches.iter_mut().enumerate() {
            switch.start(self.world.now, &mut Side { world: &mut self.world, switch: number });
        }
    }

    /// Replaces a switch by a new one, without its state and packets, now.
    pub fn replace(&mut self, number: usize, switch: Switch) {
        self.world.lives[number] += 1;
        self.switches[number] = switch;
        self.switches[number].start(self.world.now, &mut Side { world: &mut self.world, switch: number });
    }

    /// Schedules the arrival of a packet at a port.
    pub fn enter(&mut self, at: Time, switch: usize, port: PortId, packet: Packet) {
        let packet = self.world.packets.insert(packet);
        self.world.plan(at, Happening::Arrive { switch, port, packet, is_whole: true });
    }

    /// Delivers a packet to a port of the first switch, after all earlier events. [`Packet::frame`] numbers these
    /// packets in order of arrival.
    pub fn arrive(&mut self, at: Time, port: PortId, packet: Packet) {
        self.run_until(at);
        self.world.now = at;
        let packet = self.world.packets.insert(Packet { frame: self.arrived, ..packet });
        self.arrived += 1;
        self.switches[0].receive(at, port, packet, &mut Side { world: &mut self.world, switch: 0 });
    }

    /// Schedules a change of a port's state.
    pub fn tell_state(&mut self, at: Time, switch: usize, port: PortId, state: PortState) {
        self.world.plan(at, Happening::State { switch, port, state });
    }

    /// Schedules a control-plane command for the first mechanism of a switch.
    pub fn command(&mut self, at: Time, switch: usize, number: u32) {
        self.world.plan(at, Happening::Command { switch, number });
    }

    /// Runs the next event; returns its time, or `None` without an event.
    pub fn step(&mut self) -> Option<Time> {
        let first = self.world.next()?;
        let (now, happening) = (first.0, self.world.events.remove(&first)?);
        self.world.now = now;
        let Self { switches, world, .. } = self;
        match happening {
            // Events of a replaced switch are void.
            Happening::Own { switch, life, .. } if life != world.lives[switch] => {}
            Happening::Own { switch, event, .. } => switches[switch].handle(now, event, &mut Side { world, switch }),
            Happening::Arrive { switch, port, packet, is_whole: true } => {
                switches[switch].receive(now, port, packet, &mut Side { world, switch });
            }
            Happening::Arrive { switch, port, packet, is_whole: false } => {
                world.packets.remove(packet);
                switches[switch].receive_corrupted(now, port, &mut Side { world, switch });
            }
            Happening::State { switch, port, state } => {
                switches[switch].port_state(now, port, state, &mut Side { world, switch });
            }
            Happening::Command { switch, number } => {
                switches[switch].command(now, 0, number, &mut Side { world, switch });
            }
        }
        Some(now)
    }

    /// Returns the time of the next event, if there is one.
    pub fn next_time(&mut self) -> Option<Time> {
        self.world.events.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Runs all events before `limit`.
    pub fn run_until(&mut self, limit: Time) {
        while self.next_time().is_some_and(|at| at < limit) {
            self.step();
        }
    }

    /// Runs to the end and checks that no packet is left anywhere and that no rule of the hardware was violated.
    ///
    /// # Panics
    /// If a check fails.
    pub fn finish(&mut self) {
        self.run_until(Time::NEVER);
        assert_eq!(self.world.packets.alive(), 0, "packets are left over");
        for switch in &self.switches {
            assert_eq!((switch.packets_queued(), switch.buffer_bytes()), (0, 0), "a queue is not empty");
            assert_eq!(switch.violation(), None);
        }
    }

    /// Returns the numbers of the packets that left through a port of the first switch, in order.
    pub fn left_by(&self, port: PortId) -> Vec<u32> {
        let by_port = self.world.left.iter().filter(|left| left.switch == 0 && left.port == port);
        by_port.map(|left| left.packet.frame).collect()
    }

    /// Returns the numbers of the packets that ended, with the reasons.
    pub fn ended(&self) -> Vec<(u32, DropReason)> {
        self.world.ended.iter().map(|ended| (ended.packet.frame, ended.reason)).collect()
    }

    /// Returns the sum of the counter with this key over all switches and scopes, or `None` if nothing reports it.
    pub fn counter(&self, key: &str) -> Option<u64> {
        let reports = self.switches.iter().flat_map(|switch| switch.reports(self.world.now));
        let counters = reports.flat_map(|report| report.counters).filter(|(_, counter, _)| counter.key == key);
        counters.map(|(.., value)| value).reduce(|sum, value| sum + value)
    }

    /// Returns the invariants that mechanisms have violated.
    pub fn violated_invariants(&self) -> Vec<String> {
        let reports = self.switches.iter().flat_map(|switch| switch.reports(self.world.now));
        reports.flat_map(|report| report.violated_invariants).collect()
    }
}
