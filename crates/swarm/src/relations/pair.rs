//! Two worlds of a relation, and what must be equal.

use toml::Table;

/// Two worlds, and how the results of the second follow from those of the first.
pub struct Pair {
    /// The first world.
    pub before: Table,
    /// The second.
    pub after: Table,
    /// How a time of the first becomes one of the second.
    pub times: Times,
    /// What else must be equal.
    pub equal: Equal,
}

/// What must be equal beside the flows and messages of the first world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Equal {
    /// Nothing: the second world has flows of its own.
    Flows,
    /// Packets lost, by reason.
    Drops,
    /// These, and what mechanisms count.
    Counters,
    /// The whole course of events.
    Course,
}

/// How a time of the first run becomes one of the second, in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// They are the same.
    Same,
    /// All are later by this.
    Later(i64),
    /// All are twice as large.
    Twice,
}

impl Times {
    /// The time of the second run; what never happens is below zero.
    pub(super) const fn of(self, time: i64) -> i64 {
        match self {
            _ if time < 0 => time,
            Self::Same => time,
            Self::Later(by) => time + by,
            Self::Twice => 2 * time,
        }
    }
}
