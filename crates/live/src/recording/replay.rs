//! Repeats a recorded run in simulation.

use std::collections::VecDeque;
use std::fmt;
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};

use hitless_core::wire::{PortId, QueueId, Time};
use hitless_scenario::kind::Registry;
use hitless_simulation::Outcome;
use hitless_switch::DropReason;

use super::read::{Reader, Record};
use crate::fabric::{Action, Decision, LiveCommand, LiveFabric, Witness};

/// The first decision that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Number of equal decisions before it.
    pub after: u64,
    /// The live decision; `None` if there were no more.
    pub live: Option<Decision>,
    /// The replayed decision; `None` if there were no more.
    pub replayed: Option<Decision>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |decision: &Option<Decision>| decision.map_or("nothing more".to_owned(), |one| one.to_string());
        writeln!(f, "after {} equal decisions", self.after)?;
        writeln!(f, "  live:     {}", show(&self.live))?;
        write!(f, "  replayed: {}", show(&self.replayed))
    }
}

#[derive(Debug)]
pub struct Replay {
    pub arrivals: u64,
    pub commands: u64,
    /// Frames that interfaces had no room for: they left the model, but not the machine.
    pub refusals: u64,
    pub equal: u64,
    pub divergence: Option<Divergence>,
    pub is_complete: bool,
    /// The results of the simulated run.
    pub outcome: Outcome,
}

/// Repeats the run of a recording and compares decisions, up to the first difference. `registry` holds the kinds of its
/// mechanisms.
///
/// # Errors
/// A sentence, if the input is not a recording, or this version rejects its scenario.
pub fn replay<R: Read>(recording: R, registry: &Registry) -> Result<Replay, String> {
    play(recording, registry, None)
}

/// Plays the frames and commands of a recording in another `scenario` with the same hosts and switches, for example
/// with a mechanism instead of an equivalent program. Only the fates of packets are compared ([`Action::is_fate`]), not
/// queues or reasons.
pub fn replay_with<R: Read>(recording: R, scenario: &str, registry: &Registry) -> Result<Replay, String> {
    play(recording, registry, Some(scenario))
}

fn play<R: Read>(recording: R, registry: &Registry, other: Option<&str>) -> Result<Replay, String> {
    let (mut reader, mut header) = Reader::new(recording).map_err(|error| error.to_string())?;
    other.into_iter().for_each(|scenario| scenario.clone_into(&mut header.scenario));
    let mut player = Player::new(header.build(registry)?, other.is_some());
    while player.divergence.is_none()
        && let Some(record) = reader.next().map_err(|error| error.to_string())?
    {
        player.play(record)?;
    }
    player.finish()
}

/// Passes decisions to the player.
struct Listener(Sender<Decision>);

impl Witness for Listener {
    fn arrival(&mut self, _: Time, _: u16, _: &[u8]) {}
    fn command(&mut self, _: Time, _: &str) {}
    fn decision(&mut self, decision: Decision) {
        // The player outlives the fabric that sends to it.
        let _ = self.0.send(decision);
    }
}

struct Player {
    fabric: LiveFabric,
    heard: Receiver<Decision>,
    live: VecDeque<Decision>,
    replayed: VecDeque<Decision>,
    has_decisions: bool,
    /// Whether only the fates of packets are compared.
    fates_only: bool,
    /// Whether all decisions have been read.
    has_all: bool,
    arrivals: u64,
    commands: u64,
    refusals: u64,
    equal: u64,
    divergence: Option<Divergence>,
    is_complete: bool,
}

impl Player {
    fn new(mut fabric: LiveFabric, fates_only: bool) -> Self {
        let (sender, heard) = channel();
        fabric.watch(Box::new(Listener(sender)));
        Self {
            fabric,
            heard,
            live: VecDeque::new(),
            replayed: VecDeque::new(),
            has_decisions: false,
            fates_only,
            has_all: false,
            arrivals: 0,
            commands: 0,
            refusals: 0,
            equal: 0,
            divergence: None,
            is_complete: false,
        }
    }

    fn play(&mut self, record: Record) -> Result<(), String> {
        match record {
            Record::Arrival { at, point, bytes } => {
                self.arrivals += 1;
                self.fabric.receive_at(at, point, &bytes)?;
            }
            Record::Command { at, text } => {
                self.commands += 1;
                let command: LiveCommand = text.parse()?;
                self.fabric.command_at(at, &command)?;
            }
            Record::Decision(decision) => {
                self.has_decisions = true;
                // Later records happened after all events that are due by then.
                self.fabric.advance(decision.at);
                self.live.extend(self.compared(decision));
            }
            Record::Refusal { .. } => self.refusals += 1,
            Record::End { at } => {
                self.is_complete = true;
                self.fabric.advance(at);
            }
        }
        self.fabric.departures(|_, _| {});
        self.compare();
        Ok(())
    }

    /// Reduces a decision to the compared parts.
    fn compared(&self, decision: Decision) -> Option<Decision> {
        if !self.fates_only {
            return Some(decision);
        }
        let (queue, nowhere) = (QueueId(0), PortId(0));
        match decision.action {
            Action::Leave => Some(Decision { queue, ..decision }),
            Action::End(_) => {
                Some(Decision { action: Action::End(DropReason::Mechanism), port: nowhere, queue, ..decision })
            }
            action => action.is_fate().then_some(Decision { port: nowhere, queue, ..decision }),
        }
    }

    fn compare(&mut self) {
        let heard: Vec<Decision> = self.heard.try_iter().filter_map(|decision| self.compared(decision)).collect();
        self.replayed.extend(heard);
        if self.fates_only && !self.has_all {
            return;
        }
        while self.divergence.is_none() && !self.live.is_empty() && !self.replayed.is_empty() {
            let (live, replayed) = (self.live.pop_front(), self.replayed.pop_front());
            if live == replayed {
                self.equal += 1;
            } else {
                self.divergence = Some(Divergence { after: self.equal, live, replayed });
            }
        }
    }

    fn finish(mut self) -> Result<Replay, String> {
        if self.fates_only {
            // Fates at the same time have no defined order.
            self.has_all = true;
            let order = |one: &Decision| (one.at, one.packet, one.switch, one.port, one.action.number());
            self.live.make_contiguous().sort_by_key(order);
            self.replayed.make_contiguous().sort_by_key(order);
            self.compare();
        }
        // Decisions left on one side are a difference, except those after the end of a cut recording.
        let (live, replayed) = (self.live.pop_front(), self.replayed.pop_front());
        let is_more_than_was_recorded = live.is_none() && !self.is_complete;
        if self.divergence.is_none() && live != replayed && self.has_decisions && !is_more_than_was_recorded {
            self.divergence = Some(Divergence { after: self.equal, live, replayed });
        }
        let Self { arrivals, commands, refusals, equal, divergence, is_complete, .. } = self;
        let outcome = self.fabric.finish();
        Ok(Replay { arrivals, commands, refusals, equal, divergence, is_complete, outcome })
    }
}
