//! What the driver knows of time, and how it waits.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::interfaces::{MonotonicTime, monotonic_ns, wait_readable};

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
        MonotonicTime(monotonic_ns())
    }

    fn wait(&mut self, ports: &[BorrowedFd<'_>], until: MonotonicTime) {
        let left_ns = until.0.saturating_sub(self.now().0);
        // A wait that fails is one that came back early: what is wrong with an interface shows when it is used.
        let _ = wait_readable(ports, Duration::from_nanos(left_ns));
    }
}
