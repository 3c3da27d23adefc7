//! All partitions, and the threads that run them through a window.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hitless_core::wire::Time;

use super::mail::Post;
use super::pace::Pace;
use super::partition::Partition;
use super::whole::lock;
use super::workers::{Gate, Report, Waiter, run_one, share};

/// The partitions and the threads that run them.
pub struct Team<'a> {
    partitions: &'a [Mutex<Partition>],
    reports: &'a [Report],
    post: &'a Post,
    gate: &'a Gate,
    /// Number of windows so far.
    windows: u64,
    /// Windows and events when [`Self::claim_housekeeping`] last returned true.
    far: (u64, u64),
    pace: Pace,
    began: Instant,
}

/// Number of windows, or of events in them, between two rounds of housekeeping.
const WINDOWS: u64 = 1 << 12;
const EVENTS: u64 = 1 << 18;

impl<'a> Team<'a> {
    /// A team of the workers that wait at `gate` and the calling thread.
    pub fn new(partitions: &'a [Mutex<Partition>], reports: &'a [Report], post: &'a Post, gate: &'a Gate) -> Self {
        Self { partitions, reports, post, gate, windows: 0, far: (0, 0), pace: Pace::new(), began: Instant::now() }
    }

    /// Runs all partitions up to `end`: in a trial on all threads, otherwise in the faster mode.
    pub fn run_before(&mut self, end: Time, is_trial: bool) {
        self.windows += 1;
        let has_workers = !self.gate.workers.is_empty();
        if has_workers && (is_trial || self.pace.together()) {
            self.run_together(end);
        } else {
            (0..self.partitions.len()).for_each(|number| self.run_one(number, end));
        }
        if has_workers && !is_trial {
            self.pace.note(self.elapsed(), self.events());
        }
    }

    /// Wall time since the start.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn run_one(&self, number: usize, end: Time) {
        run_one(&self.partitions[number], &self.reports[number], self.post, end);
    }

    fn run_together(&mut self, end: Time) {
        let gate = self.gate;
        gate.through.store(0, Ordering::SeqCst);
        gate.end.store(end.0, Ordering::SeqCst);
        gate.window.fetch_add(1, Ordering::SeqCst);
        gate.workers.iter().for_each(Waiter::wake);
        for number in share(0, gate.workers.len() + 1, self.partitions.len()) {
            self.run_one(number, end);
        }
        let has_failed = || gate.has_failed.load(Ordering::SeqCst);
        gate.coordinator.wait(|| gate.through.load(Ordering::SeqCst) == gate.workers.len() || has_failed());
        assert!(!has_failed(), "a partition of the run has failed");
    }

    /// Returns whether housekeeping is due, and counts it as done: after enough windows or events. One window of a
    /// large fabric can suffice.
    pub fn claim_housekeeping(&mut self) -> bool {
        let (windows, events) = self.far;
        let now = (self.windows, self.events());
        let has_come_far = now.0 - windows >= WINDOWS || now.1 - events >= EVENTS;
        self.far = if has_come_far { now } else { self.far };
        has_come_far
    }

    /// Number of events handled.
    pub fn events(&self) -> u64 {
        self.reports.iter().map(|report| report.events.load(Ordering::SeqCst)).sum()
    }

    /// When the next event is due in any partition.
    pub fn next_time(&self) -> Time {
        let next = self.reports.iter().map(|report| Time(report.next.load(Ordering::SeqCst)));
        next.min().unwrap_or(Time::NEVER)
    }

    /// Number of flows that have ended.
    pub fn flows_ended(&self) -> u64 {
        self.reports.iter().map(|report| report.flows_ended.load(Ordering::SeqCst)).sum()
    }

    /// When the last flow ended.
    pub fn last_ended(&self) -> Time {
        let last = self.partitions.iter().map(|partition| lock(partition).network.shared.records.last_ended);
        last.max().unwrap_or(Time::ZERO)
    }

    /// Time of the last event in any partition.
    pub fn now(&self) -> Time {
        self.partitions.iter().map(|partition| lock(partition).now).max().unwrap_or(Time::ZERO)
    }

    /// Number of complete messages.
    pub fn messages(&self) -> usize {
        self.partitions.iter().map(|partition| lock(partition).network.shared.records.flows.messages.len()).sum()
    }

    /// Number of flow and message records in the partitions.
    pub fn records(&self) -> usize {
        self.partitions.iter().map(|partition| lock(partition).network.shared.records.flows.len()).sum()
    }

    /// Calls `act` with all partitions locked.
    pub fn all<T>(&self, act: impl FnOnce(&mut [MutexGuard<'_, Partition>]) -> T) -> T {
        act(&mut self.partitions.iter().map(lock).collect::<Vec<_>>())
    }

    /// Calls `act` for each partition in turn.
    pub fn each(&self, mut act: impl FnMut(&mut Partition)) {
        self.partitions.iter().for_each(|partition| act(&mut lock(partition)));
    }

    /// Delivers mail that actions between two windows have caused.
    pub fn exchange(&self) {
        self.each(|partition| {
            partition.hand_over(self.post);
        });
        self.settle();
    }

    /// Delivers all mail between partitions.
    pub fn settle(&self) {
        for (partition, report) in self.partitions.iter().zip(self.reports) {
            let partition = &mut lock(partition);
            partition.collect(self.post);
            let next = partition.network.shared.queue.next_time().unwrap_or(Time::NEVER);
            report.next.store(next.0, Ordering::SeqCst);
        }
    }
}
