//! What comes next, for whoever reads early what it needs.

use super::EventQueue;
use super::level::{NONE, SLOT_MASK};

impl<P: Copy> EventQueue<P> {
    /// The sources whose turn comes next, as far as known without sorting: some may be left out, or out of order.
    /// Fills the front of `into`, and answers how many there are.
    pub fn sources_ahead<const N: usize>(&self, into: &mut [u32; N]) -> usize {
        let mut count = 0;
        let mut number = self.current;
        let mut slot = self.cursor;
        for _ in 0..4 * N {
            if number == NONE {
                let Some(next) = self.near.first_from(slot + 1) else { break };
                slot = next;
                number = self.near.heads[(slot & SLOT_MASK) as usize];
                continue;
            }
            if count == N {
                break;
            }
            if number < self.sources {
                into[count] = number;
                count += 1;
            }
            number = self.nodes[number as usize].next;
        }
        count
    }
}
