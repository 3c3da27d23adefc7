//! The packets of one queue, in the order in which they are served.

use std::collections::VecDeque;

use super::config::QueueOrder;
use super::entry::Entry;

/// Packets in line. By rank they lie in a ring that is kept sorted: the place of a packet is found by bisection, and
/// those on the shorter side of it move up by one, which among the few hundred packets of a port is a copy of 2 KB at
/// most.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct Waiting {
    entries: VecDeque<Entry>,
    /// The rank of each entry; none: they are in the order of their arrival.
    ranks: Option<VecDeque<u32>>,
}

impl Waiting {
    /// Nobody in line.
    pub fn new(order: QueueOrder) -> Self {
        let ranks = match order {
            QueueOrder::ByArrival => None,
            QueueOrder::ByRank => Some(VecDeque::new()),
        };
        Self { entries: VecDeque::new(), ranks }
    }

    /// Puts a packet behind all others, or, by rank, behind all that do not have a larger one.
    #[inline]
    pub fn push(&mut self, entry: Entry, rank: u32) {
        match &mut self.ranks {
            None => self.entries.push_back(entry),
            Some(ranks) => {
                let place = ranks.partition_point(|&other| other <= rank);
                ranks.insert(place, rank);
                self.entries.insert(place, entry);
            }
        }
    }

    /// Takes the first.
    #[inline]
    pub fn pop_first(&mut self) -> Option<Entry> {
        if let Some(ranks) = &mut self.ranks {
            ranks.pop_front();
        }
        self.entries.pop_front()
    }

    /// Takes the last.
    pub fn pop_last(&mut self) -> Option<Entry> {
        if let Some(ranks) = &mut self.ranks {
            ranks.pop_back();
        }
        self.entries.pop_back()
    }

    /// The first.
    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.front()
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Those whose rank is larger than `rank`, the last first; none where there are no ranks.
    pub fn worse_than(&self, rank: u32) -> impl Iterator<Item = &Entry> {
        let ranks = self.ranks.iter().flatten().rev();
        ranks.zip(self.entries.iter().rev()).take_while(move |&(&other, _)| other > rank).map(|(_, entry)| entry)
    }

    /// How many.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nobody is in line.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}
