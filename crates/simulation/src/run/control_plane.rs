//! The control plane: scheduled changes during a run (faults, commands), and the recovery from failures.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::{BitRate, Duration, Time};
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::LossModel;
use hitless_scenario::network::topology::{DirectedLink, LinkId};

use super::event::{RecoveryEvent, SimulationEvent};
use super::fabric::Fabric;
use super::recovery::Recovery;

/// A change during a run.
#[derive(Clone, Debug)]
pub enum Change {
    /// A link gets a new loss model.
    Loss { link: DirectedLink, model: LossModel },
    /// Rate of a line, for later frames.
    Rate { link: DirectedLink, rate: BitRate, clock_offset_ppb: i32 },
    /// Delay of a link, coding included, for later frames.
    Delay { link: DirectedLink, delay: Duration },
    /// One direction of a link goes down or up without failure detection.
    State { link: DirectedLink, state: LinkState },
    /// A link is cut in both directions; its ends detect it.
    Cut(LinkId),
    /// A cut link is repaired.
    Mend(LinkId),
    /// A command for a mechanism of a switch.
    Command {
        switch: u32,
        /// The index of the mechanism in the switch.
        mechanism: usize,
        /// The mechanism's number for the command.
        command: u32,
    },
}

/// The name of a link's random stream for corruption.
pub(super) fn loss_stream_name(link: DirectedLink) -> String {
    format!("link {} loss", link.index())
}

/// The schedule of changes, and the recovery from failures.
#[derive(hitless_core::state::State)]
pub(super) struct ControlPlane {
    #[configured]
    streams: RandomStreams,
    /// Sorted by time.
    #[configured]
    changes: Vec<(Time, Change)>,
    next: usize,
    #[part]
    pub recovery: Recovery,
}

impl ControlPlane {
    /// Creates a control plane with these scheduled changes, in any order.
    pub fn new(streams: RandomStreams, mut changes: Vec<(Time, Change)>, recovery: Recovery) -> Self {
        changes.sort_by_key(|&(at, _)| at);
        Self { streams, changes, next: 0, recovery }
    }

    pub fn start<F: Fabric>(&mut self, network: &mut F) {
        self.schedule_next(network);
        self.recovery.start(network);
    }

    /// Cancels all further scheduled changes and failures.
    pub fn stop(&mut self) {
        self.next = self.changes.len();
        self.recovery.stop();
    }

    fn schedule_next<F: Fabric>(&self, network: &mut F) {
        let Some(&(at, _)) = self.changes.get(self.next) else { return };
        network.schedule(at, SimulationEvent::Change);
    }

    /// Applies the changes that are due.
    pub fn apply_due<F: Fabric>(&mut self, now: Time, network: &mut F) {
        while let Some((at, change)) = self.changes.get(self.next).filter(|(at, _)| *at <= now) {
            assert!(*at == now, "a change of {} ps was passed over", at.as_ps());
            let change = change.clone();
            self.next += 1;
            self.apply(now, change, network);
        }
        self.schedule_next(network);
    }

    pub fn apply<F: Fabric>(&mut self, now: Time, change: Change, network: &mut F) {
        match change {
            Change::Loss { link, model } => {
                network.set_loss(link, &model, || self.streams.stream(&loss_stream_name(link)));
            }
            Change::Rate { link, rate, clock_offset_ppb } => network.set_rate(now, link, rate, clock_offset_ppb),
            Change::Delay { link, delay } => {
                let before = network.set_delay(link, delay);
                // A link never reorders.
                network.hold_line(link, before.saturating_sub(delay));
            }
            Change::State { link, state } => network.set_link_state(now, link, state),
            Change::Cut(link) => self.recovery.cut(now, link, network),
            Change::Mend(link) => self.recovery.mend(now, link, network),
            Change::Command { switch, mechanism, command } => network.command(now, switch, mechanism, command),
        }
    }

    /// Repeats the loss models, rates, delays and withdrawals made before a checkpoint; loading the checkpoint then
    /// restores their state.
    pub fn repeat_changes<F: Fabric>(&self, network: &mut F) {
        for &(at, ref change) in self.changes.iter().take(self.next) {
            match change {
                Change::Loss { link, model } => {
                    network.set_loss(*link, model, || self.streams.stream(&loss_stream_name(*link)));
                }
                &Change::Rate { link, rate, clock_offset_ppb } => network.set_rate(at, link, rate, clock_offset_ppb),
                &Change::Delay { link, delay } => {
                    network.set_delay(link, delay);
                }
                _ => {}
            }
        }
        let withdrawn = self.recovery.withdrawn();
        if withdrawn.keys().any(|links| !links.is_empty()) {
            network.withdraw(&withdrawn);
        }
    }

    pub fn recover<F: Fabric>(&mut self, now: Time, event: RecoveryEvent, network: &mut F) {
        self.recovery.handle(now, event, network);
    }
}
