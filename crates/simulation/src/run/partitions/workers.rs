//! The worker threads, and how they wait for each other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration as WallDuration;

use hitless_core::wire::Time;

use super::mail::Post;
use super::partition::Partition;
use super::whole::lock;

/// Number of polls before the thread yields the processor, and of yields before it sleeps.
const SPINS: u32 = 400;
const YIELDS: u32 = 40;
/// Maximum sleep. A sleeper is woken by the thread that it waits for; the limit covers the case that this thread is
/// gone.
const SLEEP: WallDuration = WallDuration::from_millis(50);
/// Status of a partition after a window.
#[derive(Default)]
pub struct Report {
    pub next: AtomicU64,
    pub events: AtomicU64,
    pub flows_ended: AtomicU64,
}

/// A thread that waits for a condition, and sleeps if it takes long.
pub struct Waiter {
    sleeps: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl Waiter {
    fn new() -> Self {
        Self { sleeps: AtomicBool::new(false), thread: Mutex::new(None) }
    }

    /// Returns once `is_over` is true.
    pub fn wait(&self, is_over: impl Fn() -> bool) {
        for _ in 0..SPINS {
            if is_over() {
                return;
            }
            std::hint::spin_loop();
        }
        for _ in 0..YIELDS {
            if is_over() {
                return;
            }
            thread::yield_now();
        }
        *self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(thread::current());
        while !is_over() {
            self.sleeps.store(true, Ordering::SeqCst);
            // The waking thread first makes the condition true and then reads `sleeps`. All accesses are sequentially
            // consistent, so at least one side sees the other's store, and no wake-up is lost.
            if !is_over() {
                thread::park_timeout(SLEEP);
            }
            self.sleeps.store(false, Ordering::SeqCst);
        }
    }

    /// Wakes the waiter, after its condition has become true.
    pub fn wake(&self) {
        if self.sleeps.load(Ordering::SeqCst)
            && let Some(thread) = &*self.thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        {
            thread.unpark();
        }
    }
}

/// Shared state of the threads besides the partitions.
pub struct Gate {
    /// Number of the window to run, and its end.
    pub window: AtomicU64,
    pub end: AtomicU64,
    /// Number of workers that have finished the window.
    pub through: AtomicUsize,
    is_over: AtomicBool,
    pub has_failed: AtomicBool,
    pub coordinator: Waiter,
    pub workers: Vec<Waiter>,
}

impl Gate {
    /// A gate for this many workers and one coordinator.
    pub fn new(workers: usize) -> Self {
        let [window, end] = [AtomicU64::new(0), AtomicU64::new(0)];
        let [is_over, has_failed] = [AtomicBool::new(false), AtomicBool::new(false)];
        let workers = (0..workers).map(|_| Waiter::new()).collect();
        Self { window, end, through: AtomicUsize::new(0), is_over, has_failed, coordinator: Waiter::new(), workers }
    }
}

/// Dismisses the workers when the coordinator ends, also by a panic.
pub struct Dismissal<'a>(pub &'a Gate);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
        self.0.window.fetch_add(1, Ordering::SeqCst);
        self.0.workers.iter().for_each(Waiter::wake);
    }
}

/// Tells the coordinator when a worker panics.
struct Alarm<'a>(&'a Gate);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_failed.store(true, Ordering::SeqCst);
            self.0.coordinator.wake();
        }
    }
}

/// Runs a partition up to `end` and updates its report.
pub fn run_one(partition: &Mutex<Partition>, report: &Report, post: &Post, end: Time) {
    let mut partition = lock(partition);
    let next = partition.run_before(end, post);
    report.next.store(next.0, Ordering::SeqCst);
    report.events.store(partition.events, Ordering::SeqCst);
    report.flows_ended.store(partition.network.shared.records.flows_ended, Ordering::SeqCst);
}

/// The partitions that a thread runs.
pub fn share(thread: usize, threads: usize, partitions: usize) -> std::ops::Range<usize> {
    thread * partitions / threads..(thread + 1) * partitions / threads
}

/// Body of a worker: runs its share of the partitions in each window until it is dismissed.
pub fn work(number: usize, gate: &Gate, partitions: &[Mutex<Partition>], reports: &[Report], post: &Post) {
    let _alarm = Alarm(gate);
    let mut seen = 0;
    loop {
        gate.workers[number].wait(|| gate.window.load(Ordering::SeqCst) != seen);
        seen = gate.window.load(Ordering::SeqCst);
        if gate.is_over.load(Ordering::SeqCst) {
            return;
        }
        let end = Time(gate.end.load(Ordering::SeqCst));
        for index in share(number + 1, gate.workers.len() + 1, partitions.len()) {
            run_one(&partitions[index], &reports[index], post, end);
        }
        gate.through.fetch_add(1, Ordering::SeqCst);
        gate.coordinator.wake();
    }
}
