//! A run with real outer nodes, driven by the frames that they send and by the time that the caller passes in.
//!
//! It has no clock. Each event is handled with its scheduled time, in key order, however late the driver is. An arrival
//! is handled at the time of its stamp, or right after the last handled event if that is later. So a run is a function
//! of its arrivals and commands, and repeating them gives the same decisions.

use hitless_core::wire::link::{LinkHeaderSet, PRIORITIES};
use hitless_core::wire::{Duration, Time};
use hitless_hosts::host::NetworkCard;
use hitless_scenario::network::link::LinkFailure;
use hitless_scenario::network::topology::{DirectedLink, Node, Topology};
use hitless_scenario::{MeasureSettings, RankedBy, Scenario, Until};
use hitless_simulation::Outcome;
use hitless_simulation::run::{Run, build, network_card, stop};

use super::capture_files::CaptureFiles;
use super::counts::{FrameCounts, Refused};
use super::external::{External, Witness};
use super::frames::NoRoom;
use super::points::{Border, Point, RealEnd};
use super::settings::LiveSettings;
use crate::interfaces::Merged;

/// A frame that has arrived and was not handled yet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    point: u16,
    frame: u32,
}

/// A fabric between real nodes.
pub struct LiveFabric {
    pub(super) run: Run<External>,
    pub(super) is_here: Vec<bool>,
    /// Everything up to this time has been handled.
    pub(super) now: Time,
    waiting: Vec<Arrival>,
    /// Number of frames admitted so far.
    arrivals: u64,
    /// Buffers for modified frames.
    pub(super) scratch: [Vec<u8>; 3],
    pub(super) captures: Option<Box<CaptureFiles>>,
}

impl LiveFabric {
    /// Builds the local part of `scenario` and starts it at time 0. The scenario's flows do not run.
    ///
    /// # Errors
    /// A sentence, for unknown names or a host without a point.
    pub fn new(scenario: Scenario, settings: &LiveSettings) -> Result<Self, String> {
        let (mut run, is_here) = open(without_flows(scenario, settings.captures), settings)?;
        run.start();
        let (waiting, scratch) = Default::default();
        Ok(Self { run, is_here, now: Time::ZERO, waiting, arrivals: 0, scratch, captures: None })
    }

    /// Starts to report inputs and decisions to `witness`.
    pub fn watch(&mut self, witness: Box<dyn Witness>) {
        self.external().witness = Some(witness);
    }

    /// Everything up to this time has been handled.
    pub const fn now(&self) -> Time {
        self.now
    }

    pub fn points(&self) -> &[Point] {
        &self.run.edge().points
    }

    /// Returns the name of a point's link in both directions, for commands.
    pub fn link_of(&self, point: usize) -> String {
        self.run.topology().link_name(self.points()[point].outwards).replace("->", "<->")
    }

    pub fn counts(&self) -> FrameCounts {
        self.run.edge().counts
    }

    /// Receives a frame, without check sequence, at a point at the time `at`. The next [`Self::advance`] handles it.
    pub fn receive(&mut self, point: u16, at: Time, bytes: &[u8]) {
        let external = self.external();
        external.counts.offered += 1;
        match external.frames.insert(bytes) {
            Ok(frame) => self.waiting.push(Arrival { at, point, frame }),
            Err(NoRoom::Empty) => external.refuse(Refused::PoolEmpty),
            Err(NoRoom::TooLong) => external.refuse(Refused::TooLong),
        }
    }

