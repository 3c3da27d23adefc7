//! A run that somebody drives: it stops at times of their choosing, shows counters, and takes commands.
//!
//! What a control plane does to a switch. A session that is given no commands runs as [`crate::Simulation::run`] does,
//! to the same trace: stopping leaves no mark.

use hitless_engine::{OrderKey, Progress};
use hitless_network::topology::Node;
use hitless_scenario::Scenario;
use hitless_scenario::kind::ProtectionOrder;
use hitless_switch::LinkEnd;
use hitless_wire::Time;

use super::build::build;
use super::edge::Closed;
use super::event::{SimulationEvent, kind};
use super::event_loop::{End, Run};
use super::outcome::close;
use super::tables;
use crate::results::{Outcome, Table};

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
    run: Run<Closed>,
    now: Time,
    pauses: u64,
    end: Option<(End, Time)>,
}

impl Session {
    /// Builds what `scenario` describes and starts it at time 0.
    ///
    /// # Errors
    /// As [`crate::Simulation::new`].
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        let mut run = build(scenario, None, Closed)?;
        run.start();
        Ok(Self { run, now: Time::ZERO, pauses: 0, end: None })
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
            self.run.network.shared.queue.push(until, order, SimulationEvent::Pause);
            self.go_on(progress);
        }
        self.end.is_none()
    }

    fn go_on(&mut self, progress: &Progress) {
        let (end, at) = self.run.run_until_end(progress);
        self.now = at;
        self.end = (end != End::Paused).then_some((end, at));
    }

    /// The MAC counters of the switch port that receives from `link` ("sw2->sw6").
    ///
    /// # Errors
    /// A sentence, when there is no such link, or a host is behind it.
    pub fn receive_counters(&self, link: &str) -> Result<ReceiveCounters, String> {
        let protection = self.run.protection();
        let endpoint = protection.endpoint(protection.directed_link(link)?, LinkEnd::Receiver);
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!("'{link}' ends at a host, and only switches show their counters"));
        };
        let mac = self.run.network.switches[switch.0 as usize].mac(endpoint.port);
        Ok(ReceiveCounters { frames_ok: mac.frames_received_ok, frames_all: mac.frames_received_all })
    }

    /// Has one end of a link protect it, from now on, with `copies` of each lost packet, in order or not.
    ///
    /// # Errors
    /// A sentence, when no protection that can be switched on is configured on `link`.
    pub fn protect(&mut self, link: &str, end: LinkEnd, copies: u8, keeps_order: bool) -> Result<(), String> {
        if copies == 0 {
            return Err("at least one copy is retransmitted of a lost packet".into());
        }
        self.command(link, end, ProtectionOrder::On { copies, keeps_order })
    }

    /// Has one end of a link stop protecting it.
    ///
    /// # Errors
    /// A sentence, when no protection that can be switched off is configured on `link`.
    pub fn unprotect(&mut self, link: &str, end: LinkEnd) -> Result<(), String> {
        self.command(link, end, ProtectionOrder::Off)
    }

    /// What the mechanisms have counted so far: the table of that name.
    pub fn mechanisms(&self) -> Table {
        tables::mechanisms(self.run.topology(), &self.run.reports(self.now))
    }

    /// Runs to the end of the scenario, and checks conservation.
    pub fn finish(mut self, progress: &Progress) -> Outcome {
        while self.end.is_none() {
            self.go_on(progress);
        }
        let (end, ended_at) = self.end.expect("the loop ran until there was an end");
        close(self.run, end, ended_at)
    }

    fn command(&mut self, link: &str, end: LinkEnd, order: ProtectionOrder) -> Result<(), String> {
        let command = self.run.protection().command(link, end, order)?;
        self.run.apply(self.now, command);
        Ok(())
    }
}
