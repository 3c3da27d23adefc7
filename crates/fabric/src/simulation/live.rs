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
    Border, Departure, EVERYONE, FrameCounts, FrameInfo, NoRoom, Outside, OutsideSettings, Point, RealEnd, Refused,
    Witness, control_packet, read, read_link, with_mark, with_shims, write_to_host, write_to_switch,
};
use crate::results::Outcome;
use crate::scenario::{MechanismSettings, Scenario, Until};
use crate::topology::{Node, SwitchId, Topology};

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
    /// Room to write frames that leave changed.
    scratch: [Vec<u8>; 2],
}

impl LiveFabric {
    /// Builds the part of `scenario` that is here, and starts it at time 0. The scenario's flows do not run.
    ///
    /// # Errors
    /// A sentence: names that mean nothing, a host that is not named.
    pub fn new(scenario: Scenario, settings: &OutsideSettings) -> Result<Self, String> {
        let (mut simulation, is_here) = Simulation::open(without_flows(scenario), settings)?;
        simulation.start::<true>();
        Ok(Self { simulation, is_here, now: Time::ZERO, waiting: Vec::new(), arrivals: 0, scratch: Default::default() })
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

    /// A frame has come at `at` and is handled at once, all before it as well: how a recording is played.
    ///
    /// # Errors
    /// A sentence: that time has been handled already, there is no such point, or no room for the frame.
    pub fn receive_at(&mut self, at: Time, point: u16, bytes: &[u8]) -> Result<(), String> {
        if at <= self.now {
            return Err(format!(
                "a frame came at {} ps, when all up to {} ps was handled",
                at.as_ps(),
                self.now.as_ps()
            ));
        }
        if usize::from(point) >= self.points().len() {
            return Err(format!("a frame came by point {point} of {}", self.points().len()));
        }
        self.handle_until(Time(at.as_ps() - 1));
        let outside = self.outside();
        outside.counts.offered += 1;
        let frame = outside.frames.insert(bytes).map_err(|reason| format!("no place for a frame: {reason:?}"))?;
        self.enter(at, point, frame);
        Ok(())
    }

    /// The interface of a departure's point did not take it: the model goes on as if it had.
    pub fn note_refusal(&mut self, at: Time, point: u16) {
        if let Some(witness) = &mut self.outside().witness {
            witness.refusal(at, point);
        }
    }

    /// When the next event is due, if any is.
    pub fn next_event(&mut self) -> Option<Time> {
        self.simulation.medium.queue.next_time()
    }

    /// When something is to be handled next, an arrival or an event, if anything is.
    pub fn next_due(&mut self) -> Option<Time> {
        let arrival = self.waiting.iter().map(|arrival| arrival.at).min();
        [arrival, self.next_event()].into_iter().flatten().min()
    }

    /// It is `latest` now: an arrival with a later stamp, from a clock that is ahead, has come now.
    pub fn settle_arrivals(&mut self, latest: Time) {
        self.waiting.iter_mut().for_each(|arrival| arrival.at = arrival.at.min(latest));
    }

    /// Handles everything up to `until`: what has arrived by then, by its time and then by its point, and what is due.
    pub fn advance(&mut self, until: Time) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|arrival| (arrival.at, arrival.point));
        let due = waiting.partition_point(|arrival| arrival.at <= until);
        for arrival in waiting.drain(..due) {
            let at = arrival.at.max(self.now + Duration(1));
            self.handle_until(Time(at.as_ps() - 1));
            self.enter(at, arrival.point, arrival.frame);
        }
        self.waiting = waiting;
        self.handle_until(until);
    }

    pub(super) fn handle_until(&mut self, until: Time) {
        while self.next_event().is_some_and(|at| at <= until) {
            let event = self.simulation.medium.queue.pop_turn().expect("an event is due");
            self.simulation.now = event.time;
            self.simulation.medium.outside_mut().now = event.time;
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
        let (packet, lands) = match outside.admit(at, point, frame, self.arrivals + 1) {
            Ok(admitted) => admitted,
            Err(reason) => {
                outside.frames.release(frame);
                return outside.refuse(reason);
            }
        };
        if packet.frame == 0 {
            outside.frames.release(frame);
            outside.counts.control += 1;
        } else {
            outside.counts.entered += 1;
            self.arrivals += 1;
        }
        let link = outside.points[usize::from(point)].inwards().index() as u32;
        medium.control_packets += 1;
        let handle = medium.packets.insert(packet);
        match lands {
            Lands::AfterLastBit(at) => medium.put_on_link(link, handle, at),
            Lands::At(at) => medium.land(link, handle, at),
        }
    }

    /// Hands over what has left since the last time: where, when, and its bytes, in the order of leaving.
    pub fn departures(&mut self, mut send: impl FnMut(&Departure, &[u8])) {
        let outside = self.simulation.medium.outside_mut();
        let mut outbox = std::mem::take(&mut outside.outbox);
        let [marking, out] = &mut self.scratch;
        for departure in outbox.drain(..) {
            let packet = &departure.packet;
            let (body, ecn) = match packet.frame {
                0 => (None, packet.ecn),
                frame => (Some(outside.frames.bytes(frame)), outside.frames.info(frame).ecn),
            };
            let written = match (&outside.points[usize::from(departure.point)].end, body) {
                (RealEnd::Switch(format), body) => write_to_switch(packet, ecn, body, format, [marking, out]),
                (RealEnd::Host(_), Some(body)) => write_to_host(packet, ecn, body, marking),
                (RealEnd::Host(_), None) => Err("a packet of a mechanism left for a host".to_owned()),
            };
            match written {
                Ok(bytes) => send(&departure, bytes),
                Err(reason) => outside.violation = Some(outside.violation.take().unwrap_or(reason)),
            }
            if packet.frame != 0 {
                outside.frames.release(packet.frame);
            }
        }
        outside.outbox = outbox;
    }

    /// Ends the run where it is and closes the books.
    pub fn finish(mut self) -> Outcome {
        self.departures(|_, _| {});
        let now = self.now;
        if let Some(mut witness) = self.outside().witness.take() {
            witness.end(now);
        }
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
        let mut broken: Vec<String> = outside.violation.iter().cloned().collect();
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

/// When a packet that has been let in arrives at its first switch.
enum Lands {
    /// The link's delay after its last bit has left a host.
    AfterLastBit(Time),
    /// Then: the link is real, and the frame has crossed it.
    At(Time),
}

impl Point {
    /// A frame of a switch elsewhere lands when it comes, or right after the one before it.
    fn lands_at(&mut self, at: Time) -> Lands {
        self.last_landing = at.max(self.last_landing + Duration(1));
        Lands::At(self.last_landing)
    }
}

impl Outside {
    /// Reads a frame and finds out where it goes: the packet to be put on the link, and when.
    fn admit(&mut self, at: Time, point: u16, frame: u32, number: u64) -> Result<(Packet, Lands), Refused> {
        let RealEnd::Switch(format) = &self.points[usize::from(point)].end else {
            let packet = self.admit_frame(at, point, frame, number)?;
            let RealEnd::Host(card) = &mut self.points[usize::from(point)].end else { unreachable!("it was none") };
            let departs_at = card.enqueue(at, packet.frame_bytes).ok_or(Refused::CardFull)?;
            return Ok((packet, Lands::AfterLastBit(departs_at)));
        };
        let read = read_link(self.frames.bytes(frame), format).map_err(|refusal| {
            self.link_refusals.count(refusal);
            Refused::NotOfTheLink
        })?;
        let Some(inner) = read.inner else {
            let source = self.points[usize::from(point)].host;
            let packet = Packet { source, destination: EVERYONE, ..control_packet(read.shims) };
            return Ok((packet, self.points[usize::from(point)].lands_at(at)));
        };
        self.frames.keep(frame, inner);
        let packet = self.admit_frame(at, point, frame, number)?;
        Ok((with_shims(packet, read.shims), self.points[usize::from(point)].lands_at(at)))
    }

    fn admit_frame(&mut self, at: Time, point: u16, frame: u32, number: u64) -> Result<Packet, Refused> {
        let read = read(self.frames.bytes(frame), self.hash_seed).ok_or(Refused::Malformed)?;
        self.bridge.learn(at, read.source, point);
        let destination = self.bridge.find(at, read.destination);
        let is_host = !self.points[usize::from(point)].is_switch();
        // What a switch elsewhere has sent here has a number on its link, and must be seen before it may end.
        if destination == Some(point) && is_host {
            return Err(Refused::SameSide);
        }
        self.frames.set_info(frame, FrameInfo { number, point, service: read.service, ecn: read.packet.ecn });
        let host = |point: u16| self.points[usize::from(point)].host;
        let destination = destination.map_or(EVERYONE, host);
        let packet = Packet { source: host(point), destination, frame, ..read.packet };
        let mark = read.mark.filter(|_| self.ranks_by_dscp);
        Ok(mark.map_or(packet, |mark| with_mark(packet, mark)))
    }
}

impl Simulation {
    /// Builds the part of `scenario` that is here.
    fn open(scenario: Scenario, settings: &OutsideSettings) -> Result<(Self, Vec<bool>), String> {
        let topology = scenario.topology.build().map_err(|errors| super::build::sentences(&errors))?;
        let real_end = |name: &str, node: Node| match node {
            Node::Host(host) => {
                RealEnd::Host(NetworkCard::new(&super::build::network_card(&scenario.host, &topology, host.0)))
            }
            Node::Switch(_) => RealEnd::Switch(settings.format_of(name)),
        };
        let border = Border::new(&topology, &settings.points, real_end)?;
        neighbours_of_rimm_are_here(&scenario, &topology, &border.is_here)?;
        let outside = Outside::new(settings, border.points, 2 * topology.links.len(), &scenario)?;
        let mut simulation = Self::build(scenario, Some(&border.is_here))?;
        for point in outside.points.iter().filter(|point| point.is_switch()) {
            simulation.medium.links[point.outwards.index()].clear_loss();
        }
        simulation.medium.outside = Some(Box::new(outside));
        Ok((simulation, border.is_here))
    }
}

/// The format of links to switches elsewhere has no room for what RIMM writes for a neighbour.
///
/// # Errors
/// A sentence: two neighbours, of which one runs elsewhere.
fn neighbours_of_rimm_are_here(scenario: &Scenario, topology: &Topology, is_here: &[bool]) -> Result<(), String> {
    let entries = scenario.mechanisms.iter().filter_map(|mechanism| match mechanism {
        MechanismSettings::Rimm(settings) => Some(settings),
        _ => None,
    });
    let is_apart = |&(a, b): &(SwitchId, SwitchId)| is_here[a.0 as usize] != is_here[b.0 as usize];
    match entries.flat_map(|settings| settings.neighbours(topology)).find(is_apart) {
        None => Ok(()),
        Some((switch, neighbour)) => Err(format!(
            "RIMM runs on {} and its neighbour {} by headers that only a link within one process carries: both have to be here",
            topology.switch(switch).name,
            topology.switch(neighbour).name
        )),
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
