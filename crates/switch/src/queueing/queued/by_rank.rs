//! Queues served by rank, which evict packets of larger rank when they are full.

use hitless_core::wire::QueueId;

use super::QueuedScheduler;
use crate::canary::{Canary, sings};
use crate::drop_reason::DropReason;
use crate::queueing::buffer::SharedBuffer;
use crate::queueing::entry::Entry;

/// Which packets can be dropped for a packet without room in a queue served by rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The last packets of strictly larger rank, as many as necessary, if the new packet then fits. Otherwise only the
    /// new packet is refused (Vertigo, CoNEXT 2021, section 3.2).
    OnlyIfItFits,
    /// The new packet is inserted by its rank even if the queue is full; then the last packets are dropped until the
    /// rest fits. The new packet can be among them.
    AtAnyPrice,
}

impl QueuedScheduler {
    /// Returns whether `queue` is served by rank and needs [`Self::offer_by_rank`].
    #[inline]
    pub const fn is_by_rank(&self, queue: QueueId) -> bool {
        self.by_rank >> queue.0 & 1 == 1
    }

    /// Puts a packet into a queue served by rank. Accounts in the buffer for it and for the packets evicted for it;
    /// [`Self::take_evicted`] returns these. The result says whether the depth requires a congestion mark.
    pub fn offer_by_rank(
        &mut self,
        queue: QueueId,
        rank: u32,
        entry: Entry,
        claim: Claim,
        buffer: &mut SharedBuffer,
    ) -> Result<bool, DropReason> {
        let (victims, lack) = self.victims(queue, rank, entry, buffer);
        if lack.is_none() || claim == Claim::AtAnyPrice {
            (0..victims).for_each(|_| self.evict_last(queue, buffer));
        }
        if let Some(reason) = lack {
            return Err(reason);
        }
        buffer.take(entry.frame_bytes);
        let backlog = self.backlog(queue, entry.enqueued_at);
        Ok(self.put_in(queue, rank, entry, backlog))
    }

    /// Returns how many of the last packets, all of larger rank, must be evicted for the arriving packet, and the
    /// reason if it still does not fit.
    fn victims(&self, queue: QueueId, rank: u32, entry: Entry, buffer: &SharedBuffer) -> (usize, Option<DropReason>) {
        let (packets, bytes) = self.backlog(queue, entry.enqueued_at);
        let state = &self.queues[usize::from(queue.0)];
        let lack_without = |victims: usize, freed_bytes: u64| {
            if !buffer.has_room_without(freed_bytes, state.bytes, entry.frame_bytes) {
                return Some(DropReason::BufferFull);
            }
            let has_room = state.config.limit.has_room(packets - victims, bytes - freed_bytes, entry.frame_bytes);
            (!has_room).then_some(DropReason::QueueFull)
        };
        let (mut victims, mut freed_bytes) = (0, 0);
        let mut lack = lack_without(0, 0);
        let mut worse = state.waiting.worse_than(rank);
        // Evicts from the end, one packet at a time, until the new packet fits.
        while let (Some(_), Some(victim)) = (lack, worse.next()) {
            victims += 1;
            freed_bytes += u64::from(victim.frame_bytes);
            lack = lack_without(victims, freed_bytes);
        }
        (victims, lack)
    }

    fn evict_last(&mut self, queue: QueueId, buffer: &mut SharedBuffer) {
        let state = &mut self.queues[usize::from(queue.0)];
        let entry = state.waiting.pop_last().expect("victims wait in the queue");
        state.bytes -= u64::from(entry.frame_bytes);
        if !sings(Canary::LeakedCell) {
            buffer.give_back(entry.frame_bytes);
        }
        self.evicted.push(entry);
        if self.queues[usize::from(queue.0)].waiting.is_empty() {
            self.note_emptied(queue);
        }
    }

    fn note_emptied(&mut self, queue: QueueId) {
        self.occupied &= !(1 << queue.0);
        self.ready &= !(1 << queue.0);
        let level = self.levels.iter_mut().find(|level| level.mask >> queue.0 & 1 == 1);
        level.expect("each queue is of a level").members.emptied(queue.0);
    }

    /// Returns whether there are evicted packets to take.
    #[inline]
    pub const fn has_evicted(&self) -> bool {
        !self.evicted.is_empty()
    }

    /// Returns the evicted packets; [`Self::put_back`] takes the list back.
    pub fn take_evicted(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.evicted)
    }

    /// Takes the list of [`Self::take_evicted`] back, to reuse its memory.
    pub fn put_back(&mut self, mut list: Vec<Entry>) {
        list.clear();
        self.evicted = list;
    }
}

#[cfg(test)]
mod tests;
