//! What the driver knows of time, and how it waits.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use hitless_interfaces::MonotonicTime;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

/// A clock that never goes back.
pub trait Clock {
    /// The time.
    fn now(&self) -> MonotonicTime;

    /// Waits until one of `ports` is readable or `until` is reached, whichever comes first; may come back early.
    fn wait(&mut self, ports: &[BorrowedFd<'_>], until: MonotonicTime);
}

/// The kernel's `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

impl Clock for MonotonicClock {
    fn now(&self) -> MonotonicTime {
        let time = clock_gettime(ClockId::Monotonic);
        MonotonicTime(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    fn wait(&mut self, ports: &[BorrowedFd<'_>], until: MonotonicTime) {
        let left_ns = until.0.saturating_sub(self.now().0);
        if left_ns == 0 {
            return;
        }
        let mut watched: Vec<PollFd<'_>> = ports.iter().map(|port| PollFd::from_borrowed_fd(*port, PollFlags::IN)).collect();
        // An interrupted wait is one that came back early.
        let timeout = Timespec::try_from(Duration::from_nanos(left_ns)).ok();
        let _ = poll(&mut watched, timeout.as_ref());
    }
}
