//! Link failures and recovery.
//!
//! When a link fails, the times of all consequences are known: when each end detects the failure and may reroute, when
//! the link is repaired, and when each end detects that ([`course`]). Each time becomes an event; this module applies
//! its effects.

mod course;
mod links;
mod load;
mod report;

use std::collections::BTreeSet;

use hitless_core::engine::{RandomStreams, Stream};
use hitless_core::wire::{Duration, PortId, Time};
use hitless_scenario::Scenario;
use hitless_scenario::network::link::LinkFailure;
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::recovery::{RecoveryScheme, RecoverySettings};
use hitless_scenario::network::routing::{Routing, Withdrawn};
use hitless_scenario::network::topology::{LinkId, Node, SwitchId, Topology};
use hitless_switch::PortState;
use rand::Rng;

use super::event::{RecoveryEvent, SimulationEvent};
use super::fabric::Fabric;
use crate::link::Links;
use crate::results::{FailureTotals, Table};
use course::Course;
use links::FailingLink;
use load::PortLoads;
use report::FailureLog;

/// A failure entry of the scenario.
#[derive(hitless_core::state::State)]
struct Entry {
    #[configured]
    settings: LinkFailure,
    /// Index of its link in `Recovery::links`.
    #[configured]
    link: usize,
    stream: Stream,
    next: u64,
}

/// The failures of a run and the recovery from them.
#[derive(hitless_core::state::State)]
pub(super) struct Recovery {
    #[configured]
    settings: Option<RecoverySettings>,
    #[part]
    entries: Vec<Entry>,
    #[part]
    links: Vec<FailingLink>,
    log: FailureLog,
    #[part]
    loads: PortLoads,
    #[configured]
    switches: u32,
    /// True once no more failures follow.
    is_over: bool,
}

impl Recovery {
    /// Sets up the failures of `scenario`, and prepares `routing` for their detours.
    ///
    /// # Errors
    /// If a name matches no link, which cannot happen in a checked scenario; the message is a sentence.
    pub fn new(
        scenario: &Scenario,
        topology: &Topology,
        routing: &mut Routing,
        streams: &RandomStreams,
    ) -> Result<Self, String> {
        let (links, of_entry) = links::failing_links(scenario, topology, routing, streams)?;
        for end in links.iter().flat_map(|link| &link.ends).filter(|end| !end.detours.is_empty()) {
            if let Some(switch) = end.switch() {
                routing.watch(topology, switch, end.port);
            }
        }
        let entry = |(number, settings): (usize, &LinkFailure)| {
            let link = of_entry[number];
            // Streams are named by link, so that the failures of one link do not depend on those of another.
            let earlier = of_entry[..number].iter().filter(|&&other| other == link).count();
            let name = format!("link {} failure {earlier} jitter", links[link].link.0);
            Entry { settings: settings.clone(), link, stream: streams.stream(&name), next: 0 }
        };
        let entries = scenario.failures.iter().enumerate().map(entry).collect();
        let loads = PortLoads::new(scenario.recovery.as_ref(), &links, streams);
        let (settings, log) = (scenario.recovery.clone(), FailureLog::default());
        let switches = topology.switches.len() as u32;
        Ok(Self { settings, entries, links, log, loads, switches, is_over: false })
    }

    /// Cancels all further failures.
    pub fn stop(&mut self) {
        self.is_over = true;
    }

    /// When the next failure of an entry occurs.
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

    /// The link of a failure, unless the link has failed again since.
    fn link_of(&self, failure: u32) -> Option<usize> {
        self.links.iter().position(|link| link.latest == Some(failure))
    }

    /// Whether a switch believes its port up.
    fn is_alive(&self, switch: SwitchId, port: PortId) -> bool {
        let ends = self.links.iter().flat_map(|link| &link.ends);
        let mut own = ends.filter(|end| end.switch() == Some(switch) && end.port == port);
        own.all(|end| end.state == PortState::Up)
    }

