//! The parts of completion times that most paths lack: recoveries, pauses, mechanisms, applications.

use hitless_core::wire::Time;

use super::ledger::{Ledger, PARTS, Part, Recovery};

/// The rare parts of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rare {
    /// By part; 0 for the parts that [`Ledger`] has itself.
    pub parts: [u64; PARTS],
    pub recoveries: u32,
    pub longest_recovery: Option<Recovery>,
    /// Time of the latest retransmission on the path.
    pub recovered_at: Time,
}

const NOTHING: Rare = Rare { parts: [0; PARTS], recoveries: 0, longest_recovery: None, recovered_at: Time::ZERO };

/// Minimum number of entries between two collections.
const SPARE: usize = 1_024;

/// Rare parts by number. Many ledgers can name one entry, so an entry never changes: a charge makes a new one. Entries
/// that no ledger names are freed now and then, all at once.
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
    /// The rare parts of a ledger.
    pub fn of(&self, ledger: &Ledger) -> &Rare {
        &self.all[ledger.rare as usize]
    }

    /// Charges a time to a rare part of the ledger.
    #[cold]
    #[inline(never)]
    pub fn charge(&mut self, ledger: &mut Ledger, part: Part, time_ps: u64) {
        let mut rare = *self.of(ledger);
        rare.parts[part as usize] += time_ps;
        self.set(ledger, rare);
    }

    /// Counts a recovery with its time already charged.
    #[cold]
    #[inline(never)]
    pub fn note_recovery(&mut self, ledger: &mut Ledger, recovery: Recovery) {
        let mut rare = *self.of(ledger);
        rare.recovered_at = ledger.at;
        rare.recoveries += 1;
        if rare.longest_recovery.is_none_or(|longest| recovery.time_ps >= longest.time_ps) {
            rare.longest_recovery = Some(recovery);
        }
        self.set(ledger, rare);
    }

    /// Gives a ledger of other rare parts a copy of them here.
    pub fn adopt(&mut self, ledger: &mut Ledger, from: &Self) {
        if ledger.rare != 0 {
            self.set(ledger, *from.of(ledger));
        }
    }

    fn set(&mut self, ledger: &mut Ledger, rare: Rare) {
        assert!(self.all.len() < u32::MAX as usize, "an autopsy has 2^32 rare ledgers");
        ledger.rare = self.all.len() as u32;
        self.all.push(rare);
    }

    /// Whether [`Self::collect`] is due.
    #[inline(always)]
    pub fn are_due(&self) -> bool {
        self.all.len() >= self.collected_at
    }

    /// Frees the entries that none of the ledgers names. The next collection waits for as many new entries as this one
    /// has kept, and for a quarter of the ledgers, so collections cost a constant time for each entry.
    pub fn collect<'a>(&mut self, ledgers: impl Iterator<Item = &'a mut Ledger>) {
        let old = std::mem::take(self);
        let (mut moved, mut seen) = (vec![0; old.all.len()], 0);
        for ledger in ledgers {
            seen += 1;
            let to: &mut u32 = &mut moved[ledger.rare as usize];
            if *to == 0 {
                self.adopt(ledger, &old);
                *to = ledger.rare;
            }
            ledger.rare = *to;
        }
        self.collected_at = 2 * self.all.len() + seen / 4 + SPARE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_keep_shared_entries_and_free_the_others() {
        let (mut rares, mut ledgers) = (RareLedgers::default(), vec![Ledger::new(Time(5)); 4]);
        for time_ps in 1..=9 {
            rares.charge(&mut ledgers[1], Part::Pacing, time_ps);
        }
        ledgers[2] = ledgers[1];
        let recovery = Recovery { time_ps: 7, part: Part::Probe, loss: None };
        rares.note_recovery(&mut ledgers[2], recovery);
        ledgers[3] = ledgers[2];
        assert_eq!(rares.all.len(), 11);
        rares.collect(ledgers.iter_mut());
        assert_eq!((rares.all.len(), rares.are_due()), (3, false));
        assert_eq!((ledgers[0].rare, ledgers[2].rare), (0, ledgers[3].rare));
        let [first, second, third] = [0, 1, 2].map(|number: usize| *rares.of(&ledgers[number]));
        assert_eq!((first.parts, first.recoveries), ([0; PARTS], 0));
        assert_eq!((second.parts[Part::Pacing as usize], second.recoveries), (45, 0));
        assert_eq!((third.parts[Part::Pacing as usize], third.longest_recovery), (45, Some(recovery)));
    }
}