    /// Returns why buffers that arrive at a point are split at once; `None` if they stay whole.
    pub fn splits_because(&self, point: usize) -> Option<&'static str> {
        let (edge, point) = (self.run.edge(), &self.points()[point]);
        let leaves_by_links = self.points().iter().all(|other| other.is_switch() || other.name == point.name);
        match () {
            () if edge.witness.is_some() => Some("a recording has single frames"),
            () if point.is_switch() => Some("a link between switches has single frames"),
            () if leaves_by_links => Some("they leave through links between switches, which have single frames"),
            () => None,
        }
    }

    /// Receives the frames of a merged buffer, each as [`Self::receive`] does. Returns whether the buffer stays whole.
    pub fn receive_merged(&mut self, point: u16, at: Time, mut merged: Merged<'_>) -> bool {
        let count = merged.segments.count();
        if self.splits_because(usize::from(point)).is_none() {
            let (external, waiting) = (self.run.edge_mut(), &mut self.waiting);
            let enter = |frame| waiting.push(Arrival { at, point, frame });
            if external.frames.insert_merged(&mut merged, enter) {
                external.counts.offered += count as u64;
                return true;
            }
        }
        let mut frame = std::mem::take(&mut self.scratch[0]);
        for number in 0..count {
            merged.segments.write(&merged.bytes[merged.start..], number, &mut frame);
            self.receive(point, at, &frame);
        }
        self.scratch[0] = frame;
        false
    }

    /// Receives a frame at the time `at` and handles it at once, with everything before it, to play a recording.
    ///
    /// # Errors
    /// A sentence, if that time was handled already, the point does not exist, or there is no room for the frame.
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
        let external = self.external();
        external.counts.offered += 1;
        let frame = external.frames.insert(bytes).map_err(|reason| format!("no place for a frame: {reason:?}"))?;
        self.enter(at, point, frame);
        Ok(())
    }

    /// Reports that a departure's interface refused it; the model is unaffected.
    pub fn note_refusal(&mut self, at: Time, point: u16) {
        if let Some(witness) = &mut self.external().witness {
            witness.refusal(at, point);
        }
    }

    /// Time of the next event, if any.
    pub fn next_event(&mut self) -> Option<Time> {
        self.run.next_time()
    }

    /// Time of the next arrival or event, if any.
    pub fn next_due(&mut self) -> Option<Time> {
        let arrival = self.waiting.iter().map(|arrival| arrival.at).min();
        [arrival, self.next_event()].into_iter().flatten().min()
    }

    /// Limits the stamps of arrivals to the present time `latest`, because a sender's clock can be ahead.
    pub fn settle_arrivals(&mut self, latest: Time) {
        self.waiting.iter_mut().for_each(|arrival| arrival.at = arrival.at.min(latest));
    }

    /// Handles everything up to `until`: arrivals in order of time and point, and due events.
    pub fn advance(&mut self, until: Time) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|arrival| (arrival.at, arrival.point));
        let due = waiting.partition_point(|arrival| arrival.at <= until);
        for arrival in waiting.drain(..due) {
            // Everything up to `now` was handled, so a late frame arrives right after it.
            let at = arrival.at.max(self.now + Duration(1));
            self.handle_until(Time(at.as_ps() - 1));
            self.enter(at, arrival.point, arrival.frame);
        }
        self.waiting = waiting;
        self.handle_until(until);
        self.stream_captures();
    }

    pub(super) fn handle_until(&mut self, until: Time) {
        while self.next_event().is_some_and(|at| at <= until) {
            self.run.step();
        }
        self.now = self.now.max(until);
    }

    fn enter(&mut self, at: Time, point: u16, frame: u32) {
        let external = self.run.edge_mut();
        // Refused frames are recorded too, because a replay must refuse them again.
        if let Some(witness) = &mut external.witness {
            witness.arrival(at, point, external.frames.bytes(frame));
        }
        let (packet, landing) = match external.admit(at, point, frame, self.arrivals + 1) {
            Ok(admitted) => admitted,
            Err(reason) => return self.refuse(at, point, frame, reason),
        };
        if packet.frame == 0 {
            external.frames.release(frame);
            external.counts.control += 1;
        } else {
            external.counts.entered += 1;
            self.arrivals += 1;
        }
        let link = external.points[usize::from(point)].inwards();
        self.run.enter(link, packet, landing);
    }

    /// Ends a frame that was not admitted.
    fn refuse(&mut self, at: Time, point: u16, frame: u32, reason: Refused) {
        // The frame has an owner again only for the capture of its loss; the bridge has learned its source already.
        if reason == Refused::CardFull
            && let Ok(packet) = self.run.edge_mut().admit_frame(at, point, frame, self.arrivals + 1, false)
        {
            self.run.capture_refused(at, packet.source, &packet);
        }
        let external = self.run.edge_mut();
        external.frames.release(frame);
        external.refuse(reason);
    }

    /// Ends the run now, and checks conservation.
    pub fn finish(mut self) -> Outcome {
        self.departures(|_, _| {});
        let now = self.now;
        if let Some(mut witness) = self.external().witness.take() {
            witness.end(now);
        }
        self.end_captures();
        let (violations, warnings) = (self.broken_invariants(), self.capture_warnings());
        let mut outcome = stop(self.run, self.now);
        outcome.violations.extend(violations);
        outcome.summary.warnings.extend(warnings);
        outcome
    }

    fn external(&mut self) -> &mut External {
        self.run.edge_mut()
    }

    /// Checks that each frame has as many references as packets, and that the counts agree.
    fn broken_invariants(&mut self) -> Vec<String> {
        self.waiting.drain(..).for_each(|arrival| {
            self.run.edge_mut().frames.release(arrival.frame);
        });
        let named: Vec<u32> = self.run.packets().map(|packet| packet.frame).filter(|&frame| frame != 0).collect();
        let external = self.run.edge();
        let mut violations: Vec<String> = external.violation.iter().cloned().collect();
        let inside = external.counts.inside();
        if inside != named.len() as u64 {
            violations.push(format!(
                "frames went astray: by the counts {inside} are in the fabric, but {} exist",
                named.len()
            ));
        }
        let mut counted = vec![0u32; external.frames.references().count()];
        named.iter().for_each(|&frame| counted[frame as usize - 1] += 1);
        if !external.frames.references().eq(counted) {
            violations.push("the bodies of frames are held by others than the packets that name them".into());
        }
        violations
    }
}