    /// The backup of a port: among the live detours the one with the shortest path, then the least load (or, with
    /// "first", the lowest number).
    fn backup(&self, link: usize, end: usize) -> Option<PortId> {
        let end = &self.links[link].ends[end];
        let switch = end.switch()?;
        let alive = end.detours.iter().filter(|detour| self.is_alive(switch, detour.port));
        let best = alive.min_by_key(|detour| (detour.links, self.loads.of(switch, detour.port), detour.port));
        best.map(|detour| detour.port)
    }

    /// Totals; `None` for a scenario without failures.
    pub fn totals(&self) -> Option<FailureTotals> {
        (!self.entries.is_empty()).then(|| self.log.totals())
    }

    /// The table of failures.
    pub fn table(&self, topology: &Topology, links: &Links) -> Table {
        self.log.table(topology, |link| links.counters(link))
    }

    /// Whether the ends of a link detect it when the link is cut.
    pub fn is_watched(&self, link: LinkId) -> bool {
        self.settings.is_some() && self.number_of(link).is_some()
    }

    fn number_of(&self, link: LinkId) -> Option<usize> {
        self.links.iter().position(|known| known.link == link)
    }

    pub fn start<F: Fabric>(&mut self, network: &mut F) {
        for entry in 0..self.entries.len() {
            self.schedule_failure(entry, network);
        }
        self.schedule_poll(Time::ZERO, network);
    }

    fn schedule_failure<F: Fabric>(&mut self, entry: usize, network: &mut F) {
        if let Some(at) = self.next_failure(entry) {
            schedule(at, RecoveryEvent::Fail { entry: entry as u32 }, network);
        }
    }

    fn schedule_poll<F: Fabric>(&self, now: Time, network: &mut F) {
        if let Some(period) = self.loads.period() {
            schedule(now + period, RecoveryEvent::Poll, network);
        }
    }

    pub fn handle<F: Fabric>(&mut self, now: Time, event: RecoveryEvent, network: &mut F) {
        match event {
            RecoveryEvent::Fail { .. } | RecoveryEvent::Poll if self.is_over => {}
            RecoveryEvent::Fail { entry } => self.fail(now, entry as usize, network),
            RecoveryEvent::Poll => {
                self.loads.poll(|switch, port| network.bytes_sent(switch.0, port));
                self.schedule_poll(now, network);
            }
            RecoveryEvent::Detect { failure, end } => self.detect(now, failure, usize::from(end), network),
            RecoveryEvent::Reroute { failure, end } => self.reroute(now, failure, usize::from(end), network),
            RecoveryEvent::Whole { failure } => self.make_whole(now, failure, network),
            RecoveryEvent::Withdraw { failure, distance } => {
                if distance == 0 {
                    self.log.note_withdrawn(now, failure);
                }
                let farther = |distance| RecoveryEvent::Withdraw { failure, distance };
                self.withdraw(failure, distance, |failures| failures.insert(failure), network);
                self.pass_on(now, failure, distance, farther, network);
            }
            RecoveryEvent::Restore { failure, distance } => {
                let farther = |distance| RecoveryEvent::Restore { failure, distance };
                self.withdraw(failure, distance, |failures| failures.remove(&failure), network);
                self.pass_on(now, failure, distance, farther, network);
            }
            RecoveryEvent::Return { failure, end } => self.return_to(now, failure, usize::from(end), network),
        }
    }

    fn fail<F: Fabric>(&mut self, now: Time, entry: usize, network: &mut F) {
        let number = self.entries[entry].link;
        let outage = self.entries[entry].settings.outage;
        self.schedule_failure(entry, network);
        self.break_link(now, number, outage, network);
    }

    /// The links that each switch has withdrawn.
    pub fn withdrawn(&self) -> Withdrawn {
        let mut known = Withdrawn::new();
        for switch in 0..self.switches {
            let links = self.links.iter().filter(|link| link.is_withdrawn_at(switch as usize));
            known.entry(links.map(|link| link.link).collect()).or_default().push(SwitchId(switch));
        }
        known
    }

