//! Home queues: copies wait in these queues of the primary port to be sent in order (section III-E).
//!
//! In a single FIFO queue each early copy goes round once more: sorting `n` copies takes up to `n * n / 2` passes,
//! milliseconds at 100G. Here blocks of tags take turns over several queues, and only the queue of the next tag is
//! served, which divides the number of passes by the number of queues.

use hitless_core::wire::{PortId, QueueId};

/// The number of home queues of a protected port.
pub const HOME_QUEUES: u8 = 8;

#[derive(Debug, Default, hitless_core::state::State)]
pub struct HomeQueues {
    first: Vec<QueueId>,
    /// The binary logarithm of the number of tags in a block.
    block_shift: u32,
}

impl HomeQueues {
    /// Home queues that begin with `first` at each port, for `copies_max` copies.
    pub fn new(first: Vec<QueueId>, copies_max: u64) -> Self {
        assert!(first.iter().all(|queue| queue.0 <= u8::MAX - HOME_QUEUES), "home queues have numbers of 8 bits");
        // A power of two, so that the queue is a shift of the tag, and the blocks stay in step when tags wrap.
        let block = copies_max.div_ceil(u64::from(HOME_QUEUES)).clamp(1, 1 << 30);
        Self { first, block_shift: block.next_power_of_two().ilog2() }
    }

    pub fn queue(&self, primary: PortId, tag: u32) -> QueueId {
        // Blocks instead of single tags: the served queue changes only at the border of a block.
        QueueId(self.first(primary) + ((tag >> self.block_shift) % u32::from(HOME_QUEUES)) as u8)
    }

    pub fn contains(&self, primary: PortId, queue: QueueId) -> bool {
        (self.first(primary)..self.first(primary) + HOME_QUEUES).contains(&queue.0)
    }

    fn first(&self, primary: PortId) -> u8 {
        self.first[usize::from(primary.0)].0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_tags_take_turns_over_the_queues() {
        let port = PortId(1);
        for copies_max in [1, 8, 100, 128, 1_000_000] {
            let home = HomeQueues::new(vec![QueueId(3), QueueId(9)], copies_max);
            let queues: Vec<_> = (0..copies_max as u32).map(|tag| home.queue(port, tag).0).collect();
            assert!(queues.is_sorted(), "{copies_max}: no block comes twice");
            assert!(queues.iter().all(|&queue| home.contains(port, QueueId(queue))));
            let longest = queues.chunk_by(|a, b| a == b).map(<[u8]>::len).max();
            assert!(longest <= Some((copies_max.div_ceil(8) * 2) as usize), "{copies_max}: {longest:?}");
            assert_eq!(home.queue(port, u32::MAX), QueueId(9 + 7), "tags wrap with the queues");
        }
        let home = HomeQueues::new(vec![QueueId(3)], 1);
        assert!(!home.contains(PortId(0), QueueId(2)) && !home.contains(PortId(0), QueueId(11)));
    }
}
