//! Links that fail, and what is done about it.
//!
//! When a link fails, everything that follows is known: when each end detects it, when it may use another port, when
//! the link is whole, when each end knows that ([`course`]). These moments become events; what they change is here.

mod by_hand;
mod course;
mod links;
mod load;
mod report;

use hitless_engine::{RandomStreams, Stream};
use hitless_switch::PortState;
use hitless_wire::{Duration, PortId, Time};
use rand::Rng;

use super::Simulation;
use super::environment::SwitchSide;
use super::event::{SimulationEvent, kind};
use crate::routing::Routing;
use crate::scenario::{LinkFailure, LinkState, RecoverySettings, Scenario};
use crate::topology::{SwitchId, Topology};
pub(super) use by_hand::every_link_may_fail;
use course::Course;
use links::{FailingLink, FailureRecord};
use load::PortLoads;

/// Something that failures bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryEvent {
    /// The next failure of an entry of the scenario is due.
    Fail {
        /// The entry.
        entry: u32,
    },
    /// An end detects a failure.
    Detect {
        /// Number of its record.
        failure: u32,
        /// The end, 0 or 1.
        end: u8,
    },
    /// An end may use another port.
    Reroute {
        /// Number of its record.
        failure: u32,
        /// The end.
        end: u8,
    },
    /// The link is whole.
    Whole {
        /// Number of its record.
        failure: u32,
    },
    /// An end learns that the link is whole.
    Return {
        /// Number of its record.
        failure: u32,
        /// The end.
        end: u8,
    },
    /// The control plane reads the counters of the ports that may become backups.
    Poll,
}

/// An entry of the scenario: failures to come.
struct Entry {
    settings: LinkFailure,
    /// Index of its link among those that fail.
    link: usize,
    stream: Stream,
    next: u64,
}

/// Failures of a run.
pub(super) struct Recovery {
    settings: Option<RecoverySettings>,
    entries: Vec<Entry>,
    links: Vec<FailingLink>,
    records: Vec<FailureRecord>,
    /// Failures of links that were down already.
    ignored: u64,
    loads: PortLoads,
    /// No failure comes any more.
    is_over: bool,
}

impl Recovery {
    /// The failures of `scenario`. Prepares `routing` for the detours that they may bring.
    ///
    /// # Errors
    /// A sentence, when a name means no link; a checked scenario has none.
    pub fn new(
        scenario: &Scenario,
        topology: &Topology,
        routing: &mut Routing,
        streams: &RandomStreams,
    ) -> Result<Self, String> {
        let (links, of_entry) = links::failing_links(scenario, topology, routing, streams)?;
        for end in links.iter().flat_map(|link| &link.ends).filter(|end| !end.detours.is_empty()) {
            if let Some(switch) = end.switch {
                routing.watch(topology, switch, end.port);
            }
        }
        let entry = |(number, (settings, link)): (usize, (&LinkFailure, usize))| Entry {
            settings: settings.clone(),
            link,
            stream: streams.stream(&format!("failure {number} jitter")),
            next: 0,
        };
        let entries = scenario.failures.iter().zip(of_entry).enumerate().map(entry).collect();
        let loads = PortLoads::new(scenario.recovery.as_ref(), &links);
        let (settings, records) = (scenario.recovery.clone(), Vec::new());
        Ok(Self { settings, entries, links, records, ignored: 0, loads, is_over: false })
    }

    /// From now on no link fails.
    pub fn stop(&mut self) {
        self.is_over = true;
    }

    /// When the next failure of an entry comes.
    fn next_failure(&mut self, entry: usize) -> Option<Time> {
        let Entry { settings, stream, next, .. } = &mut self.entries[entry];
        if settings.times().is_some_and(|times| *next >= times) {
            return None;
        }
        let later = match settings.jitter {
            Duration::ZERO => Duration::ZERO,
            jitter => Duration(stream.next_u64() % jitter.as_ps().saturating_add(1)),
        };
        let at = course::later(settings.earliest(*next), later);
        *next += 1;
        (at < Time::NEVER).then_some(at)
    }

