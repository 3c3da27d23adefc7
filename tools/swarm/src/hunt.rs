//! Runs worlds seed after seed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration as WallTime;

use hitless_core::engine::Progress;
use hitless_scenario::kind::Registry;
use hitless_switch::canary::Canary;

use crate::draw;
use crate::judge::Fault;
use crate::run::{self, Until, Verdict};
use crate::shrink::shrink;
use crate::world::World;

#[derive(Clone, Debug)]
pub struct Hunt {
    /// First seed; the others follow.
    pub first_seed: u64,
    pub worlds: Option<u64>,
    pub wall_time: Option<WallTime>,
    pub threads: usize,
    /// A bug that is activated in all runs.
    pub canary: Option<Canary>,
    /// Path of a setting; worlds without it are skipped.
    pub with: Option<String>,
    /// Whether to stop at the first fault.
    pub first_only: bool,
    /// Maximum time for minimising a failing world.
    pub shrink_for: WallTime,
}

#[derive(Clone, Debug)]
pub struct Finding {
    /// The seed of its original world.
    pub seed: u64,
    pub fault: Fault,
    /// A scenario file that shows it.
    pub world: World,
    /// Number of worlds with this fault.
    pub times: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Totals {
    pub worlds: u64,
    /// Draws that the check refused.
    pub refused: u64,
    /// Packets put on a link, in the first run of each world.
    pub packets: u64,
    /// Number of judged worlds of each judge.
    pub judged: BTreeMap<&'static str, u64>,
    /// Faults found, in the order of seeds.
    pub findings: Vec<Finding>,
}

impl Hunt {
    /// Default time for minimising a failing world.
    pub const SHRINK_FOR: WallTime = WallTime::from_secs(30);

    /// Runs worlds until their number, the time or `progress` ends the hunt. Each fault is reported as soon as it is
    /// minimised.
    pub fn run(&self, registry: &Registry, progress: &Progress, tell: &(dyn Fn(&Finding) + Sync)) -> Totals {
        let until = Until::from_now(self.wall_time);
        let chase =
            Chase { hunt: self, registry, progress, tell, until, next: AtomicU64::new(0), totals: Mutex::default() };
        std::thread::scope(|scope| {
            let work = || {
                hitless_switch::canary::sow(self.canary);
                chase.work();
                hitless_switch::canary::sow(None);
            };
            (1..self.threads).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        let mut totals = chase.totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        totals.findings.sort_by_key(|finding| finding.seed);
        totals
    }
}

/// The shared state of a hunt's threads.
struct Chase<'a> {
    hunt: &'a Hunt,
    registry: &'a Registry,
    progress: &'a Progress,
    tell: &'a (dyn Fn(&Finding) + Sync),
    until: Until,
    next: AtomicU64,
    totals: Mutex<Totals>,
}

impl Chase<'_> {
    fn work(&self) {
        loop {
            // Threads share nothing but the number; the lock orders their totals.
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let is_over = self.hunt.worlds.is_some_and(|worlds| number >= worlds);
            let is_found = self.hunt.first_only && !self.totals().findings.is_empty();
            if is_over || is_found || self.until.has_come() || self.progress.is_cancelled() {
                return;
            }
            let seed = self.hunt.first_seed.wrapping_add(number);
            let (world, refused) = draw::world(seed, self.registry);
            let world = world.filter(|world| self.hunt.with.as_ref().is_none_or(|path| world.value(path).is_some()));
            let verdict = world.as_ref().and_then(|world| run::run(world, self.registry).ok());
            self.totals().add(refused, verdict.as_ref());
            if let (Some(world), Some(verdict)) = (world, verdict) {
                verdict.faults.iter().for_each(|fault| self.note(seed, &world, fault));
            }
        }
    }

    /// Returns whether a world has the same fault without the activated bug; then the bug is not its cause.
    fn is_there_anyhow(&self, world: &World, fault: &Fault) -> bool {
        if self.hunt.canary.is_none() {
            return false;
        }
        hitless_switch::canary::sow(None);
        let verdict = run::run(world, self.registry);
        hitless_switch::canary::sow(self.hunt.canary);
        verdict.is_ok_and(|verdict| verdict.faults.iter().any(|found| found.judge == fault.judge))
    }

    /// Minimises one world for each kind of fault.
    fn note(&self, seed: u64, world: &World, fault: &Fault) {
        if self.is_there_anyhow(world, fault) {
            return;
        }
        let mut totals = self.totals();
        if totals.count_again(fault) {
            return;
        }
        let place = totals.findings.len();
        totals.findings.push(Finding { seed, fault: fault.clone(), world: world.clone(), times: 1 });
        // Shrinking takes up to `shrink_for`; the other threads need the totals meanwhile.
        drop(totals);
        let small = shrink(world, fault, self.registry, Until::from_now(Some(self.hunt.shrink_for)));
        let mut totals = self.totals();
        totals.findings[place].world = small;
        (self.tell)(&totals.findings[place]);
    }

    fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Totals {
    fn add(&mut self, refused: u64, verdict: Option<&Verdict>) {
        self.refused += refused;
        let Some(verdict) = verdict else { return };
        self.worlds += 1;
        self.packets += verdict.transmissions;
        verdict.judged.iter().for_each(|judge| *self.judged.entry(judge).or_insert(0) += 1);
    }

    fn count_again(&mut self, fault: &Fault) -> bool {
        let known = self.findings.iter_mut().find(|known| known.fault.signature() == fault.signature());
        known.map(|finding| finding.times += 1).is_some()
    }
}
