//! The frames in front of a packet, counted by flow and by kind.

use std::collections::BTreeMap;

use hitless_core::wire::{Duration, FlowId};

use super::kind::{Frame, Kind};

/// Number of flows with separate rows (chosen: enough to find the elephant).
const NAMED: usize = 3;

/// Frames in front of a packet: of a flow, of several flows of a group, or of another kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub kind: Kind,
    /// The largest flow, by bytes; meaningless without a flow.
    pub flow: u32,
    /// Number of flows; 0 for frames that are not counted by flow.
    pub flows: u32,
    pub frames: u32,
    pub bytes: u64,
    /// Their time on the line while the packet waited.
    pub time_ps: u64,
}

impl Row {
    const fn new(kind: Kind, flow: u32) -> Self {
        Self { kind, flow, flows: 0, frames: 0, bytes: 0, time_ps: 0 }
    }

    fn add(&mut self, other: &Self) {
        self.flows += other.flows;
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.time_ps += other.time_ps;
    }
}

/// The frames that stood in front of a packet.
#[derive(Clone, Debug)]
pub(super) struct Front {
    /// The port of the queue.
    pub place: u32,
    pub rows: Box<[Row]>,
}

impl Front {
    /// Their time on the line while the packet waited.
    pub fn time_ps(&self) -> u64 {
        self.rows.iter().map(|row| row.time_ps).sum()
    }
}

/// Counts the frames in front of a packet, packet by packet.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The group of each flow.
    groups: Vec<u32>,
    /// By flow and direction: its row in `found` plus one, or 0.
    places: Vec<u32>,
    found: Vec<Row>,
    others: BTreeMap<Kind, Row>,
    /// Frames counted in the run.
    pub steps: u64,
}

impl Tally {
    /// Adds the next flow.
    pub fn add_flow(&mut self, group: u32) {
        self.groups.push(group);
        self.places.extend([0, 0]);
    }

    pub fn group(&self, row: &Row) -> u32 {
        self.groups[row.flow as usize]
    }

    /// Adds a frame.
    pub fn add(&mut self, flow: FlowId, frame: Frame, time: Duration) {
        self.steps += 1;
        let row = match frame.kind() {
            kind if kind.is_of_flow() => self.of_flow(flow, kind),
            kind => self.others.entry(kind).or_insert(Row::new(kind, flow.0)),
        };
        row.frames += 1;
        row.bytes += u64::from(frame.bytes());
        row.time_ps += time.as_ps();
    }

    fn of_flow(&mut self, flow: FlowId, kind: Kind) -> &mut Row {
        let place = &mut self.places[2 * flow.0 as usize + usize::from(kind.is_answer())];
        if *place == 0 {
            self.found.push(Row { flows: 1, ..Row::new(kind, flow.0) });
            *place = self.found.len() as u32;
        }
        &mut self.found[*place as usize - 1]
    }

    /// Returns the frames since the last call, in front of a packet of `own` at a port.
    ///
    /// The flow itself and the [`NAMED`] largest other flows have a row each; the rest of a group has a row by kind.
    pub fn front(&mut self, place: u32, own: FlowId) -> Front {
        let Self { groups, places, found, others, .. } = self;
        for row in found.iter() {
            places[2 * row.flow as usize + usize::from(row.kind.is_answer())] = 0;
        }
        found.sort_unstable_by_key(|row| (row.flow != own.0, std::cmp::Reverse(row.bytes), row.flow, row.kind));
        let of_own = found.iter().take_while(|row| row.flow == own.0).count();
        let rest = found.split_off(found.len().min(of_own + NAMED));
        let mut of_groups: BTreeMap<(u32, Kind), Row> = BTreeMap::new();
        for row in &rest {
            let of_group = of_groups.entry((groups[row.flow as usize], row.kind));
            // The first is the largest.
            of_group.or_insert(Row::new(row.kind, row.flow)).add(row);
        }
        let rows = found.drain(..).chain(of_groups.into_values()).chain(std::mem::take(others).into_values());
        Front { place, rows: rows.collect() }
    }
}
