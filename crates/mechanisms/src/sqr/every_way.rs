//! Explores how a few packets can leave a switch with SQR while links fail. Packets enter and links fail at any step of
//! time; repairs happen at any step that recovery allows. Tags and the clock wrap in the middle.
//!
//! Invariants for masked outages (section III-C: each copy is kept until a failure that lost its original is detected):
//! all packets reach the receiver, in order on their first arrival (unless they need no order), and nothing is kept in
//! the end.

use crate::sqr::metadata::CacheMetadata;
use hitless_core::wire::{Duration, Packet, PortId, Time};
use hitless_switch::PortState;
use hitless_switch::canary::Canary;
use hitless_switch::explore::{Choices, Digest, Explored, State, Visit, explore};
use hitless_switch::testing::{Harness, Shared};

use super::{Sqr, SqrCaching, SqrConfig, SqrRelease, SqrSettings};
use crate::small_world::{STEP, found, number_of, packet, steps, switch};

/// The input port, whose caching queue is the ring.
const SOURCE: PortId = PortId(0);
const PRIMARY: PortId = PortId(1);
const BACKUP: PortId = PortId(2);
const PORTS: u16 = 3;

const DETECTION: u64 = 3;
const REPAIR_MAX: u64 = 2;
/// Steps from the last bit at a MAC to the receiver, by port, without the rest of the departure step.
const WAYS: [u64; 3] = [1, 1, 2];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    SamePort,
    /// The other port takes over at detection, until the link is back.
    Reroute,
}

impl State for Sqr {
    fn tell(&self, digest: &mut Digest<'_>) {
        assert_eq!(self.config.caching_ports.len(), 1, "the load of a ring of several ports is not told");
        let age = digest.now().saturating_since(START);
        assert!(age < Duration::from_ns(u64::from(self.order.stall_timeout_ns())), "a world that lasts too long");
        self.ways.tell(digest);
        self.config.protected.iter().for_each(|port| self.order.tell(usize::from(port.0), digest));
        let now_ns = (digest.now().as_ps() / 1_000) as u32;
        self.config.protected.iter().for_each(|&port| self.any_order.tell(port, now_ns, digest));
        digest.value(self.is_paused_by_backstop);
    }
}

/// Slightly before the clock of 32 bits wraps.
const START: Time = Time(((1 << 32) / 100 - 8) * STEP.as_ps());

/// Replaces the start of a copy by its age, since only the age matters.
fn since_now(mut packet: Packet, now: Time) -> Packet {
    if let Some(cached) = packet.shims.get::<CacheMetadata>() {
        let started_ns = cached.started_ns.wrapping_sub((now.as_ps() / 1_000) as u32);
        packet.shims.replace(CacheMetadata { started_ns, ..cached });
    }
    packet
}

#[derive(Clone, Debug)]
struct Case {
    packets: u64,
    failures: usize,
    recovery: Recovery,
    caching: SqrCaching,
    release: SqrRelease,
    needs_order: bool,
}

#[derive(Clone, Debug, Default, Hash)]
struct Link {
    is_down: bool,
    /// Whether the switch knows that the link works.
    is_known_whole: bool,
}

struct World<'c> {
    case: &'c Case,
    choices: &'c Choices,
    harness: Harness,
    sqr: Shared<Sqr>,
    links: [Link; 3],
    /// When links work again, and when the switch knows it.
    repairs: Vec<(Time, Time, PortId)>,
    /// Packets in flight: the arrival time, the link and the number.
    in_flight: Vec<(Time, PortId, u64)>,
    entered: u64,
    failed: usize,
    /// The packets that the receiver has seen, one bit each.
    seen: u64,
}

impl<'c> World<'c> {
    fn new(case: &'c Case, choices: &'c Choices) -> Self {
        let steady = steps(DETECTION + WAYS[2] + 2);
        let config = SqrConfig {
            protected: vec![PRIMARY, BACKUP],
            line_ports: PORTS,
            caching_ports: vec![SOURCE],
            ring_shares: Vec::new(),
            settings: SqrSettings {
                steady_delay: Some(steady),
                failure_delay: Some(steady + steps(REPAIR_MAX)),
                caching: case.caching,
                release: case.release,
                return_hold: Some(steps(4)),
                any_order: (!case.needs_order).then(|| vec![0]),
                ..SqrSettings::default()
            },
        };
        let sqr = Shared::new(Sqr::with_first_tag(config, u32::MAX - 1));
        let mut harness =
            Harness::new(vec![switch(false, Box::new(sqr.clone()))], |_, _| Some(PRIMARY)).in_steps(STEP, choices);
        harness.world.now = START;
        harness.start();
        let links = [(); 3].map(|()| Link { is_down: false, is_known_whole: true });
        let (repairs, in_flight) = (Vec::new(), Vec::new());
        Self { case, choices, harness, sqr, links, repairs, in_flight, entered: 0, failed: 0, seen: 0 }
    }

