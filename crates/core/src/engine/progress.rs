//! What another thread may see and say while a run is under way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a run has come, and whether it should go on.
#[derive(Debug, Default)]
pub struct Progress {
    done_ppm: AtomicU64,
    is_cancelled: AtomicBool,
    pause: AtomicBool,
}

impl Progress {
    /// Says how much of the run is done, in millionths. For the run itself.
    pub fn tell(&self, done_ppm: u64) {
        self.done_ppm.store(done_ppm, Ordering::Relaxed);
    }

    /// The part of the run that is done, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.done_ppm.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Asks the run to stop where it is; its results are those of a shorter run.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Asks the run to stop where it is and go on later, if whoever runs it knows how.
    pub fn ask_for_pause(&self) {
        self.pause.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked for since the last call. For the run itself.
    pub fn takes_pause(&self) -> bool {
        self.pause.load(Ordering::Relaxed) && self.pause.swap(false, Ordering::Relaxed)
    }
}
