//! A run that somebody drives: it stops at times of their choosing, shows counters, and takes commands.
//!
//! What a control plane does to a switch. A session that is given no commands runs as [`crate::Simulation::run`] does,
//! to the same trace: stopping leaves no mark.

use hitless_core::engine::Progress;
use hitless_core::wire::{PortId, Time};
use hitless_scenario::Scenario;
use hitless_scenario::kind::ProtectionOrder;
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::LossModel;
use hitless_scenario::network::topology::select::{SwitchPort, select_links};
use hitless_scenario::network::topology::{self, DirectedLink, Node};
use hitless_switch::{LinkEnd, Switch};

use super::build::build;
use super::control_plane::Change;
use super::edge::Closed;
use super::event_loop::Run;
use super::global::End;
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

/// A run in steps.
pub struct Session {
    run: Run<Closed>,
    now: Time,
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
        Ok(Self { run, now: Time::ZERO, end: None })
    }

    /// Up to where the run has come.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Runs up to `until`: what is due before it has happened, what is due then has not. False when the run has
    /// ended; a time that has passed changes nothing.
    pub fn advance(&mut self, until: Time, progress: &Progress) -> bool {
        if self.end.is_none() && until > self.now {
            let (end, at) = self.go_on(until, progress);
            // A run until a time ends where nothing is left before it: not in a step that ends sooner.
            let goes_on = end == End::Paused || (end == End::Duration && at >= until);
            self.now = if goes_on { until } else { at };
            self.end = (!goes_on).then_some((end, at));
        }
        self.end.is_none()
    }

    /// Whoever asks `progress` for a pause gets none here.
    fn go_on(&mut self, until: Time, progress: &Progress) -> (End, Time) {
        loop {
            let reached = self.run.run_before(until, progress);
            if reached.0 != End::Paused || self.run.next_time().is_none_or(|next| next >= until) {
                return reached;
            }
        }
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

    /// Has a link go down, in the directions that its name means. With `[recovery]` the ends of a link that goes down
    /// both ways find out, and do what it says.
    ///
    /// # Errors
    /// A sentence, when there is no such link.
    pub fn fail(&mut self, link: &str) -> Result<(), String> {
        self.set_state(link, LinkState::Down)
    }

    /// Has a link come up again.
    ///
    /// # Errors
    /// A sentence, when there is no such link.
    pub fn repair(&mut self, link: &str) -> Result<(), String> {
        self.set_state(link, LinkState::Up)
    }

    /// Has frames of a link be corrupted as `model` says from now on, in the directions that its name means.
    ///
    /// # Errors
    /// A sentence, when there is no such link.
    pub fn corrupt(&mut self, link: &str, model: &LossModel) -> Result<(), String> {
        let now = self.now;
        let links = self.links(link)?;
        links.into_iter().for_each(|link| self.run.apply(now, Change::Loss { link, model: model.clone() }));
        Ok(())
    }

    /// Bytes that wait at each port of each switch: the link that the port sends on, and how many.
    pub fn queues(&mut self) -> Table {
        let topology = self.run.topology();
        let port_count = |switch| topology.switch(switch).ports.len() as u16;
        let ports = topology.switch_ids().flat_map(|switch| (0..port_count(switch)).map(move |port| (switch, port)));
        let named: Vec<_> = ports
            .map(|(switch, port)| SwitchPort { switch, port: PortId(port) })
            .map(|at| (at, at.name(topology)))
            .collect();
        let now = self.now;
        let bytes = |(at, name): (SwitchPort, String)| (name, self.run.port_bytes(now, at.switch, at.port));
        let rows: Vec<_> = named.into_iter().map(bytes).collect();
        Table::new("queues").text("port", &rows, |row| row.0.clone()).unsigned("value_bytes", &rows, |row| row.1)
    }

    /// Ports of switches that have a packet which may go, and nothing that will send it: each a bug.
    pub fn idle_queues(&self) -> Vec<String> {
        let switches = self.run.network.switches.iter().zip(&self.run.topology().switches);
        let of_switch = |(switch, known): (&Switch, &topology::Switch)| {
            switch.idle_ports().map(|port| format!("port {} of {} idles", port.0, known.name)).collect::<Vec<_>>()
        };
        switches.flat_map(of_switch).collect()
    }

    /// What the mechanisms have counted so far: the table of that name.
    pub fn mechanisms(&self) -> Table {
        tables::mechanisms(self.run.topology(), &self.run.reports(self.now))
    }

    /// Runs to the end of the scenario, and checks conservation.
    pub fn finish(mut self, progress: &Progress) -> Outcome {
        let (end, ended_at) = self.end.unwrap_or_else(|| self.go_on(Time::NEVER, progress));
        close(self.run, end, ended_at)
    }

    fn links(&self, name: &str) -> Result<Vec<DirectedLink>, String> {
        select_links(self.run.topology(), name)
    }

    /// As of a failure that a live run is told of: a link that is down both ways is noticed, if anything notices.
    fn set_state(&mut self, name: &str, state: LinkState) -> Result<(), String> {
        let now = self.now;
        self.run.state_changes(&self.links(name)?, state).into_iter().for_each(|change| self.run.apply(now, change));
        Ok(())
    }

    fn command(&mut self, link: &str, end: LinkEnd, order: ProtectionOrder) -> Result<(), String> {
        let command = self.run.protection().command(link, end, order)?;
        self.run.apply(self.now, command);
        Ok(())
    }
}
