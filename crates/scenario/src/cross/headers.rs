//! What packets carry for mechanisms: a descriptor has room for so many headers of so many bytes together.

use std::collections::BTreeMap;

use hitless_core::settings::Problem;
use hitless_core::wire::{PriorityMark, ShimStack};

use super::check::Check;
use crate::kind::{Header, Reach, Surroundings};

/// The name of [`PriorityMark`] in messages, whoever writes it.
pub const MARKS: &str = "the marks of hosts";

impl Check<'_> {
    /// Whether what can meet on a packet fits it: at each port where it bears a header for one hop.
    pub(super) fn room_for_headers(&mut self, around: Surroundings<'_>) {
        let all: Vec<Header> = self.scenario.mechanisms.iter().flat_map(|entry| entry.headers(around, self)).collect();
        let everywhere = self.carried_everywhere(&all);
        let mut meetings = BTreeMap::<Vec<&'static str>, Vec<&Header>>::new();
        for own in &all {
            let Reach::OneHop(ports) = &own.reach else { continue };
            let meets = |header: &&Header| match &header.reach {
                Reach::Along(along) => ports.iter().any(|port| along.contains(port)),
                Reach::Everywhere | Reach::OneHop(_) => false,
            };
            let along = unique(all.iter().filter(meets));
            let together: Vec<&Header> = everywhere.iter().chain(along).chain([own]).collect();
            meetings.insert(together.iter().map(|header| header.of).collect(), together);
        }
        meetings.values().for_each(|headers| self.fits_a_packet(headers));
    }

    /// What a packet has with it from switch to switch.
    fn carried_everywhere(&self, all: &[Header]) -> Vec<Header> {
        let marks = self.scenario.marks_packets().then_some(Header::of::<PriorityMark>(MARKS, Reach::Everywhere));
        let of_mechanisms = all.iter().filter(|header| header.reach == Reach::Everywhere);
        unique(marks.iter().chain(of_mechanisms)).into_iter().cloned().collect()
    }

    fn fits_a_packet(&mut self, headers: &[&Header]) {
        let bytes: usize = headers.iter().map(|it| it.bytes).sum();
        self.require_else(bytes <= ShimStack::CAPACITY_BYTES, || {
            let named: Vec<String> = headers.iter().map(|it| format!("{} ({} B)", it.of, it.bytes)).collect();
            let rule = format!(
                "a packet has room for {} B of headers, and {} would be {bytes} B together",
                ShimStack::CAPACITY_BYTES,
                named.join(", ")
            );
            Problem::new("mechanism", "", rule)
                .hint("leave one of them out, or give them links that have none in common")
        });
    }
}

/// Those of one name once.
fn unique<'h>(headers: impl Iterator<Item = &'h Header>) -> Vec<&'h Header> {
    let mut found: Vec<&Header> = Vec::new();
    for header in headers {
        if found.iter().all(|known| known.of != header.of) {
            found.push(header);
        }
    }
    found
}
