//! What is recorded of failures.

use hitless_wire::Time;

use super::links::FailureRecord;
use super::{Recovery, Simulation};
use crate::results::{FailureTotals, Table};
use crate::topology::{DirectedLink, Direction, LinkId};

impl Recovery {
    /// `None` for a scenario without failures.
    pub fn totals(&self) -> Option<FailureTotals> {
        let happened = self.records.len() as u64;
        (!self.entries.is_empty()).then_some(FailureTotals { happened, ignored: self.ignored })
    }
}

impl Simulation {
    /// Frames that a link has lost because it was down, both directions.
    fn frames_lost_down(&self, link: LinkId) -> u64 {
        let lost = |direction| self.medium.links[DirectedLink { link, direction }.index()].counters.frames_lost_down;
        lost(Direction::AToB) + lost(Direction::BToA)
    }

    /// Begins the record of a failure, and closes that of the one before.
    pub(super) fn open_record(&mut self, now: Time, number: usize) -> u32 {
        let (link, before) = (self.recovery.links[number].link, self.recovery.links[number].latest);
        let lost_before = self.frames_lost_down(link);
        let records = &mut self.recovery.records;
        if let Some(before) = before {
            let record = &mut records[before as usize];
            record.lost = Some(lost_before - record.lost_before);
        }
        let never = [Time::NEVER; 2];
        let (up, lost) = (Time::NEVER, None);
        records.push(FailureRecord { link, down: now, detected: never, recovered: never, up, lost_before, lost });
        u32::try_from(records.len() - 1).expect("fewer than 2^32 failures")
    }

    /// An end has a way again, for the first time since its link failed.
    pub(super) fn note_way(&mut self, now: Time, link: usize, end: usize) {
        let Some(failure) = self.recovery.links[link].latest else { return };
        let recovered = &mut self.recovery.records[failure as usize].recovered[end];
        *recovered = now.min(*recovered);
    }

    pub(in crate::simulation) fn failures(&self) -> Table {
        let rows = self.recovery.records.as_slice();
        let forwards = |row: &FailureRecord| DirectedLink { link: row.link, direction: Direction::AToB };
        let name = |row: &FailureRecord, end: usize| {
            let ends = self.topology.ends(forwards(row));
            self.topology.name([ends.0.node, ends.1.node][end]).to_owned()
        };
        let lost = |row: &FailureRecord| row.lost.unwrap_or_else(|| self.frames_lost_down(row.link) - row.lost_before);
        Table::new("failures")
            .text("link", rows, |row| self.topology.link_name(forwards(row)).replacen("->", "<->", 1))
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
