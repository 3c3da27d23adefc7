//! A run that somebody drives: it stops at times of their choosing, shows counters, and takes commands.
//!
//! What a control plane does to a switch. A session that is given no commands runs as [`Simulation::run`] does, to
//! the same trace: stopping leaves no mark.

use hitless_engine::{OrderKey, Progress};
use hitless_mechanisms::linkguardian::{Action, Command, LinkEnd, Mode};
use hitless_wire::Time;

use super::changes::Change;
use super::event::{SimulationEvent, kind};
use super::{End, Simulation};
use crate::results::{Outcome, Table};
use crate::scenario::{MechanismSettings, Scenario};
use crate::topology::select::select_links;
use crate::topology::{DirectedLink, Endpoint, Node};

/// What the MAC behind a link has counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveCounters {
    /// Frames received whole: `framesRxOk`.
    pub frames_ok: u64,
    /// Frames received, corrupted ones included: `framesRxAll`.
    pub frames_all: u64,
}

/// Pauses have a node of their own among the changes, which belong to node 0: they leave the changes' keys alone.
const PAUSE_NODE: u32 = 1;

/// A run in steps.
pub struct Session {
    simulation: Simulation,
    now: Time,
    pauses: u64,
    end: Option<(End, Time)>,
}

impl Session {
    /// Builds what `scenario` describes and starts it at time 0.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        let mut simulation = Simulation::new(scenario)?;
        simulation.start();
        Ok(Self { simulation, now: Time::ZERO, pauses: 0, end: None })
    }

    /// Up to where the run has come.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Runs up to `until`: what is due before it has happened, what is due then has not. False when the run has
    /// ended; a time that has passed changes nothing.
    pub fn advance(&mut self, until: Time, progress: &Progress) -> bool {
        if self.end.is_none() && until > self.now {
            self.pauses += 1;
            let order = OrderKey::new(kind::CHANGE, PAUSE_NODE, self.pauses);
            self.simulation.medium.queue.push(until, order, SimulationEvent::Pause);
            self.run(progress);
        }
        self.end.is_none()
    }

    fn run(&mut self, progress: &Progress) {
        let (end, at) = self.simulation.run_until_end(progress);
        self.now = at;
        self.end = (end != End::Paused).then_some((end, at));
    }

    /// The MAC counters of the switch port that receives from `link` ("sw2->sw6").
    ///
    /// # Errors
    /// A sentence, when there is no such link, or a host is behind it.
    pub fn receive_counters(&self, link: &str) -> Result<ReceiveCounters, String> {
        let directed = self.link(link)?;
        let endpoint = self.endpoint(directed, LinkEnd::Receiver);
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!("'{link}' ends at a host, and only switches show their counters"));
        };
        let mac = self.simulation.switches[switch.0 as usize].mac(endpoint.port);
        Ok(ReceiveCounters { frames_ok: mac.frames_received_ok, frames_all: mac.frames_received_all })
    }

    /// Has one end of a link protect it, from now on, with `copies` of each lost packet.
    ///
    /// # Errors
    /// A sentence, when no LinkGuardian is configured on `link`.
    pub fn protect(&mut self, link: &str, end: LinkEnd, copies: u8, mode: Mode) -> Result<(), String> {
        if copies == 0 {
            return Err("at least one copy is retransmitted of a lost packet".into());
        }
        self.command(link, end, Action::Protect { copies, mode })
    }

    /// Has one end of a link stop protecting it.
    ///
    /// # Errors
    /// A sentence, when no LinkGuardian is configured on `link`.
    pub fn unprotect(&mut self, link: &str, end: LinkEnd) -> Result<(), String> {
        self.command(link, end, Action::Deactivate)
    }

    /// What the mechanisms have counted so far: the table of that name.
    pub fn mechanisms(&self) -> Table {
        self.simulation.mechanisms(&self.simulation.reports(self.now))
    }

    /// Runs to the end of the scenario and closes the books.
    pub fn finish(mut self, progress: &Progress) -> Outcome {
        while self.end.is_none() {
            self.run(progress);
        }
        let (end, ended_at) = self.end.expect("the loop ran until there was an end");
        self.simulation.close(end, ended_at)
    }

    fn command(&mut self, link: &str, end: LinkEnd, action: Action) -> Result<(), String> {
        let directed = self.link(link)?;
        if !self.is_guarded(directed) {
            return Err(format!("no LinkGuardian is configured on '{link}'"));
        }
        let endpoint = self.endpoint(directed, end);
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!("'{link}' ends at a host: both ends of a protected link are switches"));
        };
        let mut reports = self.simulation.switches[switch.0 as usize].reports(self.now);
        let mechanism = reports.position(|report| report.mechanism == "linkguardian");
        drop(reports);
        let mechanism = mechanism.expect("both ends of a guarded link run LinkGuardian");
        let command = Command { port: endpoint.port, end, action }.number();
        self.simulation.apply(self.now, Change::Command { switch: switch.0, mechanism, command });
        Ok(())
    }

    fn is_guarded(&self, link: DirectedLink) -> bool {
        self.simulation.scenario.mechanisms.iter().any(|settings| match settings {
            MechanismSettings::LinkGuardian(settings) => {
                select_links(&self.simulation.topology, &settings.link).is_ok_and(|links| links.contains(&link))
            }
            MechanismSettings::Sqr(_) | MechanismSettings::Afq(_) => false,
        })
    }

    fn link(&self, name: &str) -> Result<DirectedLink, String> {
        match *select_links(&self.simulation.topology, name)? {
            [link] => Ok(link),
            _ => Err(format!("'{name}' is both directions of a link, and one is wanted: \"a->b\"")),
        }
    }

    fn endpoint(&self, link: DirectedLink, end: LinkEnd) -> Endpoint {
        let (from, to) = self.simulation.topology.ends(link);
        match end {
            LinkEnd::Sender => from,
            LinkEnd::Receiver => to,
        }
    }
}
