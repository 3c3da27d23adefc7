//! Deliberate bugs. The search for bugs must find each of them.
//!
//! They are compiled in with debug assertions only: in tests, but not in packages. Otherwise no canary ever sings, and
//! the compiler removes the checks.

#[cfg(debug_assertions)]
use std::cell::Cell;

use strum::{IntoStaticStr, VariantArray};

/// A deliberate bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Canary {
    /// The two halves of a group of queues are not swapped when they should be.
    ForgottenSwap,
    /// A paused link partner never receives the resume.
    LostResume,
    /// The era of a sequence number is wrong by one at a wrap.
    OffByOneEra,
    /// An abandoned copy is released a second time.
    DoubleRelease,
    /// The packet buffer does not get back the bytes of a packet that was evicted, or refused after it was counted.
    LeakedCell,
    /// A copy is forgotten before its failure can have been detected.
    EarlyForget,
    /// Some packets of a flow are not charged to it.
    FreeRide,
    /// A packet returned by a neighbour goes on although it is not its turn.
    LostTurn,
    /// A port that becomes free does not check for waiting packets.
    IdlePort,
    /// A packet is dropped without a counted reason.
    UnnamedLoss,
    /// A window of a divided run is one nanosecond longer than the partitions' lookahead.
    WideWindow,
}

impl Canary {
    /// All canaries.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Returns the canary's name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the canary of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|canary| canary.name() == name)
    }
}

/// Whether canaries are compiled in.
pub const ARE_COMPILED_IN: bool = cfg!(debug_assertions);

#[cfg(debug_assertions)]
thread_local! {
    static SOWN: Cell<Option<Canary>> = const { Cell::new(None) };
}

/// Enables a bug in this thread; `None` disables it.
pub fn sow(canary: Option<Canary>) {
    #[cfg(debug_assertions)]
    SOWN.set(canary);
    #[cfg(not(debug_assertions))]
    let _ = canary;
}

/// Returns whether any bug is enabled in this thread. Threads that it starts do not inherit it.
pub fn is_sown() -> bool {
    #[cfg(debug_assertions)]
    return SOWN.get().is_some();
    #[cfg(not(debug_assertions))]
    false
}

/// Returns whether this bug is enabled in this thread.
#[inline(always)]
pub fn sings(canary: Canary) -> bool {
    #[cfg(debug_assertions)]
    return SOWN.get() == Some(canary);
    #[cfg(not(debug_assertions))]
    {
        let _ = canary;
        false
    }
}
