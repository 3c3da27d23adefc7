//! What comes next, for whoever reads early what it needs.

use super::EventQueue;
use super::level::{NONE, SLOT_MASK, SLOTS};

/// Slots whose lists are read together.
const LANES: usize = 8;

impl<P: Copy> EventQueue<P> {
    /// Reads the lists of the next slots early, and with each event what `of_source` reads for the source of that
    /// number, or any other number; the answer means nothing.
    ///
    /// Each event of a list says where the next one is, so that a processor waits for one after the other. Those of
    /// several lists it waits for together.
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
                // The end of a list is no event.
                let Some(node) = self.nodes.get(*lane as usize) else { continue };
                read ^= node.time.0 ^ of_source(*lane);
                *lane = node.next;
            }
        }
        read
    }

    /// Looks at the event of a source; the answer means nothing.
    #[inline(always)]
    pub fn read_source(&self, source: u32) -> u64 {
        self.nodes[source as usize].time.0
    }

    /// The sources among the next events, and how many events these are: of the slot whose turn it is, in order, and
    /// where few are left in it, of those behind it, as they lie there.
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
