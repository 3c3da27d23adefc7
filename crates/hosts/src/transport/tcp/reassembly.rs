//! Data received above a gap, and the SACK blocks that report it.

use hitless_core::wire::SackBlocks;

/// A contiguous range above a gap.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Island {
    start: u64,
    end: u64,
    /// Number of the last change, for reporting the latest change first.
    touched: u64,
}

/// The islands of a connection, in order of sequence.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
#[repr(C)]
pub(super) struct Reassembly {
    changes: u64,
    islands: Vec<Island>,
}

impl Reassembly {
    /// Returns whether there is no gap.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.islands.is_empty()
    }

    /// Returns the bytes above the first gap.
    pub fn bytes(&self) -> u64 {
        self.islands.iter().map(|island| island.end - island.start).sum()
    }

    /// Returns whether all of `[start, end)` is present.
    pub fn contains(&self, start: u64, end: u64) -> bool {
        self.islands.iter().any(|island| island.start <= start && end <= island.end)
    }

    /// Adds `[start, end)` and joins adjacent islands.
    pub fn insert(&mut self, start: u64, end: u64) {
        assert!(start < end, "a run of no bytes");
        self.changes += 1;
        // Adjacent islands have no gap between them, so they join too.
        let first = self.islands.partition_point(|island| island.end < start);
        let after = self.islands.partition_point(|island| island.start <= end);
        let mut joined = Island { start, end, touched: self.changes };
        if first < after {
            joined.start = start.min(self.islands[first].start);
            joined.end = end.max(self.islands[after - 1].end);
        }
        self.islands.splice(first..after, [joined]);
        debug_assert!(self.islands.is_sorted_by(|before, after| before.end < after.start), "islands touch");
    }

    /// Drops everything below `next`, which has arrived, and returns the start of the next gap.
    pub fn advance(&mut self, next: u64) -> u64 {
        let reached = self.islands.partition_point(|island| island.start <= next);
        let end = self.islands[..reached].last().map_or(next, |island| island.end.max(next));
        self.islands.drain(..reached);
        end
    }

    /// Returns up to three blocks, latest change first (RFC 2018, section 4).
    pub fn blocks(&self, acknowledgement: u64) -> SackBlocks {
        let mut blocks = [(0, 0); 3];
        if self.islands.is_empty() {
            return SackBlocks(blocks);
        }
        let mut newest: [Option<&Island>; 3] = [None; 3];
        for island in &self.islands {
            let mut candidate = Some(island);
            // An insertion sort that keeps the three latest islands.
            for place in &mut newest {
                if place.is_none_or(|known| candidate.is_some_and(|candidate| candidate.touched > known.touched)) {
                    std::mem::swap(place, &mut candidate);
                }
            }
        }
        assert!(self.islands[0].start > acknowledgement, "what is in order is no island");
        for (block, island) in blocks.iter_mut().zip(newest.into_iter().flatten()) {
            *block = ((island.start - acknowledgement) as u32, (island.end - acknowledgement) as u32);
        }
        SackBlocks(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 5_000;

    /// Feeds segments of 500 bytes, as in the examples of RFC 2018; returns the acknowledgement and its blocks.
    fn receive(segments: &[u64]) -> (u64, Vec<(u64, u64)>) {
        let mut reassembly = Reassembly::default();
        let mut next = BASE;
        for &start in segments {
            if start > next {
                reassembly.insert(start, start + 500);
            } else {
                next = reassembly.advance(start + 500);
            }
        }
        (next, reassembly.blocks(next).absolute(next).collect())
    }

    #[test]
    fn blocks_follow_the_cases_of_rfc_2018_section_8() {
        let sent: Vec<u64> = (0..8).map(|index| BASE + 500 * index).collect();
        // Case 1: the first four segments arrive, the last four are dropped.
        assert_eq!(receive(&sent[..4]), (7_000, vec![]));
        // Case 2: the first is dropped.
        assert_eq!(receive(&sent[1..2]), (5_000, vec![(5_500, 6_000)]));
        assert_eq!(receive(&sent[1..8]), (5_000, vec![(5_500, 9_000)]));
        // Case 3: the second, fourth, sixth and eighth are dropped.
        let odd = [5_000, 6_000, 7_000, 8_000];
        assert_eq!(receive(&odd[..2]), (5_500, vec![(6_000, 6_500)]));
        assert_eq!(receive(&odd[..3]), (5_500, vec![(7_000, 7_500), (6_000, 6_500)]));
        assert_eq!(receive(&odd), (5_500, vec![(8_000, 8_500), (7_000, 7_500), (6_000, 6_500)]));
        // Then the fourth arrives, out of order, and then the second.
        let fourth = [5_000, 6_000, 7_000, 8_000, 6_500];
        assert_eq!(receive(&fourth), (5_500, vec![(6_000, 7_500), (8_000, 8_500)]));
        let second = [5_000, 6_000, 7_000, 8_000, 6_500, 5_500];
        assert_eq!(receive(&second), (7_500, vec![(8_000, 8_500)]));
    }

    #[test]
    fn only_the_three_latest_of_many_islands_are_reported() {
        let (_, blocks) = receive(&[10_000, 20_000, 30_000, 40_000, 15_000]);
        assert_eq!(blocks, [(15_000, 15_500), (40_000, 40_500), (30_000, 30_500)]);
    }

    #[test]
    fn overlaps_join() {
        let mut reassembly = Reassembly::default();
        for (start, end) in [(10, 20), (30, 40), (15, 30), (5, 12)] {
            reassembly.insert(start, end);
        }
        assert_eq!(reassembly.blocks(0).0, [(5, 40), (0, 0), (0, 0)]);
        assert_eq!(reassembly.bytes(), 35);
        assert!(reassembly.contains(10, 40) && !reassembly.contains(4, 10));
        assert_eq!(reassembly.advance(7), 40);
        assert!(reassembly.is_empty());
    }
}
