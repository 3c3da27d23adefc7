//! Records of failures.

use hitless_core::wire::Time;
use hitless_scenario::network::topology::{DirectedLink, Direction, LinkId, Topology};

use crate::link::LinkCounters;
use crate::results::{FailureTotals, Table};

/// The record of a failure. [`Time::NEVER`] means not within the run.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct FailureRecord {
    link: LinkId,
    down: Time,
    /// Time of detection, by end.
    detected: [Time; 2],
    /// By end: when a path was available again, through another port or the link itself.
    recovered: [Time; 2],
    up: Time,
    /// Frames that the link had lost before this failure.
    lost_before: u64,
    /// Frames lost to this failure; known once the link fails again.
    lost: Option<u64>,
}

/// The failures of a run, numbered in order of occurrence.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct FailureLog {
    records: Vec<FailureRecord>,
    /// Number of failures that fell on a link that was down already.
    ignored: u64,
}

/// Number of frames that a failed link has lost in both directions.
fn frames_lost_down(counters: impl Fn(usize) -> LinkCounters, link: LinkId) -> u64 {
    let lost = |direction| counters(DirectedLink { link, direction }.index()).frames_lost_down;
    lost(Direction::AToB) + lost(Direction::BToA)
}

impl FailureLog {
    /// Opens the record of a failure, and closes that of the link's failure `before`.
    pub fn open(
        &mut self,
        now: Time,
        link: LinkId,
        before: Option<u32>,
        counters: impl Fn(usize) -> LinkCounters,
    ) -> u32 {
        let lost_before = frames_lost_down(counters, link);
        if let Some(before) = before {
            let record = &mut self.records[before as usize];
            debug_assert!(record.link == link && record.down <= now, "the failure before is of this link");
            record.lost = Some(lost_before - record.lost_before);
        }
        let never = [Time::NEVER; 2];
        let (up, lost) = (Time::NEVER, None);
        self.records.push(FailureRecord { link, down: now, detected: never, recovered: never, up, lost_before, lost });
        u32::try_from(self.records.len() - 1).expect("fewer than 2^32 failures")
    }

    /// Returns the link of a failure.
    pub fn link(&self, failure: u32) -> LinkId {
        self.records[failure as usize].link
    }

    /// Records that all switches avoid the link: both ends have a path again.
    pub fn note_withdrawn(&mut self, now: Time, failure: u32) {
        (0..2).for_each(|end| self.note_recovered(now, failure, end));
    }

    /// Counts a failure that fell on a link that was down already.
    pub fn note_ignored(&mut self) {
        self.ignored += 1;
    }

    pub fn note_detected(&mut self, now: Time, failure: u32, end: usize) {
        let record = &mut self.records[failure as usize];
        debug_assert!(record.down <= now, "a failure is detected before it happens");
        record.detected[end] = now;
    }

    /// Records that an end has a path again, if it is the first since the failure.
    pub fn note_recovered(&mut self, now: Time, failure: u32, end: usize) {
        let recovered = &mut self.records[failure as usize].recovered[end];
        *recovered = now.min(*recovered);
    }

    pub fn note_whole(&mut self, now: Time, failure: u32) {
        self.records[failure as usize].up = now;
    }

    /// When a failure happened.
    pub fn down(&self, failure: u32) -> Time {
        self.records[failure as usize].down
    }

    pub fn totals(&self) -> FailureTotals {
        FailureTotals { happened: self.records.len() as u64, ignored: self.ignored }
    }

    /// The table of failures, one row each.
    pub fn table(&self, topology: &Topology, counters: impl Fn(usize) -> LinkCounters) -> Table {
        let rows = self.records.as_slice();
        let forwards = |row: &FailureRecord| DirectedLink { link: row.link, direction: Direction::AToB };
        let name = |row: &FailureRecord, end: usize| {
            let ends = topology.ends(forwards(row));
            topology.name([ends.0.node, ends.1.node][end]).to_owned()
        };
        let lost =
            |row: &FailureRecord| row.lost.unwrap_or_else(|| frames_lost_down(&counters, row.link) - row.lost_before);
        Table::new("failures")
            .text("link", rows, |row| topology.link_name(forwards(row)).replacen("->", "<->", 1))
            .text("from", rows, |row| name(row, 0))
            .text("to", rows, |row| name(row, 1))
            .time("down_ps", rows, |row| row.down)
            .time("from_detected_ps", rows, |row| row.detected[0])
            .time("from_recovered_ps", rows, |row| row.recovered[0])
            .time("to_detected_ps", rows, |row| row.detected[1])
            .time("to_recovered_ps", rows, |row| row.recovered[1])
            .time("up_ps", rows, |row| row.up)
            .unsigned("frames_lost", rows, lost)
    }
}
