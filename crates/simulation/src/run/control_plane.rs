//! The control plane: what changes during a run by schedule (faults, commands), and what is done about failures.

use hitless_core::engine::RandomStreams;
use hitless_core::wire::Time;
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::LossModel;
use hitless_scenario::network::topology::{DirectedLink, LinkId};

use super::event::{RecoveryEvent, SimulationEvent};
use super::fabric::Fabric;
use super::recovery::Recovery;

/// One change.
#[derive(Clone, Debug)]
pub enum Change {
    /// From now on frames of this link are corrupted so.
    Loss {
        /// The link.
        link: DirectedLink,
        /// Which frames are.
        model: LossModel,
    },
    /// A link goes down or comes up, in one direction, and its ends do not find out.
    State {
        /// The link.
        link: DirectedLink,
        /// What it is from now on.
        state: LinkState,
    },
    /// Somebody cuts a link both ways, and its ends find out.
    Cut(LinkId),
    /// Somebody mends it.
    Mend(LinkId),
    /// A command for a mechanism of a switch.
    Command {
        /// The switch.
        switch: u32,
        /// Which of its mechanisms.
        mechanism: usize,
        /// The number by which the mechanism knows the command.
        command: u32,
    },
}

/// The name of the stream that decides which frames of a link are corrupted.
pub(super) fn loss_stream_name(link: DirectedLink) -> String {
    format!("link {} loss", link.index())
}

/// The schedule of changes, and the recovery from failures.
pub(super) struct ControlPlane {
    streams: RandomStreams,
    /// In the order of their times.
    changes: Vec<(Time, Change)>,
    next: usize,
    pub recovery: Recovery,
}

hitless_core::state!(ControlPlane { values: next; parts: recovery; configured: streams, changes });

impl ControlPlane {
    /// With these changes to come, in any order.
    pub fn new(streams: RandomStreams, mut changes: Vec<(Time, Change)>, recovery: Recovery) -> Self {
        changes.sort_by_key(|&(at, _)| at);
        Self { streams, changes, next: 0, recovery }
    }

    pub fn start<F: Fabric>(&mut self, network: &mut F) {
        self.schedule_next(network);
        self.recovery.start(network);
    }

    /// Nothing changes by schedule any more, and no link fails.
    pub fn stop(&mut self) {
        self.next = self.changes.len();
        self.recovery.stop();
    }

    fn schedule_next<F: Fabric>(&self, network: &mut F) {
        let Some(&(at, _)) = self.changes.get(self.next) else { return };
        network.schedule(at, SimulationEvent::Change);
    }

    /// Makes the changes that are due.
    pub fn apply_due<F: Fabric>(&mut self, now: Time, network: &mut F) {
        while let Some((at, change)) = self.changes.get(self.next).filter(|(at, _)| *at <= now) {
            debug_assert!(*at == now, "a change of {} ps was passed over", at.as_ps());
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
            Change::State { link, state } => network.set_link_state(now, link, state),
            Change::Cut(link) => self.recovery.cut(now, link, network),
            Change::Mend(link) => self.recovery.mend(now, link, network),
            Change::Command { switch, mechanism, command } => network.command(now, switch, mechanism, command),
        }
    }

    /// Gives links the loss models again that the changes so far have given them; what came of these is loaded then.
    pub fn repeat_losses<F: Fabric>(&self, network: &mut F) {
        for (_, change) in self.changes.iter().take(self.next) {
            if let Change::Loss { link, model } = change {
                network.set_loss(*link, model, || self.streams.stream(&loss_stream_name(*link)));
            }
        }
    }

    pub fn recover<F: Fabric>(&mut self, now: Time, event: RecoveryEvent, network: &mut F) {
        self.recovery.handle(now, event, network);
    }
}