    /// The link of a failure, unless it has failed again since.
    fn link_of(&self, failure: u32) -> Option<usize> {
        self.links.iter().position(|link| link.latest == Some(failure))
    }

    /// Whether the switch at the end takes this port for alive.
    fn is_alive(&self, switch: SwitchId, port: PortId) -> bool {
        let ends = self.links.iter().flat_map(|link| &link.ends);
        let mut own = ends.filter(|end| end.switch == Some(switch) && end.port == port);
        own.all(|end| end.state == PortState::Up)
    }

    /// The backup of a port: the live ones with the shortest way, of these the least loaded, of these the first.
    fn backup(&self, link: usize, end: usize) -> Option<PortId> {
        let end = &self.links[link].ends[end];
        let switch = end.switch?;
        let alive = end.detours.iter().filter(|detour| self.is_alive(switch, detour.port));
        let best = alive.min_by_key(|detour| (detour.links, self.loads.of(switch, detour.port), detour.port));
        best.map(|detour| detour.port)
    }
}

impl Simulation {
    pub(super) fn start_recovery(&mut self) {
        for entry in 0..self.recovery.entries.len() {
            self.schedule_failure(entry);
        }
        self.schedule_poll(Time::ZERO);
    }

    fn schedule_recovery(&mut self, at: Time, event: RecoveryEvent) {
        let order = self.medium.sequences.key(kind::CHANGE, 0);
        self.medium.queue.push(at, order, SimulationEvent::Recovery(event));
    }

    fn schedule_failure(&mut self, entry: usize) {
        if let Some(at) = self.recovery.next_failure(entry) {
            self.schedule_recovery(at, RecoveryEvent::Fail { entry: entry as u32 });
        }
    }

    fn schedule_poll(&mut self, now: Time) {
        if let Some(period) = self.recovery.loads.period() {
            self.schedule_recovery(now + period, RecoveryEvent::Poll);
        }
    }

    pub(super) fn recover<const OUTSIDE: bool>(&mut self, now: Time, event: RecoveryEvent) {
        match event {
            RecoveryEvent::Fail { .. } | RecoveryEvent::Poll if self.recovery.is_over => {}
            RecoveryEvent::Fail { entry } => self.fail(now, entry as usize),
            RecoveryEvent::Poll => {
                self.recovery.loads.poll(|switch, port| self.switches[switch.0 as usize].mac(port).bytes_sent);
                self.schedule_poll(now);
            }
            RecoveryEvent::Detect { failure, end } => self.detect::<OUTSIDE>(now, failure, usize::from(end)),
            RecoveryEvent::Reroute { failure, end } => self.reroute::<OUTSIDE>(now, failure, usize::from(end)),
            RecoveryEvent::Whole { failure } => self.make_whole(now, failure),
            RecoveryEvent::Return { failure, end } => self.return_to::<OUTSIDE>(now, failure, usize::from(end)),
        }
    }

    fn fail(&mut self, now: Time, entry: usize) {
        let number = self.recovery.entries[entry].link;
        let outage = self.recovery.entries[entry].settings.outage;
        self.schedule_failure(entry);
        self.cut(now, number, outage);
    }

    /// A link breaks, for a time or until the recovery has repaired it.
    fn cut(&mut self, now: Time, number: usize, outage: Option<Duration>) {
        if self.recovery.links[number].is_down {
            self.recovery.ignored += 1;
            return;
        }
        let failure = self.open_record(now, number);
        let link = &mut self.recovery.links[number];
        link.is_down = true;
        link.latest = Some(failure);
        for direction in link.directions() {
            self.medium.links[direction.index()].set_state(now, LinkState::Down);
        }
        let believed_down = [0, 1].map(|end: usize| link.ends[end].state != PortState::Up);
        let course = match &self.recovery.settings {
            Some(settings) => Course::new(now, outage, &link.detector, settings.scheme, believed_down),
            None => Course::unnoticed(now, outage),
        };
        self.schedule_course(failure, &course);
    }