    /// Changes the failures on the link of `failure` that the switches at a distance know of, and tells the network if
    /// that changes its paths.
    fn withdraw<F: Fabric>(
        &mut self,
        failure: u32,
        distance: u16,
        change: impl FnOnce(&mut BTreeSet<u32>) -> bool,
        network: &mut F,
    ) {
        let Some(link) = self.number_of(self.log.link(failure)) else { return };
        let known = &mut self.links[link].withdrawn_by[usize::from(distance)];
        let was_empty = known.is_empty();
        change(known);
        if known.is_empty() != was_empty {
            network.withdraw(&self.withdrawn());
        }
    }

    /// Schedules the arrival of news at the switches one link further from the failure.
    fn pass_on<F: Fabric>(
        &self,
        now: Time,
        failure: u32,
        distance: u16,
        news: impl FnOnce(u16) -> RecoveryEvent,
        network: &mut F,
    ) {
        let Some(link) = self.number_of(self.log.link(failure)) else { return };
        if let Some(RecoveryScheme::Withdraw(scheme)) = self.settings.as_ref().map(|settings| settings.scheme)
            && usize::from(distance) + 1 < self.links[link].withdrawn_by.len()
        {
            schedule(course::later(now, scheme.notice_per_hop), news(distance + 1), network);
        }
    }

    /// Cuts a watched link. It stays down until it is mended or, with the scheme "same-port", replaced.
    pub fn cut<F: Fabric>(&mut self, now: Time, link: LinkId, network: &mut F) {
        if let Some(number) = self.number_of(link) {
            self.break_link(now, number, None, network);
        }
    }

    /// Mends a watched link.
    pub fn mend<F: Fabric>(&mut self, now: Time, link: LinkId, network: &mut F) {
        let Some(known) = self.number_of(link).map(|number| &self.links[number]) else { return };
        let (true, Some(failure)) = (known.is_down, known.latest) else {
            // A scheduled change may have cut a single direction.
            known.directions().into_iter().for_each(|direction| network.set_link_state(now, direction, LinkState::Up));
            return;
        };
        let at = now + Duration(1);
        // An end that has not detected the failure yet still does, and learns of its end at the same time.
        let down = self.log.down(failure);
        let returned = [0, 1].map(|end| Some(known.detector.up(end, at).max(known.detector.down(end, down))));
        let mut course = Course { whole: Some(at), returned, ..Course::default() };
        if let Some(RecoveryScheme::Withdraw(scheme)) = self.settings.as_ref().map(|settings| settings.scheme) {
            course = course.with_withdrawal(scheme.notice);
        }
        schedule_course(failure, &course, network);
    }

    /// Breaks a link, for `outage` or until the recovery has replaced it.
    fn break_link<F: Fabric>(&mut self, now: Time, number: usize, outage: Option<Duration>, network: &mut F) {
        let link = &mut self.links[number];
        if link.is_down {
            self.log.note_ignored();
            return;
        }
        let failure = self.log.open(now, link.link, link.latest, |link| network.link_counters(link));
        link.is_down = true;
        link.latest = Some(failure);
        link.directions().into_iter().for_each(|direction| network.set_link_state(now, direction, LinkState::Down));
        let believed_down = [0, 1].map(|end: usize| link.ends[end].state != PortState::Up);
        let course = match &self.settings {
            Some(settings) => Course::new(now, outage, &link.detector, settings.scheme, believed_down),
            None => Course::unnoticed(now, outage),
        };
        schedule_course(failure, &course, network);
    }

    fn detect<F: Fabric>(&mut self, now: Time, failure: u32, end: usize, network: &mut F) {
        let Some(link) = self.link_of(failure) else { return };
        self.log.note_detected(now, failure, end);
        // An end that has not heard of the previous failure's repair believes the port down already.
        if self.links[link].ends[end].state == PortState::Up {
            self.tell(now, link, end, PortState::Down, network);
        }
    }

    fn reroute<F: Fabric>(&mut self, now: Time, failure: u32, end: usize, network: &mut F) {
        let Some(link) = self.link_of(failure) else { return };
        let is_down = self.links[link].is_down;
        let state = &mut self.links[link].ends[end];
        // The link was mended by a command meanwhile, and this end knows it.
        if !is_down && state.state == PortState::Up {
            return;
        }
        state.may_reroute = true;
        if let Some(switch) = state.switch() {
            self.find_paths(now, switch, network);
        }
    }

