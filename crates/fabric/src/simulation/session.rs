//! A run that somebody drives: it stops at times of their choosing, shows counters, and takes commands.
//!
//! What a control plane does to a switch. A session that is given no commands runs as [`Simulation::run`] does, to
//! the same trace: stopping leaves no mark.

use hitless_engine::{OrderKey, Progress};
use hitless_mechanisms::linkguardian::{Action, LinkEnd, Mode};
use hitless_wire::Time;

use super::event::{SimulationEvent, kind};
use super::{End, Simulation};
use crate::results::{Outcome, Table};
use crate::scenario::Scenario;
use crate::topology::Node;

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
        simulation.start::<false>();
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
        let directed = self.simulation.directed_link(link)?;
        let endpoint = self.simulation.endpoint(directed, LinkEnd::Receiver);
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
        let command = self.simulation.guardian_command(link, end, action)?;
        self.simulation.apply::<false>(self.now, command);
        Ok(())
    }
}
