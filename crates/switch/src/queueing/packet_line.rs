//! The packets of a queue, in order of service.

use std::collections::VecDeque;

use super::config::QueueOrder;
use super::entry::Entry;

/// A line of packets. By rank it is kept sorted: a binary search finds the place, and the packets on the shorter side
/// move by one. For the few hundred packets of a port this copies at most 2 KB.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct PacketLine {
    entries: VecDeque<Entry>,
    /// Rank of each entry; `None` for the order of arrival.
    ranks: Option<VecDeque<u32>>,
}

impl PacketLine {
    /// Creates an empty line.
    pub fn new(order: QueueOrder) -> Self {
        let ranks = match order {
            QueueOrder::ByArrival => None,
            QueueOrder::ByRank => Some(VecDeque::new()),
        };
        Self { entries: VecDeque::new(), ranks }
    }

    /// Inserts a packet at the end or, by rank, after all packets with the same or a smaller rank.
    #[inline]
    pub fn push(&mut self, entry: Entry, rank: u32) {
        match &mut self.ranks {
            None => self.entries.push_back(entry),
            Some(ranks) => {
                // After equal ranks, which stay in order of arrival.
                let place = ranks.partition_point(|&other| other <= rank);
                ranks.insert(place, rank);
                self.entries.insert(place, entry);
            }
        }
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop_first(&mut self) -> Option<Entry> {
        if let Some(ranks) = &mut self.ranks {
            ranks.pop_front();
        }
        self.entries.pop_front()
    }

    /// Takes the last packet.
    pub fn pop_last(&mut self) -> Option<Entry> {
        if let Some(ranks) = &mut self.ranks {
            ranks.pop_back();
        }
        self.entries.pop_back()
    }

    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Returns the packets of larger rank than `rank`, the last first; empty without ranks.
    pub fn worse_than(&self, rank: u32) -> impl Iterator<Item = &Entry> {
        let ranks = self.ranks.iter().flatten().rev();
        ranks.zip(self.entries.iter().rev()).take_while(move |&(&other, _)| other > rank).map(|(_, entry)| entry)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