    fn run(mut self) -> Result<(), String> {
        let mut now = START;
        loop {
            self.collect(now)?;
            let is_at_rest = self.harness.next_time().is_none() && self.in_flight.is_empty() && self.repairs.is_empty();
            if is_at_rest && self.entered == self.case.packets {
                return self.judge_end();
            }
            match self.choices.visit(|| self.digest(now)) {
                Visit::First => {}
                Visit::Known => return Ok(()),
                // A state may repeat while the next packet has not entered.
                Visit::Again if self.entered < self.case.packets => return Ok(()),
                Visit::Again => return Err("it goes round for ever".into()),
            }
            self.act(now, is_at_rest);
            self.choices.tell(|| format!("at step {}", (now - START).as_ps() / STEP.as_ps()));
            self.harness.run_until(now + STEP);
            now += STEP;
        }
    }

    fn collect(&mut self, now: Time) -> Result<(), String> {
        self.repairs.retain(|&(whole_at, known_at, port)| {
            let link = &mut self.links[usize::from(port.0)];
            link.is_down &= now < whole_at;
            link.is_known_whole |= now >= known_at;
            now < known_at
        });
        for left in self.harness.world.left.drain(..) {
            let number = number_of(&left.packet).filter(|_| left.packet.shims.is_empty());
            let number = number.ok_or("metadata leaked to a link")?;
            let is_lost = self.links[usize::from(left.port.0)].is_down;
            self.choices
                .tell(|| format!("packet {number} leaves by {:?}{}", left.port, if is_lost { ": lost" } else { "" }));
            if !is_lost {
                let arrives_at = left.at + steps(WAYS[usize::from(left.port.0)]);
                self.in_flight.push((arrives_at, left.port, number));
            }
        }
        self.in_flight.sort_by_key(|&(at, ..)| at);
        let arrived = self.in_flight.partition_point(|&(at, ..)| at <= now);
        for (_, _, number) in self.in_flight.drain(..arrived) {
            self.choices.tell(|| format!("packet {number} arrives"));
            let next = u64::from(self.seen.trailing_ones());
            if self.case.needs_order && number > next {
                return Err(format!("packet {number} arrives before packet {next}"));
            }
            self.seen |= 1 << number;
        }
        let broken = self.harness.switches[0].violation();
        broken.map_or(Ok(()), |broken| Err(broken.to_string()))
    }

    /// Lets a packet enter or a link fail, or does nothing.
    fn act(&mut self, now: Time, is_at_rest: bool) {
        #[derive(Clone, Copy)]
        enum Now {
            Nothing,
            Packet,
            Failure(PortId),
        }
        let mut may = Vec::new();
        if !is_at_rest {
            may.push(Now::Nothing);
        }
        if self.entered < self.case.packets {
            may.push(Now::Packet);
        }
        let can_fail = |port: &PortId| self.links[usize::from(port.0)].is_known_whole;
        let ports: &[PortId] = if self.case.recovery == Recovery::Reroute { &[PRIMARY, BACKUP] } else { &[PRIMARY] };
        if self.failed < self.case.failures {
            may.extend(ports.iter().copied().filter(can_fail).map(Now::Failure));
        }
        match may[self.choices.any(may.len())] {
            Now::Nothing => {}
            Now::Packet => {
                self.choices.tell(|| format!("packet {} enters", self.entered));
                self.harness.enter(now, 0, SOURCE, packet(self.entered));
                self.entered += 1;
            }
            Now::Failure(port) => self.fail(now, port),
        }
    }

    fn fail(&mut self, now: Time, port: PortId) {
        self.failed += 1;
        self.links[usize::from(port.0)] = Link { is_down: true, is_known_whole: false };
        self.in_flight.retain(|&(_, over, _)| over != port);
        let detected_at = now + steps(DETECTION);
        self.harness.tell_state(detected_at, 0, port, PortState::Down);
        let repair = steps(1 + self.choices.any(REPAIR_MAX as usize) as u64);
        let (whole_at, known_at) = match self.case.recovery {
            Recovery::SamePort => (detected_at + repair, detected_at + repair),
            Recovery::Reroute => {
                let backup = if port == PRIMARY { BACKUP } else { PRIMARY };
                self.harness.tell_state(detected_at, 0, port, PortState::Rerouted { backup });
                (detected_at + repair, detected_at + repair + steps(DETECTION))
            }
        };
        self.choices.tell(|| format!("the link of {port:?} fails, and is whole again {repair} after detection"));
        self.harness.tell_state(known_at, 0, port, PortState::Up);
        self.repairs.push((whole_at, known_at, port));
    }

