//! Files of captures, at the end of a run.

use hitless_core::wire::Time;
use hitless_core::wire::capture::pcapng::{put_interface, put_section, put_statistics};
use hitless_scenario::Scenario;

use super::plan::FilePlan;
use super::{Capture, Kept, Record};
use crate::results::{CaptureCounts, CaptureFile};

impl Capture {
    /// The files of a run that has ended. A file with a stream has only the blocks that the stream has not taken.
    pub fn into_files(self, scenario: &Scenario, ended_at: Time) -> Vec<CaptureFile> {
        let files = self.plan.files.iter().zip(self.kept);
        files.map(|(plan, kept)| file(plan, kept, scenario, ended_at)).collect()
    }

    /// Counts of the packets so far, by capture.
    pub fn counts(&self) -> impl Iterator<Item = CaptureCounts> + '_ {
        self.plan.files.iter().zip(&self.kept).map(|(plan, kept)| kept.counts(plan))
    }
}

impl Kept {
    /// Packets that are in the file or will be.
    pub fn packets(&self) -> u64 {
        self.records.len() as u64 + self.streamed.iter().sum::<u64>()
    }

    fn counts(&self, plan: &FilePlan) -> CaptureCounts {
        let packets = self.packets().min(plan.settings.limit);
        let accepted = self.accepted.iter().sum();
        CaptureCounts { name: plan.settings.name.clone(), packets, accepted, missed: self.missed }
    }
}

/// Writes a file: its interfaces, the packets by time, and counters.
fn file(plan: &FilePlan, mut kept: Kept, scenario: &Scenario, ended_at: Time) -> CaptureFile {
    let mut records = std::mem::take(&mut kept.records);
    // A stable sort keeps the order of each node's packets.
    records.sort_by_key(|record| record.seen);
    let room = plan.settings.limit.saturating_sub(kept.packets());
    records.truncate(usize::try_from(room).unwrap_or(usize::MAX));
    records.sort_by_key(|record| record.at);
    let mut bytes = Vec::new();
    if kept.streamed.is_empty() {
        put_start(plan, scenario, &mut bytes);
        kept.streamed = vec![0; plan.interfaces.len()];
    }
    for record in &records {
        bytes.extend_from_slice(kept.block(record));
        kept.streamed[record.interface as usize] += 1;
    }
    for (number, (&accepted, &count)) in (0..).zip(kept.accepted.iter().zip(&kept.streamed)) {
        put_statistics(&mut bytes, number, ended_at, accepted, count);
    }
    CaptureFile { counts: kept.counts(plan), bytes }
}

/// Writes the section and the interfaces of a file.
pub fn put_start(plan: &FilePlan, scenario: &Scenario, out: &mut Vec<u8>) {
    let comment = format!("scenario {}, seed {}", scenario.name, scenario.seed);
    put_section(out, concat!("hitless ", env!("CARGO_PKG_VERSION")), &comment);
    for interface in &plan.interfaces {
        put_interface(out, &interface.name, interface.description, interface.rate);
    }
}

impl Kept {
    pub fn block(&self, record: &Record) -> &[u8] {
        let start = record.start as usize;
        &self.bytes[start..start + record.length as usize]
    }
}
