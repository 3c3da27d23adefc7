//! Captures of a live run: blocks for files that grow.

use hitless_core::wire::Time;
use hitless_scenario::Scenario;

use super::file::put_start;
use super::plan::FilePlan;
use super::{Capture, Kept, Record};

impl Capture {
    /// Passes the blocks of all packets up to the time `until` to `put`, in order, with the number of their capture.
    /// Counts the packets that it refuses.
    pub fn stream(&mut self, scenario: &Scenario, until: Time, mut put: impl FnMut(usize, &[u8]) -> bool) {
        for (number, (plan, kept)) in self.plan.files.iter().zip(&mut self.kept).enumerate() {
            kept.stream(plan, scenario, until, |block| put(number, block));
        }
    }

    /// Names of the captures, by number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.plan.files.iter().map(|plan| plan.settings.name.as_str())
    }
}

impl Kept {
    fn stream(&mut self, plan: &FilePlan, scenario: &Scenario, until: Time, mut put: impl FnMut(&[u8]) -> bool) {
        if self.streamed.is_empty() {
            let mut start = Vec::new();
            put_start(plan, scenario, &mut start);
            put(&start);
            self.streamed = vec![0; plan.interfaces.len()];
        }
        self.records.sort_by_key(|record| record.at);
        let due = self.records.partition_point(|record| record.at <= until);
        if due == 0 {
            return;
        }
        let mut records = std::mem::take(&mut self.records);
        for record in records.drain(..due) {
            if put(self.block(&record)) {
                self.streamed[record.interface as usize] += 1;
            } else {
                self.missed += 1;
            }
        }
        let mut left = Vec::new();
        for record in &mut records {
            let start = left.len() as u64;
            left.extend_from_slice(self.block(record));
            *record = Record { start, ..*record };
        }
        (self.records, self.bytes) = (records, left);
    }
}
