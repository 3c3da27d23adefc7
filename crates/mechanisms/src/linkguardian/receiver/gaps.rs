//! Gaps in the numbers that no repair has answered yet.

use std::collections::VecDeque;

use crate::linkguardian::headers::SequenceNumber;
use hitless_core::wire::Time;

/// A gap that no repair has answered yet.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub struct Gap {
    pub first_lost: SequenceNumber,
    pub count: u32,
    pub seen_until: SequenceNumber,
    /// When it was reported for the first time.
    pub reported_since: Option<Time>,
}

impl Gap {
    pub const fn new(first_lost: SequenceNumber, count: u32, seen_until: SequenceNumber) -> Self {
        Self { first_lost, count, seen_until, reported_since: None }
    }

    pub fn contains(&self, sequence: SequenceNumber) -> bool {
        u32::try_from(sequence.offset_from(self.first_lost)).is_ok_and(|offset| offset < self.count)
    }
}

/// All of them, in the order of their numbers. The first is being reported.
#[derive(Debug, Default, hitless_core::state::Value)]
pub struct Reports {
    pub gaps: VecDeque<Gap>,
    /// When the first was reported last.
    pub reported_at: Time,
    /// Whether somebody will look for the answer.
    pub is_armed: bool,
}

impl Reports {
    /// How far may be acknowledged; `None`: everything.
    pub fn acknowledged_until(&self) -> Option<SequenceNumber> {
        self.gaps.front().map(|gap| gap.first_lost.previous())
    }

    /// The numbers mean something else from now on.
    pub fn clear(&mut self) {
        self.gaps.clear();
    }
}
