//! Files of captures, at the end of a run.

use hitless_core::wire::Time;
use hitless_core::wire::capture::pcapng::{put_interface, put_section, put_statistics};
use hitless_scenario::Scenario;

use super::plan::FilePlan;
use super::{Capture, Kept, Record};
use crate::results::CaptureFile;

impl Capture {
    /// The files of a run that has ended.
    pub fn into_files(self, scenario: &Scenario, ended_at: Time) -> Vec<CaptureFile> {
        let files = self.plan.files.iter().zip(self.kept);
        files.map(|(plan, kept)| file(plan, &kept, scenario, ended_at)).collect()
    }
}

/// Writes a file: its interfaces, the packets by time, and counters.
fn file(plan: &FilePlan, kept: &Kept, scenario: &Scenario, ended_at: Time) -> CaptureFile {
    let mut records: Vec<&Record> = kept.records.iter().collect();
    // A stable sort keeps the order of each node's packets.
    records.sort_by_key(|record| record.seen);
    records.truncate(usize::try_from(plan.settings.limit).unwrap_or(usize::MAX));
    records.sort_by_key(|record| record.at);
    let mut bytes = Vec::new();
    let comment = format!("scenario {}, seed {}", scenario.name, scenario.seed);
    put_section(&mut bytes, concat!("hitless ", env!("CARGO_PKG_VERSION")), &comment);
    for interface in &plan.interfaces {
        put_interface(&mut bytes, &interface.name, interface.description, interface.rate);
    }
    for record in &records {
        let start = record.start as usize;
        bytes.extend_from_slice(&kept.bytes[start..start + record.length as usize]);
    }
    for (number, &accepted) in (0..).zip(&kept.accepted) {
        let count = records.iter().filter(|record| record.interface == number).count() as u64;
        put_statistics(&mut bytes, number, ended_at, accepted, count);
    }
    CaptureFile {
        name: plan.settings.name.clone(),
        bytes,
        packets: records.len() as u64,
        packets_accepted: kept.accepted.iter().sum(),
    }
}
