//! Saving a run between two events, and resuming it.

use hitless_core::engine::Progress;
use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::{Duration, Time};

use super::edge::Closed;
use super::event_loop::Run;
use super::global::{End, Global};
use super::outcome::close;
use super::simulation::Simulation;
use crate::checkpoint::{Mark, Refusal, checked, sealed};
use crate::results::Outcome;

impl State for Run<Closed> {
    fn save(&self, out: &mut Writer) {
        let Self { global, network, events, now } = self;
        let Global { scenario: _, control_plane, flow_starts, samplers, streaming: _, totals, explanation: _ } = global;
        assert!(network.shared.outbox.is_empty(), "a partition of a run has no checkpoints");
        control_plane.save(out);
        network.save(out);
        flow_starts.save(out);
        samplers.save(out);
        totals.save(out);
        out.value(events);
        out.value(now);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        let Self { global, network, events, now } = self;
        let Global { scenario: _, control_plane, flow_starts, samplers, streaming: _, totals, explanation: _ } = global;
        control_plane.load(from)?;
        // First, so that the saved state meets the loss models, rates and delays that it was saved from.
        control_plane.repeat_changes(network);
        network.load(from)?;
        flow_starts.load(from)?;
        samplers.load(from)?;
        totals.load(from)?;
        *events = from.value()?;
        *now = from.value()?;
        Ok(())
    }
}

/// A simulation that can write checkpoints and resume from one.
pub struct Resumable {
    run: Run<Closed>,
    program: String,
    scenario: String,
}

impl Resumable {
    /// Wraps `simulation`; `program` identifies the program's build in its checkpoints.
    ///
    /// # Errors
    /// If the run contains something that cannot be saved; the message names it.
    pub fn new(simulation: Simulation, program: &str) -> Result<Self, String> {
        let Some(run) = simulation.into_run() else {
            return Err("there are no checkpoints of a run with an autopsy: its ledgers are not saved".to_owned());
        };
        if run.global.streaming.is_some() {
            return Err("there are no checkpoints of a run that hands over its rows while it goes on".to_owned());
        }
        let switches = &run.network.switches;
        let mut kinds: Vec<_> = switches.iter().flat_map(|switch| switch.without_state()).collect();
        let controls = run.global.scenario.own_congestion();
        kinds.extend(controls.filter(|facts| !facts.has_checkpoints).map(|facts| facts.name));
        kinds.sort_unstable();
        kinds.dedup();
        if !kinds.is_empty() {
            let named = kinds.join("\", \"");
            return Err(format!("there are no checkpoints of a run with \"{named}\": what changes in it is not saved"));
        }
        let scenario = run.global.scenario.effective_toml();
        Ok(Self { run, program: program.to_owned(), scenario })
    }

    /// Schedules the first events. Call it once, unless the run resumes from a checkpoint.
    pub fn start(&mut self) {
        self.run.start();
    }

    /// Resumes from a checkpoint instead of the start.
    ///
    /// # Errors
    /// If the checkpoint is damaged or belongs to another program, scenario or seed. The simulation is unusable after
    /// an error.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        let (mark, body) = checked(bytes)?;
        mark.matches(&self.mark())?;
        let mut from = Reader::new(body);
        self.run.load(&mut from)?;
        from.finish()?;
        Ok(())
    }

    /// Encodes the run as a checkpoint.
    pub fn checkpoint(&self) -> Vec<u8> {
        let mut out = Writer::default();
        self.run.save(&mut out);
        sealed(&self.mark(), &out.finish())
    }

    /// Runs to the end. Hands a checkpoint to `keep` whenever `progress` requests a pause, and after each `every` of
    /// simulated time.
    ///
    /// # Errors
    /// If `keep` returns an error; the run stops there.
    pub fn run(
        mut self,
        every: Option<Duration>,
        progress: &Progress,
        mut keep: impl FnMut(Vec<u8>) -> Result<(), String>,
    ) -> Result<Outcome, String> {
        loop {
            let due = self.due(every);
            let (end, ended_at) = self.run.run_before(due, progress);
            if end != End::Paused {
                return Ok(close(self.run, end, ended_at));
            }
            keep(self.checkpoint())?;
        }
    }

    /// Handles all events before `until`. Returns false if the run has ended; it can only be closed then.
    pub fn advance(&mut self, until: Time) -> bool {
        self.run.run_before(until, &Progress::default()).0 == End::Paused
    }

    /// When the next checkpoint is due. It depends only on pending events, so a resumed run writes the same checkpoints
    /// as an uninterrupted one.
    fn due(&mut self, every: Option<Duration>) -> Time {
        let next = every.zip(self.run.next_time());
        next.map_or(Time::NEVER, |(every, next)| Time((next.as_ps() / every.as_ps() + 1).saturating_mul(every.as_ps())))
    }

    fn mark(&self) -> Mark {
        let (program, scenario) = (self.program.clone(), self.scenario.clone());
        Mark { program, scenario, seed: self.run.global.scenario.seed }
    }
}
