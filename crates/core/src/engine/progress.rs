//! Interface for other threads to a run in progress: its progress, cancellation and pausing.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a run has come, and whether it should continue.
#[derive(Debug, Default)]
pub struct Progress {
    done_ppm: AtomicU64,
    is_cancelled: AtomicBool,
    pause: AtomicBool,
    question: AtomicBool,
    answer: Mutex<Option<Answer>>,
}

/// The present state of a run.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Events handled so far.
    pub events: u64,
    /// A report in words, of several lines.
    pub text: String,
}

impl Progress {
    /// Records how much of the run is done, in millionths. Called by the run itself.
    pub fn tell(&self, done_ppm: u64) {
        self.done_ppm.store(done_ppm, Ordering::Relaxed);
    }

    /// The completed part of the run, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        self.done_ppm.load(Ordering::Relaxed) as f64 / 1e6
    }

    /// Asks the run to stop early; its results are those of a shorter run.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Asks the run to stop and continue later, if its driver supports pausing.
    pub fn ask_for_pause(&self) {
        self.pause.store(true, Ordering::Relaxed);
    }

    /// Returns whether a pause was requested since the last call. Called by the run itself.
    pub fn takes_pause(&self) -> bool {
        self.pause.load(Ordering::Relaxed) && self.pause.swap(false, Ordering::Relaxed)
    }

    /// Asks the run for its present state. The run answers at its next housekeeping, and does not stop.
    pub fn ask(&self) {
        self.question.store(true, Ordering::Relaxed);
    }

    /// Returns whether somebody has asked since the last call. Called by the run itself.
    pub fn takes_question(&self) -> bool {
        self.question.load(Ordering::Relaxed) && self.question.swap(false, Ordering::Relaxed)
    }

    /// Answers a question. Called by the run itself.
    pub fn answer(&self, events: u64, text: String) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Answer { events, text });
    }

    /// Takes the latest answer, if there is one.
    pub fn take_answer(&self) -> Option<Answer> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