    fn judge_end(&self) -> Result<(), String> {
        let next = u64::from(self.seen.trailing_ones());
        if next != self.case.packets {
            return Err(format!("packet {next} does not arrive"));
        }
        let kept = self.harness.world.packets.alive();
        if kept > 0 { Err(format!("{kept} packets are kept for ever")) } else { Ok(()) }
    }

    fn digest(&self, now: Time) -> u64 {
        self.harness.digest(now, since_now, |digest| {
            self.sqr.tell(digest);
            digest.value((&self.links, self.entered, self.failed, self.seen));
            for &(whole_at, known_at, port) in &self.repairs {
                digest.deadline(whole_at);
                digest.time(known_at);
                digest.value(port);
            }
            for &(at, port, number) in &self.in_flight {
                digest.time(at);
                digest.value((port, number));
            }
        })
    }
}

impl Case {
    const fn new(recovery: Recovery, caching: SqrCaching, packets: u64, failures: usize) -> Self {
        Self { packets, failures, recovery, caching, release: SqrRelease::AfterDelay, needs_order: true }
    }

    const fn when_rerouted(mut self) -> Self {
        self.release = SqrRelease::WhenRerouted;
        self
    }

    const fn in_any_order(mut self) -> Self {
        self.needs_order = false;
        self
    }

    fn explored(&self) -> Explored {
        explore(0, |choices| World::new(self, choices).run())
    }

    /// Explores the case and prints a line of the table.
    fn tried(&self, name: &str) {
        let found = self.explored();
        let (Self { packets, failures, .. }, Explored { states, ways, depth, .. }) = (self, &found);
        println!("| SQR | {name} | {packets} | 0 | {failures} | {states} | {ways} | {depth} |");
        assert!(*states > 50, "{found:?}");
    }
}

use Recovery::{Reroute, SamePort};
use SqrCaching::{DelayQueue, Ring};

#[test]
fn in_every_way_a_link_that_comes_back_loses_nothing() {
    Case::new(SamePort, Ring, 4, 1).tried("ring, same port");
    Case::new(SamePort, Ring, 3, 2).tried("ring, same port");
    Case::new(SamePort, DelayQueue, 3, 1).tried("delay queue, same port");
    Case::new(SamePort, Ring, 3, 1).when_rerouted().tried("ring, same port, sent when rerouted");
}

#[test]
fn in_every_way_packets_on_the_other_port_keep_their_order() {
    Case::new(Reroute, Ring, 3, 1).tried("ring, other port");
    Case::new(Reroute, DelayQueue, 3, 1).tried("delay queue, other port");
    Case::new(Reroute, Ring, 3, 1).when_rerouted().tried("ring, other port, sent when rerouted");
}

#[test]
fn in_every_way_packets_that_need_no_order_arrive() {
    Case::new(SamePort, Ring, 3, 1).in_any_order().tried("ring, same port, any order");
    Case::new(Reroute, Ring, 3, 1).in_any_order().tried("ring, other port, any order");
    Case::new(Reroute, DelayQueue, 3, 1).in_any_order().tried("delay queue, other port, any order");
}

#[test]
#[ignore = "for the nightly run: minutes"]
fn in_every_way_of_larger_worlds_nothing_is_lost() {
    Case::new(SamePort, Ring, 6, 1).tried("ring, same port");
    Case::new(SamePort, Ring, 4, 2).tried("ring, same port");
    Case::new(Reroute, Ring, 6, 1).tried("ring, other port");
    Case::new(Reroute, Ring, 3, 2).tried("ring, other port");
    Case::new(Reroute, DelayQueue, 4, 1).tried("delay queue, other port");
    Case::new(SamePort, Ring, 3, 2).in_any_order().tried("ring, same port, any order");
    Case::new(Reroute, Ring, 3, 2).in_any_order().tried("ring, other port, any order");
}

#[test]
fn a_copy_that_is_forgotten_early_is_found_missing() {
    for case in [Case::new(SamePort, Ring, 2, 1), Case::new(SamePort, Ring, 2, 1).in_any_order()] {
        let told = found(Canary::EarlyForget, || case.explored());
        assert!(told.as_ref().is_none_or(|told| told.contains("arrive")), "{told:?}");
    }
}
