//! The loop over events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hitless_core::engine::Progress;

use crate::network::Network;
use crate::policy::{Deployment, Policy};
use crate::protection::{Effects, Protection};
use crate::repair::{Delays, Repair};
use crate::series::{MARGIN_S, Series};
use crate::slots::Slots;
use crate::topology::{LinkId, Topology};
use crate::trace::{Failure, Trace};
use crate::{LossRate, Problem, Share};

#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    pub topology: &'a Topology,
    pub trace: &'a Trace,
    pub policy: Policy,
    /// The share of its paths that each ToR must keep.
    pub capacity: Share,
    /// The share of pods with LinkGuardian.
    pub deployment: Share,
    /// The effect of LinkGuardian.
    pub effects: &'a Effects,
    /// Seed of the repairs and the choice of pods.
    pub seed: u64,
    /// Repairs to replay, with the name of their file.
    pub replay: Option<(&'a [Repair], &'a str)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The state after each event.
    pub series: Series,
    /// Repairs of all links that were taken down, in order.
    pub repairs: Vec<Repair>,
    /// Failures of links that were already down, which go unnoticed.
    pub skipped_failures: u64,
}

/// An event; each second has at most one.
#[derive(Clone, Copy, Debug)]
enum Event {
    Failure(LinkId, LossRate),
    Return(LinkId),
}

struct Year<'a> {
    plan: &'a Plan<'a>,
    network: Network<'a>,
    deployment: Deployment,
    delays: Delays<'a>,
    slots: Slots,
    /// Seconds, each with the index of its event in `events`.
    queue: BinaryHeap<Reverse<(u64, usize)>>,
    events: Vec<Event>,
    outcome: Outcome,
}

impl Plan<'_> {
    /// Refuses a trace of another topology, and links on which the effect of LinkGuardian is unknown.
    pub fn check(&self) -> Result<(), Problem> {
        self.trace.check_for(self.topology, &self.trace.name)?;
        let deployment = Deployment::new(self.topology, self.deployment, self.seed);
        self.trace
            .failures
            .iter()
            .try_for_each(|failure| self.protection(&deployment, failure.link, failure.loss).map(|_| ()))
    }

    /// Returns the effect of LinkGuardian on a corrupting link, if it runs there.
    fn protection(&self, deployment: &Deployment, link: LinkId, loss: LossRate) -> Result<Option<Protection>, Problem> {
        let runs = self.policy.protects() && deployment.covers(self.topology, link);
        runs.then(|| self.effects.on(self.topology.link(link).rate, loss)).transpose()
    }

    /// Runs to the end of the last repair. If `progress` is cancelled, it ends early with partial results. An error if
    /// a file of repairs belongs to another run, or [`Self::check`] refuses the plan.
    pub fn run(&self, progress: &Progress) -> Result<Outcome, Problem> {
        self.check()?;
        let mut year = Year::new(self);
        year.begin();
        let mut handled = 0u64;
        while let Some(Reverse((time_s, at))) = year.queue.pop() {
            if handled.is_multiple_of(1_024) {
                progress.tell(1_000_000 * handled / year.events.len() as u64);
                if progress.is_cancelled() {
                    return Ok(year.outcome);
                }
            }
            year.handle(time_s, year.events[at])?;
            year.outcome.series.push(time_s as i64, year.network.metrics());
            handled += 1;
        }
        year.delays.check_used_up(year.outcome.repairs.len())?;
        Ok(year.outcome)
    }
}

impl<'a> Year<'a> {
    fn new(plan: &'a Plan<'a>) -> Self {
        let delays = match plan.replay {
            Some((repairs, file_name)) => Delays::Replayed { repairs, file_name },
            None if plan.policy == Policy::DisableAndRepair => Delays::LONG,
            None => Delays::drawn(plan.seed),
        };
        Self {
            plan,
            network: Network::new(plan.topology, plan.capacity),
            deployment: Deployment::new(plan.topology, plan.deployment, plan.seed),
            delays,
            slots: Slots::default(),
            queue: BinaryHeap::new(),
            events: Vec::new(),
            outcome: Outcome { series: Series::default(), repairs: Vec::new(), skipped_failures: 0 },
        }
    }

    /// Assigns seconds to all failures first, so that repairs yield to them. Then records the state before any event.
    fn begin(&mut self) {
        for &Failure { time_s, link, loss } in &self.plan.trace.failures {
            self.schedule(time_s, Event::Failure(link, loss));
        }
        if let Some(&Reverse((first_s, _))) = self.queue.peek() {
            self.outcome.series.push(first_s as i64 - MARGIN_S as i64, self.network.metrics());
        }
    }

    fn schedule(&mut self, wanted_s: u64, event: Event) {
        let time_s = self.slots.take(wanted_s);
        self.queue.push(Reverse((time_s, self.events.len())));
        self.events.push(event);
    }

    fn handle(&mut self, time_s: u64, event: Event) -> Result<(), Problem> {
        let policy = self.plan.policy;
        let chosen = match event {
            Event::Failure(link, _) if !self.network.is_up(link) => {
                self.outcome.skipped_failures += 1;
                Vec::new()
            }
            Event::Failure(link, loss) => {
                let protection = self.plan.protection(&self.deployment, link, loss)?;
                self.network.corrupt(link, loss, protection);
                policy.after_failure(&mut self.network, link, time_s)
            }
            Event::Return(link) => {
                self.network.bring_up(link);
                policy.after_repair(&mut self.network, self.plan.topology.pod_of(link), time_s)
            }
        };
        self.take_down(time_s, &chosen)
    }

    fn take_down(&mut self, time_s: u64, links: &[LinkId]) -> Result<(), Problem> {
        if links.is_empty() {
            return Ok(());
        }
        let repairs = self.delays.take(time_s, links, self.outcome.repairs.len())?;
        for repair in repairs {
            self.network.take_down(repair.link, time_s);
            self.schedule(time_s + repair.delay_s, Event::Return(repair.link));
            self.outcome.repairs.push(repair);
        }
        Ok(())
    }
}
