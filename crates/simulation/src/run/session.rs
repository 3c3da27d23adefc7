//! A run driven step by step: it stops at chosen times, shows counters, and takes commands.
//!
//! It offers what a control plane can do to a switch. A session without commands produces the same trace as
//! [`crate::Simulation::run`]: stopping leaves no trace.

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

/// Counters of the MAC at the receiving end of a link since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveCounters {
    /// Frames received intact: `framesRxOk`.
    pub frames_ok: u64,
    /// All frames received, including corrupted ones: `framesRxAll`.
    pub frames_all: u64,
}

/// A run driven step by step.
pub struct Session {
    run: Run<Closed>,
    now: Time,
    end: Option<(End, Time)>,
}

impl Session {
    /// Builds the run of `scenario` and starts it at time 0.
    ///
    /// # Errors
    /// The same as those of [`crate::Simulation::new`]; with an autopsy.
    pub fn new(scenario: Scenario) -> Result<Self, String> {
        if scenario.measure.autopsy {
            return Err(
                "an autopsy divides the times of a whole run: remove measure.autopsy to run in steps".to_owned()
            );
        }
        let mut run = build(scenario, None, Closed)?;
        run.start();
        Ok(Self { run, now: Time::ZERO, end: None })
    }

    /// The time up to which the run has advanced.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Advances to `until`: handles all events before it and none at it. Returns false if the run has ended. A time in
    /// the past has no effect.
    pub fn advance(&mut self, until: Time, progress: &Progress) -> bool {
        if self.end.is_none() && until > self.now {
            let (end, at) = self.go_on(until, progress);
            // A run with a fixed duration also reports its end if no event is left before its deadline. If this step
            // stops before the deadline, the run goes on.
            let goes_on = end == End::Paused || (end == End::Duration && at >= until);
            self.now = if goes_on { until } else { at };
            self.end = (!goes_on).then_some((end, at));
        }
        self.end.is_none()
    }

    /// Runs to `until` and ignores pauses requested through `progress`.
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
    /// If no such link exists, or a host is at its end; the message is a sentence.
    pub fn receive_counters(&self, link: &str) -> Result<ReceiveCounters, String> {
        let protection = self.run.protection();
        let endpoint = protection.endpoint(protection.directed_link(link)?, LinkEnd::Receiver);
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!("'{link}' ends at a host, and only switches show their counters"));
        };
        let mac = self.run.network.switches[switch.0 as usize].mac(endpoint.port);
        Ok(ReceiveCounters { frames_ok: mac.frames_received_ok, frames_all: mac.frames_received_all })
    }

    /// Switches protection on at one end of a link, with `copies` retransmissions of each lost packet, with or without
    /// preserved order.
    ///
    /// # Errors
    /// If `link` lacks protection that can be switched on; the message is a sentence.
    pub fn protect(&mut self, link: &str, end: LinkEnd, copies: u8, keeps_order: bool) -> Result<(), String> {
        if copies == 0 {
            return Err("at least one copy is retransmitted of a lost packet".into());
        }
        self.command(link, end, ProtectionOrder::On { copies, keeps_order })
    }

    /// Switches protection off at one end of a link.
    ///
    /// # Errors
    /// If `link` lacks protection that can be switched off; the message is a sentence.
    pub fn unprotect(&mut self, link: &str, end: LinkEnd) -> Result<(), String> {
        self.command(link, end, ProtectionOrder::Off)
    }

    /// Takes a link down, in the directions that its name covers. With `[recovery]`, the ends of a link that goes down
    /// in both directions detect it and recover.
    ///
    /// # Errors
    /// If no such link exists, or if credits would be lost for ever; the message is a sentence.
    pub fn fail(&mut self, link: &str) -> Result<(), String> {
        self.require_repair_of_credits()?;
        self.set_state(link, LinkState::Down)
    }

    /// Brings a link up again.
    ///
    /// # Errors
    /// If no such link exists; the message is a sentence.
    pub fn repair(&mut self, link: &str) -> Result<(), String> {
        self.set_state(link, LinkState::Up)
    }

    /// Sets the loss model of a link, in the directions that its name covers.
    ///
    /// # Errors
    /// If no such link exists, or if credits would be lost for ever; the message is a sentence.
    pub fn corrupt(&mut self, link: &str, model: &LossModel) -> Result<(), String> {
        self.require_repair_of_credits()?;
        let now = self.now;
        let links = self.links(link)?;
        links.into_iter().for_each(|link| self.run.apply(now, Change::Loss { link, model: model.clone() }));
        Ok(())
    }

    /// Table of the bytes queued at each switch port, named by the link that the port sends on.
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

    /// Switch ports that hold a packet ready to send but have no event that will send it; each is a bug.
    pub fn idle_queues(&self) -> Vec<String> {
        let switches = self.run.network.switches.iter().zip(&self.run.topology().switches);
        let of_switch = |(switch, known): (&Switch, &topology::Switch)| {
            switch.idle_ports().map(|port| format!("port {} of {} idles", port.0, known.name)).collect::<Vec<_>>()
        };
        switches.flat_map(of_switch).collect()
    }

    /// The table "mechanisms" of the counters so far.
    pub fn mechanisms(&self) -> Table {
        tables::mechanisms(self.run.topology(), &self.run.reports(self.now))
    }

    /// Describes the present state: flows by group, and the causes of stalls.
    pub fn report(&self) -> String {
        self.run.viewed(self.now, |view| view.report())
    }

    /// Runs to the end of the scenario and checks the packet balance.
    pub fn finish(mut self, progress: &Progress) -> Outcome {
        let (end, ended_at) = self.end.unwrap_or_else(|| self.go_on(Time::NEVER, progress));
        close(self.run, end, ended_at)
    }

    fn links(&self, name: &str) -> Result<Vec<DirectedLink>, String> {
        select_links(self.run.topology(), name)
    }

    fn require_repair_of_credits(&self) -> Result<(), String> {
        let scenario = &self.run.global.scenario;
        if scenario.switch.cbfc.is_some() && !scenario.repairs_credits() {
            let rule = "switch.cbfc repairs lost credits only if the scenario says that links lose frames";
            return Err(format!("{rule}: add a [[failure]] or a loss in [[link]]"));
        }
        Ok(())
    }

    /// Like a failure in a live run: the ends detect it if both directions go down and detection is configured.
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
