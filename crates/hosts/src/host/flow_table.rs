//! The flows of a partition by number. Flows that have ended take no memory.
//!
//! The latest flows are in a vector, for a fast look-up per packet. When it is full, the open flows of its first half
//! move to a tree, and the rest is dropped.

use std::collections::BTreeMap;

use super::connection::Connection;
use crate::application::FlowConfig;

/// A flow's entry in the table: 16 bytes in any state.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) enum FlowSlot {
    Waiting(Box<FlowConfig>),
    Active(Box<Connection>),
    /// Ended, or between hosts of other partitions; packets of the flow can still be under way.
    Ended,
}

/// Maximum number of flows in the vector: 8 MB.
const LATEST: usize = 1 << 19;

/// All flows, by number.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct FlowTable {
    latest: Vec<FlowSlot>,
    /// Number of the first flow in `latest`.
    first: usize,
    /// Earlier flows that have not ended.
    earlier: BTreeMap<usize, FlowSlot>,
}

impl FlowTable {
    /// Returns the number of flows ever added.
    pub fn len(&self) -> usize {
        self.first + self.latest.len()
    }

    pub fn push(&mut self, slot: FlowSlot) {
        if self.latest.len() == LATEST {
            let (first, has_ended) = (self.first, |slot: &FlowSlot| matches!(slot, FlowSlot::Ended));
            let half = self.latest.drain(..LATEST / 2).enumerate().filter(|(_, slot)| !has_ended(slot));
            self.earlier.extend(half.map(|(place, slot)| (first + place, slot)));
            self.first += LATEST / 2;
        }
        self.latest.push(slot);
    }

    /// Returns a flow, if it is among the latest.
    #[inline(always)]
    pub fn latest(&self, number: usize) -> Option<&FlowSlot> {
        // A number before the first wraps to a value beyond the last.
        self.latest.get(number.wrapping_sub(self.first))
    }

    #[inline(always)]
    pub fn latest_mut(&mut self, number: usize) -> Option<&mut FlowSlot> {
        self.latest.get_mut(number.wrapping_sub(self.first))
    }

    /// Returns a flow; `None` if it ended long ago or does not exist yet.
    pub fn get(&self, number: usize) -> Option<&FlowSlot> {
        self.latest(number).or_else(|| self.earlier.get(&number))
    }

    #[inline]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut FlowSlot> {
        let place = number.wrapping_sub(self.first);
        if place < self.latest.len() { self.latest.get_mut(place) } else { self.get_earlier(number) }
    }

    #[cold]
    #[inline(never)]
    fn get_earlier(&mut self, number: usize) -> Option<&mut FlowSlot> {
        self.earlier.get_mut(&number)
    }

    pub fn end(&mut self, number: usize) {
        match self.latest.get_mut(number.wrapping_sub(self.first)) {
            Some(slot) => *slot = FlowSlot::Ended,
            None => drop(self.earlier.remove(&number)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &FlowSlot> {
        self.earlier.values().chain(&self.latest)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut FlowSlot> {
        self.earlier.values_mut().chain(&mut self.latest)
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::engine::FlowIdentity;
    use hitless_core::wire::{HostId, Time};

    use super::*;
    use crate::application::{Application, TransportId};

    #[test]
    fn a_million_flows_that_are_not_active_take_little_memory() {
        assert_eq!(size_of::<FlowSlot>(), 16);
        assert!(size_of::<FlowConfig>() <= 112, "{}", size_of::<FlowConfig>());
        assert!(size_of::<Connection>() <= 1_024, "{}", size_of::<Connection>());
    }

    #[test]
    fn a_flow_is_found_until_it_ends_however_many_come_after_it() {
        let config = FlowConfig {
            source: HostId(0),
            destination: HostId(1),
            transport: TransportId(0),
            start: Time::ZERO,
            application: Application::one_way(1),
            tag: 0,
            class: 0,
            acknowledgement_class: 0,
            identity: FlowIdentity::default(),
            tagging: None,
            request: None,
        };
        let mut flows = FlowTable::default();
        for number in 0..3 * LATEST {
            flows.push(FlowSlot::Waiting(Box::new(config)));
            if number % 100_000 != 7 {
                flows.end(number);
            }
        }
        assert_eq!(flows.len(), 3 * LATEST);
        assert!(flows.latest.capacity() <= LATEST && flows.earlier.len() < 20);
        for number in 0..3 * LATEST {
            let is_there = matches!(flows.get(number), Some(FlowSlot::Waiting(_)));
            assert_eq!(is_there, number % 100_000 == 7, "{number}");
        }
        assert!(flows.get_mut(100_007).is_some());
        flows.end(100_007);
        assert!(flows.get(100_007).is_none() && flows.get(3 * LATEST).is_none());
    }
}
