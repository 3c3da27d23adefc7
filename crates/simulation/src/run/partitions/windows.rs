//! The sequence of windows and run-wide events of a run in partitions.

use hitless_core::engine::Progress;
use hitless_core::wire::{Duration, Time};
use hitless_switch::canary::{Canary, sings};

use super::team::Team;
use super::trial::Trial;
use super::whole::{Due, Whole};
use crate::run::edge::Closed;
use crate::run::event::SimulationEvent;
use crate::run::event_loop::DRAIN_LIMIT;
use crate::run::global::{End, Global};
use crate::run::stalls::View;
use crate::run::streaming::hand_over_of;

/// How a run ended, with the number of run-wide events and the time of the last one.
pub struct Ended {
    pub end: End,
    pub ended_at: Time,
    pub events: u64,
    pub now: Time,
}

/// A run in partitions, in progress.
pub struct Course<'a> {
    pub global: &'a mut Global,
    pub whole: Whole<'a>,
    pub team: Team<'a>,
    /// Minimum delay from one partition to another.
    pub lookahead: Duration,
    pub progress: &'a Progress,
    /// The trial of this run against an undivided one, until it is passed.
    pub trial: &'a mut Option<Trial>,
}

impl Course<'_> {
    /// Runs to the end of the scenario; drains the network if every flow is done.
    pub fn run(mut self) -> Ended {
        self.start();
        let deadline = self.global.deadline();
        let (end, ended_at) = self.run_until(deadline);
        if end == End::AllFlowsDone {
            self.drain(ended_at);
        }
        self.team.settle();
        self.global.explanation = Some(self.viewed(ended_at, |view| view.explain()));
        self.team.each(|partition| {
            let (hosts, mut environment) = partition.network.hosts();
            hosts.end_run(ended_at, &mut environment);
        });
        Ended { end, ended_at, events: self.whole.events, now: self.whole.now }
    }

    fn start(&mut self) {
        self.team.each(|partition| partition.network.start());
        self.global.control_plane.start(&mut self.whole);
        self.global.samplers.start(&mut self.whole);
        self.team.exchange();
    }

    fn run_until(&mut self, deadline: Time) -> (End, Time) {
        let limit = Time(deadline.0.saturating_add(1));
        loop {
            if self.global.check_done(self.team.flows_ended()) {
                return (End::AllFlowsDone, self.team.last_ended());
            }
            if self.progress.is_cancelled() {
                return (End::Cancelled, self.now());
            }
            if self.team.claim_housekeeping() {
                self.hand_over_rows();
                self.progress.tell(self.global.done_ppm(self.now(), self.team.messages()));
                self.answer();
            }
            let due = self.whole.due();
            let next = self.team.next_time().min(self.global.flow_starts.next_start());
            let end = due.end().min(limit);
            if self.judge_trial(next) {
                return (End::Paused, self.now());
            }
            if next < end {
                self.window(next, end);
            } else if next == Time::NEVER && due == Due::Nothing {
                return self.global.end_of_events(self.now());
            } else if due.at() <= deadline {
                self.happen(due);
            } else {
                return (End::Duration, deadline);
            }
        }
    }

    /// Ends a trial that this run has passed, if all events before `next` are handled. Returns whether it is lost.
    fn judge_trial(&mut self, next: Time) -> bool {
        let Some(trial) = self.trial else { return false };
        if self.team.elapsed() > trial.limit {
            return true;
        }
        if next > trial.until {
            self.global.streaming = trial.streaming.take();
            *self.trial = None;
        }
        false
    }

    /// Runs all partitions from the first event, `next`, through one lookahead, within which no partition can affect
    /// another; at most up to `limit`.
    fn window(&mut self, next: Time, limit: Time) {
        let beyond = Duration(1_000 * u64::from(sings(Canary::WideWindow)));
        // Whatever a partition sends from `next` on arrives at least one lookahead later, hence after the window.
        let end = (next + self.lookahead + beyond).min(limit);
        assert!(end > next, "a window from {next} to {end} has no event");
        let Global { flow_starts, scenario, .. } = self.global;
        flow_starts.add_before(end, scenario, &mut self.whole);
        self.team.run_before(end, self.trial.is_some());
    }

    /// Hands over the flows that have ended, if there are enough.
    fn hand_over_rows(&mut self) {
        let now = self.now();
        let Global { scenario, flow_starts, samplers, streaming: Some(streaming), totals, .. } = self.global else {
            return;
        };
        if !streaming.is_due(self.team.records()) {
            return;
        }
        samplers.add_ended(&self.whole);
        // Packets in the mail between two partitions exist too: deliver them first.
        self.team.settle();
        let over = self.team.all(|partitions| {
            let mut networks: Vec<_> = partitions.iter_mut().map(|partition| &mut partition.network).collect();
            hand_over_of(&mut networks, now, scenario, flow_starts.specs(), streaming, totals)
        });
        for flow in over {
            flow_starts.let_go(flow);
            self.whole.let_go(flow);
        }
    }

    /// Answers a question about the present state.
    fn answer(&mut self) {
        if self.progress.takes_question() {
            // Packets in the mail between two partitions are on their way: deliver them first.
            self.team.settle();
            let text = self.viewed(self.now(), |view| view.report());
            self.progress.answer(self.whole.events + self.team.events(), text);
        }
    }

    fn viewed<T>(&self, now: Time, look: impl FnOnce(&View<'_, Closed>) -> T) -> T {
        self.team.all(|partitions| {
            let networks: Vec<_> = partitions.iter().map(|partition| &partition.network).collect();
            look(&View { global: self.global, networks: &networks, division: Some(self.whole.division()), now })
        })
    }

    /// Handles a run-wide event.
    fn happen(&mut self, due: Due) {
        // A link is inspected in the partition of its end, so its frames must have been delivered there.
        self.team.settle();
        let Some((now, event)) = self.whole.take(due) else { return };
        let Global { control_plane, samplers, flow_starts, .. } = self.global;
        match event {
            SimulationEvent::Change => control_plane.apply_due(now, &mut self.whole),
            SimulationEvent::Recovery(event) => control_plane.recover(now, event, &mut self.whole),
            SimulationEvent::Sample { sampler } => {
                samplers.sample(now, sampler as usize, &mut self.whole, flow_starts.specs());
            }
            other => unreachable!("{other:?} is no event of a whole run"),
        }
        self.team.exchange();
    }

    /// Drains the network like `Run::drain` on one thread.
    fn drain(&mut self, ended_at: Time) {
        self.global.control_plane.stop();
        self.whole.stop_sampling();
        let limit = ended_at + DRAIN_LIMIT;
        loop {
            let due = self.whole.due();
            let next = self.team.next_time();
            let end = due.end().min(limit);
            if next < end {
                self.window(next, end);
            } else if due.at() < limit {
                self.happen(due);
            } else {
                return;
            }
        }
    }

    fn now(&self) -> Time {
        self.team.now().max(self.whole.now)
    }
}
