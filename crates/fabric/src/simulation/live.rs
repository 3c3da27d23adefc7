//! A run whose outer nodes are real: driven by what comes from outside, and by the time that somebody tells it.
//!
//! It has no clock. Each event is handled with the time for which it was scheduled, in key order, however late the
//! driver is; an arrival is handled at the time of its own stamp, or right after what was handled already. So a run is
//! a function of its arrivals and commands, and whoever repeats them gets the same decisions.

use hitless_engine::{PacketHandle, Turn};
use hitless_hosts::host::NetworkCard;
use hitless_wire::{Duration, Packet, Time};

use super::recovery::every_link_may_fail;
use super::{End, Simulation};
use crate::outside::{
    Border, Departure, EVERYONE, FrameCounts, FrameInfo, NoRoom, Outside, OutsideSettings, Point, Refused, Witness,
    read,
};
use crate::results::Outcome;
use crate::scenario::{Scenario, Until};
use crate::topology::Node;

/// A frame that waits for its turn.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    point: u16,
    frame: u32,
}

/// A fabric between real nodes.
pub struct LiveFabric {
    pub(super) simulation: Simulation,
    /// By switch.
    pub(super) is_here: Vec<bool>,
    /// Everything up to here has been handled.
    pub(super) now: Time,
    waiting: Vec<Arrival>,
    /// Frames that were let in so far.
    arrivals: u64,
}

impl LiveFabric {
    /// Builds the part of `scenario` that is here, and starts it at time 0. The scenario's flows do not run.
    ///
    /// # Errors
    /// A sentence: names that mean nothing, a host that is not named.
    pub fn new(scenario: Scenario, settings: &OutsideSettings) -> Result<Self, String> {
        let (mut simulation, is_here) = Simulation::open(without_flows(scenario), settings)?;
        simulation.start::<true>();
        Ok(Self { simulation, is_here, now: Time::ZERO, waiting: Vec::new(), arrivals: 0 })
    }

    /// Lets `witness` see what goes in and what is decided, from now on.
    pub fn watch(&mut self, witness: Box<dyn Witness>) {
        self.outside().witness = Some(witness);
    }

    /// Everything up to here has been handled.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The points at which frames come and go.
    pub fn points(&self) -> &[Point] {
        &self.simulation.medium.outside().points
    }

    /// What became of frames.
    pub fn counts(&self) -> FrameCounts {
        self.simulation.medium.outside().counts
    }

    /// A frame, without check sequence, has come by a point at `at`. It is handled by the next [`Self::advance`].
    pub fn receive(&mut self, point: u16, at: Time, bytes: &[u8]) {
        let outside = self.outside();
        outside.counts.offered += 1;
        match outside.frames.insert(bytes) {
            Ok(frame) => self.waiting.push(Arrival { at, point, frame }),
            Err(NoRoom::Empty) => outside.refuse(Refused::PoolEmpty),
            Err(NoRoom::TooLong) => outside.refuse(Refused::TooLong),
        }
    }

    /// When the next event is due, if any is.
    pub fn next_event(&mut self) -> Option<Time> {
        self.simulation.medium.queue.next_time()
    }

