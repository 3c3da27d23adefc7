//! Prefetching: reads the next events early, before the caller needs them.

use super::EventQueue;
use super::level::{NONE, SLOT_MASK, SLOTS};

/// Number of slots with lists that are read in parallel.
const LANES: usize = 8;

impl<P: Copy> EventQueue<P> {
    /// Prefetches the lists of the next slots. For each event it also calls `of_source` with the node's number, which
    /// can be the number of a source or any other. The result only keeps the loads alive.
    ///
    /// Each event of a list contains the number of the next one, so a processor waits for one load after the other.
    /// Loads of several lists overlap.
    #[inline(always)]
    pub fn read_slots_ahead(&mut self, of_source: impl Fn(u32) -> u64) -> u64 {
        if self.cursor < self.read_from {
            return 0;
        }
        let mut slot = self.read_until.max(self.cursor);
        self.read_from = slot + 1;
        let mut lanes = [NONE; LANES];
        for lane in &mut lanes {
            let next = self.near.first_from(slot + 1);
            let Some(next) = next.filter(|next| next - self.cursor < SLOTS as u64) else { break };
            slot = next;
            *lane = self.near.heads[(slot & SLOT_MASK) as usize];
        }
        self.read_until = slot;
        let mut read = 0;
        while lanes != [NONE; LANES] {
            for lane in &mut lanes {
                // The list has ended.
                let Some(node) = self.nodes.get(*lane as usize) else { continue };
                read ^= node.time.0 ^ of_source(*lane);
                *lane = node.next;
            }
        }
        read
    }

    /// Prefetches the event of a source; the result only keeps the load alive.
    #[inline(always)]
    pub fn read_source(&self, source: u32) -> u64 {
        self.nodes[source as usize].time.0
    }

    /// Finds the sources among the next events; returns their number and the number of events examined. It goes through
    /// the cursor's slot in order, then through later slots in the order of their lists.
    pub fn sources_ahead<const N: usize>(&mut self, into: &mut [u32; N]) -> (usize, u64) {
        if self.current == NONE && !self.advance() {
            return (0, 0);
        }
        let (mut count, mut events) = (0, 0);
        let mut number = self.current;
        let mut slot = self.cursor;
        while events < N {
            if number == NONE {
                if events >= N / 2 {
                    break;
                }
                let Some(next) = self.near.first_from(slot + 1) else { break };
                slot = next;
                number = self.near.heads[(slot & SLOT_MASK) as usize];
                continue;
            }
            if number < self.sources {
                into[count] = number;
                count += 1;
            }
            events += 1;
            number = self.nodes[number as usize].next;
        }
        (count, events as u64)
    }
}