    fn schedule_course(&mut self, failure: u32, course: &Course) {
        let mut schedule = |at: Option<Time>, event| {
            if let Some(at) = at {
                self.schedule_recovery(at, event);
            }
        };
        for end in [0, 1] {
            schedule(course.detected[usize::from(end)], RecoveryEvent::Detect { failure, end });
        }
        for end in [0, 1] {
            schedule(course.rerouted[usize::from(end)], RecoveryEvent::Reroute { failure, end });
        }
        schedule(course.whole, RecoveryEvent::Whole { failure });
        for end in [0, 1] {
            schedule(course.returned[usize::from(end)], RecoveryEvent::Return { failure, end });
        }
    }

    fn detect<const OUTSIDE: bool>(&mut self, now: Time, failure: u32, end: usize) {
        let Some(link) = self.recovery.link_of(failure) else { return };
        self.recovery.records[failure as usize].detected[end] = now;
        // From a failure whose end it has not heard of it may know the link as dead already.
        if self.recovery.links[link].ends[end].state == PortState::Up {
            self.tell::<OUTSIDE>(now, link, end, PortState::Down);
        }
    }

    fn reroute<const OUTSIDE: bool>(&mut self, now: Time, failure: u32, end: usize) {
        let Some(link) = self.recovery.link_of(failure) else { return };
        let is_down = self.recovery.links[link].is_down;
        let state = &mut self.recovery.links[link].ends[end];
        // It was mended by hand meanwhile, and this end knows.
        if !is_down && state.state == PortState::Up {
            return;
        }
        state.may_reroute = true;
        if let Some(switch) = state.switch {
            self.find_ways::<OUTSIDE>(now, switch);
        }
    }

    fn make_whole(&mut self, now: Time, failure: u32) {
        let Some(link) = self.recovery.link_of(failure) else { return };
        self.recovery.records[failure as usize].up = now;
        let link = &mut self.recovery.links[link];
        link.is_down = false;
        for direction in link.directions() {
            self.medium.links[direction.index()].set_state(now, LinkState::Up);
        }
    }

    fn return_to<const OUTSIDE: bool>(&mut self, now: Time, failure: u32, end: usize) {
        let Some(link) = self.recovery.link_of(failure) else { return };
        self.note_way(now, link, end);
        self.recovery.links[link].ends[end].may_reroute = false;
        self.tell::<OUTSIDE>(now, link, end, PortState::Up);
        if let Some(switch) = self.recovery.links[link].ends[end].switch {
            self.find_ways::<OUTSIDE>(now, switch);
        }
    }

    /// Gives each port of a switch that needs another one a backup that is alive.
    fn find_ways<const OUTSIDE: bool>(&mut self, now: Time, switch: SwitchId) {
        for link in 0..self.recovery.links.len() {
            for end in 0..2 {
                let state = &self.recovery.links[link].ends[end];
                if state.switch == Some(switch) && state.may_reroute {
                    self.find_way::<OUTSIDE>(now, link, end);
                }
            }
        }
    }

    fn find_way<const OUTSIDE: bool>(&mut self, now: Time, link: usize, end: usize) {
        let state = &self.recovery.links[link].ends[end];
        if let (PortState::Rerouted { backup }, Some(switch)) = (state.state, state.switch)
            && self.recovery.is_alive(switch, backup)
        {
            self.note_way(now, link, end);
            return;
        }
        let found = match self.recovery.backup(link, end) {
            Some(backup) => PortState::Rerouted { backup },
            None => PortState::Down,
        };
        if found != state.state {
            self.tell::<OUTSIDE>(now, link, end, found);
        }
        if found != PortState::Down {
            self.note_way(now, link, end);
        }
    }

    /// The switch at an end learns what has become of its port.
    fn tell<const OUTSIDE: bool>(&mut self, now: Time, link: usize, end: usize, state: PortState) {
        let end = &mut self.recovery.links[link].ends[end];
        end.state = state;
        let Some(switch) = end.switch else { return };
        let port = end.port;
        // SQR redirects packets when they leave the queue of their own port, so they must still be sent there.
        if !end.has_sqr {
            let backup = if let PortState::Rerouted { backup } = state { Some(backup) } else { None };
            self.medium.routing.set_detour(switch, port, backup);
        }
        let mut side = SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch: switch.0 };
        self.switches[switch.0 as usize].port_state(now, port, state, &mut side);
    }
}
