//! What changes during a run by schedule: faults and commands of the control plane.

use hitless_engine::RandomStreams;
use hitless_wire::Time;

use super::Simulation;
use super::environment::SwitchSide;
use super::event::{SimulationEvent, kind};
use crate::scenario::{LinkState, LossModel};
use crate::topology::{DirectedLink, LinkId};

/// One change.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// From now on frames of this link are corrupted so.
    Loss { link: DirectedLink, model: LossModel },
    /// A link goes down or comes up, in one direction.
    State { link: DirectedLink, state: LinkState },
    /// Somebody cuts a link both ways, and its ends find out.
    Cut { link: LinkId },
    /// Somebody mends it.
    Mend { link: LinkId },
    /// A command for a mechanism of a switch.
    Command { switch: u32, mechanism: usize, command: u32 },
}

/// The name of the stream that decides which frames of a link are corrupted.
pub(super) fn loss_stream_name(link: DirectedLink) -> String {
    format!("link {} loss", link.index())
}

impl Simulation {
    pub(super) fn schedule_next_change(&mut self) {
        let Some(&(at, _)) = self.changes.get(self.next_change) else { return };
        let order = self.medium.sequences.key(kind::CHANGE, 0);
        self.medium.queue.push(at, order, SimulationEvent::Change);
    }

    pub(super) fn apply_changes<const OUTSIDE: bool>(&mut self, now: Time) {
        while let Some((at, change)) = self.changes.get(self.next_change) {
            if *at > now {
                break;
            }
            let change = change.clone();
            self.next_change += 1;
            self.apply::<OUTSIDE>(now, change);
        }
        self.schedule_next_change();
    }

    pub(super) fn apply<const OUTSIDE: bool>(&mut self, now: Time, change: Change) {
        match change {
            Change::Loss { link, model } => {
                let line_rate = self.topology.link(link.link).settings.rate;
                let stream = || RandomStreams::new(self.scenario.seed).stream(&loss_stream_name(link));
                self.medium.links[link.index()].set_loss(&model, line_rate, stream);
            }
            Change::State { link, state } => self.medium.links[link.index()].set_state(now, state),
            Change::Cut { link } => self.cut_link(now, link),
            Change::Mend { link } => self.mend_link(now, link),
            Change::Command { switch, mechanism, command } => {
                let mut side = SwitchSide::<OUTSIDE> { medium: &mut self.medium, hosts: &mut self.hosts, switch };
                self.switches[switch as usize].command(now, mechanism, command, &mut side);
            }
        }
    }
}
