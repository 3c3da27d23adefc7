//! The parts of completion times that most paths lack: recoveries, pauses, mechanisms, applications.

use hitless_core::wire::Time;

use super::parts::{PARTS, Part, Recovery};

/// The rare parts of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rare {
    /// By part; 0 for the parts that a ledger has itself.
    pub parts: [u64; PARTS],
    pub recoveries: u32,
    pub longest_recovery: Option<Recovery>,
    /// Time of the latest retransmission on the path.
    pub recovered_at: Time,
}

const NOTHING: Rare = Rare { parts: [0; PARTS], recoveries: 0, longest_recovery: None, recovered_at: Time::ZERO };

/// Minimum number of entries between two collections.
const SPARE: usize = 1_024;

/// Rare parts by number. Ledgers can share an entry, so an entry never changes: a charge makes a new one. Entries
/// without a ledger are freed from time to time, all at once.
#[derive(Debug)]
pub(super) struct RareLedgers {
    all: Vec<Rare>,
    collected_at: usize,
}

impl Default for RareLedgers {
    fn default() -> Self {
        Self { all: vec![NOTHING], collected_at: SPARE }
    }
}

impl RareLedgers {
    /// Returns an entry; entry 0 is empty.
    pub fn of(&self, number: u32) -> &Rare {
        &self.all[number as usize]
    }

    /// Returns the entry with a time more.
    #[cold]
    #[inline(never)]
    pub fn charged(&mut self, number: u32, part: Part, time_ps: u64) -> u32 {
        let mut rare = *self.of(number);
        rare.parts[part as usize] += time_ps;
        self.add(rare)
    }

    /// Returns the entry with a recovery more, which ended at `at`.
    #[cold]
    #[inline(never)]
    pub fn recovered(&mut self, number: u32, at: Time, recovery: Recovery) -> u32 {
        let mut rare = *self.of(number);
        rare.recovered_at = at;
        rare.recoveries += 1;
        if rare.longest_recovery.is_none_or(|longest| recovery.time_ps >= longest.time_ps) {
            rare.longest_recovery = Some(recovery);
        }
        self.add(rare)
    }

    /// Returns the number here of a copy of another collection's entry.
    pub fn adopt(&mut self, number: u32, from: &Self) -> u32 {
        if number == 0 { 0 } else { self.add(*from.of(number)) }
    }

    fn add(&mut self, rare: Rare) -> u32 {
        assert!(self.all.len() < u32::MAX as usize, "an autopsy has 2^32 rare ledgers");
        self.all.push(rare);
        self.all.len() as u32 - 1
    }

    /// Whether [`Self::collect`] is due.
    #[inline(always)]
    pub fn are_due(&self) -> bool {
        self.all.len() >= self.collected_at
    }

    /// Frees the entries that no ledger names; `numbers` has the numbers in all ledgers. The next collection waits for
    /// as many new entries as this one has kept, and for a quarter of the ledgers. So collections cost a constant time
    /// for each entry.
    pub fn collect<'a>(&mut self, numbers: impl Iterator<Item = &'a mut u32>) {
        let old = std::mem::take(self);
        let (mut moved, mut seen) = (vec![0; old.all.len()], 0);
        for number in numbers {
            seen += 1;
            let to: &mut u32 = &mut moved[*number as usize];
            if *to == 0 {
                *to = self.adopt(*number, &old);
            }
            *number = *to;
        }
        self.collected_at = 2 * self.all.len() + seen / 4 + SPARE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_keep_shared_entries_and_free_the_others() {
        let mut rares = RareLedgers::default();
        let paced = (1..=9).fold(0, |number, time_ps| rares.charged(number, Part::Pacing, time_ps));
        let recovery = Recovery { time_ps: 7, part: Part::Probe, loss: None };
        let recovered = rares.recovered(paced, Time(5), recovery);
        let mut numbers = [0, paced, recovered, recovered];
        assert_eq!(rares.all.len(), 11);
        rares.collect(numbers.iter_mut());
        assert_eq!((rares.all.len(), rares.are_due()), (3, false));
        assert_eq!((numbers[0], numbers[2]), (0, numbers[3]));
        let [first, second, third, _] = numbers.map(|number| *rares.of(number));
        assert_eq!((first.parts, first.recoveries), ([0; PARTS], 0));
        assert_eq!((second.parts[Part::Pacing as usize], second.recoveries), (45, 0));
        assert_eq!((third.parts[Part::Pacing as usize], third.longest_recovery), (45, Some(recovery)));
    }
}