    /// Handles everything up to `until`: what has arrived, by its time and then by its point, and what is due.
    pub fn advance(&mut self, until: Time) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|arrival| (arrival.at, arrival.point));
        for arrival in waiting.drain(..) {
            let at = arrival.at.min(until).max(self.now + Duration(1));
            self.handle_until(Time(at.as_ps() - 1));
            self.enter(at, arrival.point, arrival.frame);
        }
        self.waiting = waiting;
        self.handle_until(until);
    }

    fn handle_until(&mut self, until: Time) {
        while self.next_event().is_some_and(|at| at <= until) {
            let event = self.simulation.medium.queue.pop_turn().expect("an event is due");
            self.simulation.now = event.time;
            self.simulation.medium.trace.record(event.time.as_ps(), event.order.as_u64());
            self.simulation.events += 1;
            match event.payload {
                Turn::Source(link) => self.simulation.arrive::<true>(event.time, link.index() as u32),
                Turn::Other(event_of_node) => self.simulation.dispatch::<true>(event.time, event_of_node),
            };
        }
        self.now = self.now.max(until);
    }

    /// Lets a frame in.
    fn enter(&mut self, at: Time, point: u16, frame: u32) {
        let medium = &mut self.simulation.medium;
        let outside = medium.outside.as_deref_mut().expect("a live run has an outside");
        if let Some(witness) = &mut outside.witness {
            witness.arrival(at, point, outside.frames.bytes(frame));
        }
        let packet = match outside.admit(at, point, frame, self.arrivals + 1) {
            Ok(packet) => packet,
            Err(reason) => {
                outside.frames.release(frame);
                return outside.refuse(reason);
            }
        };
        let end = &mut outside.points[usize::from(point)];
        let card = end.card.as_mut().expect("a host has a network card");
        let Some(departs_at) = card.enqueue(at, packet.frame_bytes) else {
            outside.frames.release(frame);
            return outside.refuse(Refused::CardFull);
        };
        outside.counts.entered += 1;
        self.arrivals += 1;
        let link = end.inwards().index() as u32;
        medium.control_packets += 1;
        let handle = medium.packets.insert(packet);
        medium.put_on_link(link, handle, departs_at);
    }

    /// Hands over what has left since the last time: where, when, and its bytes, in the order of leaving.
    pub fn departures(&mut self, mut send: impl FnMut(&Departure, &[u8])) {
        let outside = self.outside();
        let mut outbox = std::mem::take(&mut outside.outbox);
        for departure in outbox.drain(..) {
            let frame = departure.packet.frame;
            if frame != 0 {
                send(&departure, outside.frames.bytes(frame));
                outside.frames.release(frame);
            }
        }
        outside.outbox = outbox;
    }

    /// Ends the run where it is and closes the books.
    pub fn finish(mut self) -> Outcome {
        self.departures(|_, _| {});
        let broken = self.broken_frame_accounts();
        let mut outcome = self.simulation.into_outcome(End::Stopped, self.now);
        outcome.violations.extend(broken);
        outcome
    }

    fn outside(&mut self) -> &mut Outside {
        self.simulation.medium.outside_mut()
    }

    /// Each frame has as many references as there are packets that name it, and the counts agree.
    fn broken_frame_accounts(&mut self) -> Vec<String> {
        self.waiting.drain(..).for_each(|arrival| {
            self.simulation.medium.outside_mut().frames.release(arrival.frame);
        });
        let medium = &mut self.simulation.medium;
        let (slots, alive) = (medium.packets.peak(), medium.packets.alive());
        let mut exists = vec![true; slots];
        // The store gives out its free slots before it grows.
        let reserved: Vec<PacketHandle> = (alive..slots).map(|_| medium.packets.reserve()).collect();
        reserved.iter().for_each(|handle| exists[handle.0 as usize] = false);
        reserved.into_iter().for_each(|handle| medium.packets.remove(handle));
        let existing = (0..slots as u32).filter(|&slot| exists[slot as usize]).map(PacketHandle);
        let named: Vec<u32> = existing.map(|handle| medium.packets[handle].frame).filter(|&frame| frame != 0).collect();
        let outside = medium.outside();
        let mut broken = Vec::new();
        let inside = outside.counts.inside();
        if inside != named.len() as u64 {
            broken.push(format!(
                "frames went astray: by the counts {inside} are in the fabric, but {} exist",
                named.len()
            ));
        }
        let mut counted = vec![0u32; outside.frames.references().count()];
        named.iter().for_each(|&frame| counted[frame as usize - 1] += 1);
        if !outside.frames.references().eq(counted) {
            broken.push("the bodies of frames are held by others than the packets that name them".into());
        }
        broken
    }
}

impl Outside {
    /// Reads a frame and finds out where it goes: the packet to be put on the link.
    fn admit(&mut self, at: Time, point: u16, frame: u32, number: u64) -> Result<Packet, Refused> {
        let read = read(self.frames.bytes(frame), self.hash_seed).ok_or(Refused::Malformed)?;
        self.bridge.learn(at, read.source, point);
        let destination = self.bridge.find(at, read.destination);
        if destination == Some(point) {
            return Err(Refused::SameSide);
        }
        self.frames.set_info(frame, FrameInfo { number, point, service: read.service, ecn: read.packet.ecn });
        let host = |point: u16| self.points[usize::from(point)].host;
        Ok(Packet { source: host(point), destination: destination.map_or(EVERYONE, host), frame, ..read.packet })
    }
}

impl Simulation {
    /// Builds the part of `scenario` that is here.
    fn open(scenario: Scenario, settings: &OutsideSettings) -> Result<(Self, Vec<bool>), String> {
        let mut simulation = Self::new(scenario)?;
        let border = Border::new(&simulation.topology, &settings.points)?;
        let mut points = border.points;
        for point in &mut points {
            if let Node::Host(host) = simulation.topology.ends(point.outwards).1.node {
                let config = super::build::network_card(&simulation.scenario.host, &simulation.topology, host.0);
                point.card = Some(NetworkCard::new(&config));
            }
        }
        let links = simulation.medium.links.len();
        let outside = Outside::new(settings, points, links, simulation.scenario.seed)?;
        simulation.medium.outside = Some(Box::new(outside));
        Ok((simulation, border.is_here))
    }
}

/// Real nodes send what they like; the clock is somebody else's.
fn without_flows(mut scenario: Scenario) -> Scenario {
    scenario.flows.clear();
    scenario.measure = Default::default();
    scenario.until = Until::Duration;
    scenario.duration = None;
    scenario.warmup = Time::ZERO;
    every_link_may_fail(&mut scenario);
    scenario
}