/// Builds the local part of `scenario`, and returns which switches are in it.
fn open(scenario: Scenario, settings: &LiveSettings) -> Result<(Run<External>, Vec<bool>), String> {
    let topology = scenario.build_topology()?;
    let of_hosts = scenario.host.of_each(&topology)?;
    let real_end = |name: &str, node: Node| match node {
        Node::Host(host) => {
            let settings = &of_hosts[host.0 as usize];
            RealEnd::Host(NetworkCard::new(&network_card(settings, &topology, &topology.host(host).ports[0])))
        }
        Node::Switch(_) => RealEnd::Switch(settings.format_of(name)),
    };
    let mut border = Border::new(&topology, &settings.points, real_end)?;
    let known = find_link_headers(&scenario, &topology, &mut border.points)?;
    let to_switches: Vec<_> =
        border.points.iter().filter(|point| point.is_switch()).map(|point| point.outwards).collect();
    let external = External::new(settings, border.points, 2 * topology.links.len(), &scenario, known)?;
    let mut run = build(scenario, Some(&border.is_here), external)?;
    to_switches.into_iter().for_each(|link| run.clear_loss(link));
    Ok((run, border.is_here))
}

/// Finds for each link to a switch elsewhere the headers of the mechanisms that both ends run. Returns the union over
/// all links.
fn find_link_headers(scenario: &Scenario, topology: &Topology, points: &mut [Point]) -> Result<LinkHeaderSet, String> {
    let by_entry: Vec<_> = scenario.mechanisms.iter().filter_map(|entry| entry.link_headers(topology)).collect();
    let mut known = LinkHeaderSet::default();
    by_entry.iter().try_for_each(|(headers, _)| known.add(headers))?;
    let has_priority = scenario.host.priority_tagger.is_some_and(|tagger| tagger.by == RankedBy::Dscp);
    for point in points.iter_mut().filter(|point| point.is_switch()) {
        if has_priority {
            point.spoken.add(&PRIORITIES)?;
        }
        for (headers, links) in &by_entry {
            if links.iter().any(|&link| link == point.outwards || link == point.inwards()) {
                point.spoken.add(headers)?;
            }
        }
    }
    Ok(known)
}

/// Removes flows and the end of the run, because real nodes send and the caller provides the time.
fn without_flows(mut scenario: Scenario, keeps_captures: bool) -> Scenario {
    scenario.flows.clear();
    let capture = if keeps_captures { std::mem::take(&mut scenario.measure.capture) } else { Vec::new() };
    scenario.measure = MeasureSettings { capture, ..MeasureSettings::default() };
    scenario.until = Until::Duration;
    scenario.duration = None;
    scenario.warmup = Time::ZERO;
    every_link_may_fail(&mut scenario);
    scenario
}

/// Adds a failure that never happens to each link, which prepares the routing for commands that cut a link.
fn every_link_may_fail(scenario: &mut Scenario) {
    if scenario.recovery.is_none() {
        return;
    }
    let Ok(topology) = scenario.topology.build() else { return };
    let name = |number: usize| topology.link_name(DirectedLink::from_index(2 * number)).replace("->", "<->");
    let never = |number: usize| LinkFailure {
        link: name(number),
        first: Time::NEVER,
        every: None,
        count: None,
        jitter: Duration::ZERO,
        outage: None,
        line: None,
    };
    scenario.failures.extend((0..topology.links.len()).map(never));
}
