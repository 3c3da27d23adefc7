//! Bugs sown on purpose: who searches for bugs must find each of these.
//!
//! They are compiled in with debug assertions only, as tests are and no package is. Without those none ever sings, and
//! nothing is left of the question.

#[cfg(debug_assertions)]
use std::cell::Cell;

/// A bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canary {
    /// The two halves of a group of queues are not swapped when they should be.
    ForgottenSwap,
    /// A paused link partner is never told to go on.
    LostResume,
    /// The era of a sequence number is wrong by one when numbers wrap.
    OffByOneEra,
    /// A copy that was given up is released a second time.
    DoubleRelease,
    /// The packet buffer does not get back a packet that was evicted or refused after it was counted.
    LeakedCell,
    /// A copy is forgotten before the failure that it is kept for can have been found.
    EarlyForget,
    /// Some packets of a flow are not charged to it.
    FreeRide,
    /// A packet that comes back from a neighbour goes on although it is not the next.
    LostTurn,
    /// A port that falls free does not look whether packets wait.
    IdlePort,
    /// A packet is dropped, and no reason is counted.
    UnnamedLoss,
    /// A window of a divided run is a picosecond longer than what its partitions cannot learn of each other.
    WideWindow,
}

impl Canary {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::ForgottenSwap,
        Self::LostResume,
        Self::OffByOneEra,
        Self::DoubleRelease,
        Self::LeakedCell,
        Self::EarlyForget,
        Self::FreeRide,
        Self::LostTurn,
        Self::IdlePort,
        Self::UnnamedLoss,
        Self::WideWindow,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ForgottenSwap => "forgotten-swap",
            Self::LostResume => "lost-resume",
            Self::OffByOneEra => "off-by-one-era",
            Self::DoubleRelease => "double-release",
            Self::LeakedCell => "leaked-cell",
            Self::EarlyForget => "early-forget",
            Self::FreeRide => "free-ride",
            Self::LostTurn => "lost-turn",
            Self::IdlePort => "idle-port",
            Self::UnnamedLoss => "unnamed-loss",
            Self::WideWindow => "wide-window",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|canary| canary.name() == name)
    }
}

/// Whether canaries are compiled in.
pub const ARE_COMPILED_IN: bool = cfg!(debug_assertions);

#[cfg(debug_assertions)]
thread_local! {
    static SOWN: Cell<Option<Canary>> = const { Cell::new(None) };
}

/// Sows a bug in all that this thread runs from now on; none: takes it back.
pub fn sow(canary: Option<Canary>) {
    #[cfg(debug_assertions)]
    SOWN.set(canary);
    #[cfg(not(debug_assertions))]
    let _ = canary;
}

/// Whether any bug is sown in what this thread runs. Other threads that it starts have none.
pub fn is_sown() -> bool {
    #[cfg(debug_assertions)]
    return SOWN.get().is_some();
    #[cfg(not(debug_assertions))]
    false
}

/// Whether this bug is sown here.
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
