use toml::Table;

/// Two worlds and the expected relation between their results.
pub struct Pair {
    pub before: Table,
    pub after: Table,
    /// Map from times of the first world to times of the second.
    pub times: Times,
    pub equal: Equal,
}

/// Results that must be equal, in addition to the flows and messages of the first world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Equal {
    /// Bytes and packets of flows, without their times.
    Counts,
    /// No others: the second world has more flows.
    Flows,
    /// Packets lost, by reason.
    Drops,
    /// Packets lost, and the counters of mechanisms.
    Counters,
    /// The whole course of events.
    Course,
}

/// Map from times of the first run to times of the second, in picoseconds.
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
    /// Maps a time to the second run; a negative time means never.
    pub(super) const fn of(self, time: i64) -> i64 {
        match self {
            _ if time < 0 => time,
            Self::Same => time,
            Self::Later(by) => time + by,
            Self::Twice => 2 * time,
        }
    }
}