    fn make_whole<F: Fabric>(&mut self, now: Time, failure: u32, network: &mut F) {
        let Some(link) = self.link_of(failure) else { return };
        self.log.note_whole(now, failure);
        let link = &mut self.links[link];
        link.is_down = false;
        link.directions().into_iter().for_each(|direction| network.set_link_state(now, direction, LinkState::Up));
    }

    fn return_to<F: Fabric>(&mut self, now: Time, failure: u32, end: usize, network: &mut F) {
        let Some(link) = self.link_of(failure) else { return };
        self.note_path(now, link, end);
        self.links[link].ends[end].may_reroute = false;
        self.tell(now, link, end, PortState::Up, network);
        self.tell_hosts(link, end, network);
        if let Some(switch) = self.links[link].ends[end].switch() {
            self.find_paths(now, switch, network);
        }
    }

    /// Records that an end has a path again.
    fn note_path(&mut self, now: Time, link: usize, end: usize) {
        if let Some(failure) = self.links[link].latest {
            self.log.note_recovered(now, failure, end);
        }
    }

    /// Finds a live backup for each port of a switch that needs one.
    fn find_paths<F: Fabric>(&mut self, now: Time, switch: SwitchId, network: &mut F) {
        for link in 0..self.links.len() {
            for end in 0..2 {
                let state = &self.links[link].ends[end];
                if state.switch() == Some(switch) && state.may_reroute {
                    self.find_path(now, link, end, network);
                    self.tell_hosts(link, end, network);
                }
            }
        }
    }

    fn find_path<F: Fabric>(&mut self, now: Time, link: usize, end: usize, network: &mut F) {
        let state = &self.links[link].ends[end];
        if let (PortState::Rerouted { backup }, Some(switch)) = (state.state, state.switch())
            && self.is_alive(switch, backup)
        {
            self.note_path(now, link, end);
            return;
        }
        let found = match self.backup(link, end) {
            Some(backup) => PortState::Rerouted { backup },
            None => PortState::Down,
        };
        if found != state.state {
            self.tell(now, link, end, found, network);
        }
        if found != PortState::Down {
            self.note_path(now, link, end);
        }
    }

    /// Tells all hosts whether a switch still finds a way to the host at the other end.
    fn tell_hosts<F: Fabric>(&mut self, link: usize, end: usize, network: &mut F) {
        let end = &mut self.links[link].ends[end];
        let reaches_peer = end.state != PortState::Down || !end.may_reroute;
        if let Some((host, port)) = end.peer.filter(|_| reaches_peer != end.reaches_peer) {
            end.reaches_peer = reaches_peer;
            network.set_reachable(host, port, reaches_peer);
        }
    }

    /// Tells the node at an end the new state of its port.
    fn tell<F: Fabric>(&mut self, now: Time, link: usize, end: usize, state: PortState, network: &mut F) {
        let end = &mut self.links[link].ends[end];
        end.state = state;
        let port = end.port;
        let switch = match end.node {
            Node::Switch(switch) => switch,
            Node::Host(host) => return network.set_host_port_state(now, host, port, state == PortState::Up),
        };
        // A mechanism that redirects packets at egress needs them in the queue of their own port, so routing must still
        // send them there.
        if !end.is_redirected {
            let backup = if let PortState::Rerouted { backup } = state { Some(backup) } else { None };
            assert_ne!(backup, Some(port), "a port is its own backup");
            network.set_detour(switch, port, backup);
        }
        network.set_port_state(now, switch, port, state);
    }
}

fn schedule<F: Fabric>(at: Time, event: RecoveryEvent, network: &mut F) {
    network.schedule(at, SimulationEvent::Recovery(event));
}

fn schedule_course<F: Fabric>(failure: u32, course: &Course, network: &mut F) {
    // Events of equal time happen in the order of scheduling: detection, rerouting, repair, return.
    let mut schedule = |at: Option<Time>, event| {
        if let Some(at) = at {
            schedule(at, event, network);
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
    schedule(course.withdrawn, RecoveryEvent::Withdraw { failure, distance: 0 });
    schedule(course.restored, RecoveryEvent::Restore { failure, distance: 0 });
}
