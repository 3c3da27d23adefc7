//! Table entries and their lookup: by hash for exact keys and for each prefix length, otherwise in order of priority.

use crate::meter::Counter;
use crate::meter::Meter;
use crate::program::{Call, Entry, Lookup, MatchKind, Table};

/// Maximum number of 64-bit words in a key.
pub const KEY_WORDS_MAX: usize = 64;

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct TableState {
    /// Entries, with their counters and meters.
    pub entries: Vec<Row>,
    pub default: Option<Call>,
    /// The default member or group of an indirect table.
    pub default_target: Option<crate::program::Target>,
    /// Number of packets without a matching entry.
    pub misses: u64,
    next_handle: u32,
    /// Prefix lengths of the entries, longest first.
    lengths: Vec<u32>,
    /// Hash table with open addressing: index of an entry plus 1; 0 is empty.
    index: Vec<u32>,
    /// Entries in order of priority.
    order: Vec<u32>,
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct Row {
    pub entry: Entry,
    pub handle: u32,
    /// Its counter, in tables with direct counters.
    pub counter: Counter,
    /// Its meter, in tables with a direct meter.
    pub meter: Meter,
}

impl TableState {
    pub fn new(table: &Table) -> Self {
        Self { default: table.default.clone(), ..Self::default() }
    }

    pub fn insert(&mut self, table: &Table, entry: Entry) -> u32 {
        let words = table.key_words as usize;
        assert_eq!((entry.key.len(), entry.mask.len()), (words, words), "an entry has the words of its table's key");
        let handle = self.next_handle;
        self.next_handle = handle.checked_add(1).expect("a table gives fewer than 2^32 handles");
        self.entries.push(Row { entry, handle, counter: Counter::default(), meter: Meter::default() });
        let place = self.entries.len() - 1;
        if table.lookup == Lookup::Priority || !self.append(table, place) {
            self.rebuild(table);
        }
        handle
    }

    /// Removes the entry with this handle; false if it does not exist.
    pub fn remove(&mut self, table: &Table, handle: u32) -> bool {
        let before = self.entries.len();
        self.entries.retain(|row| row.handle != handle);
        self.rebuild(table);
        self.entries.len() < before
    }

    pub fn clear(&mut self, table: &Table) {
        self.entries.clear();
        self.rebuild(table);
    }

    pub fn row(&mut self, handle: u32) -> Option<&mut Row> {
        self.entries.iter_mut().find(|row| row.handle == handle)
    }

    /// Handle of an existing entry with the same key as `entry`.
    pub fn same_key(&self, entry: &Entry) -> Option<u32> {
        let same = |row: &&Row| {
            let other = &row.entry;
            other.key == entry.key && other.mask == entry.mask && other.priority == entry.priority
        };
        self.entries.iter().find(same).map(|row| row.handle)
    }

    /// Adds an entry to the hash index; false if the index must first grow or learn the prefix length.
    fn append(&mut self, table: &Table, place: usize) -> bool {
        let prefix = self.entries[place].entry.prefix;
        let knows = table.lookup == Lookup::Exact || self.lengths.contains(&prefix);
        if !knows || 2 * self.entries.len() > self.index.len() {
            return false;
        }
        self.put(place);
        true
    }

    fn put(&mut self, place: usize) {
        let entry = &self.entries[place].entry;
        assert!(self.entries.len() < self.index.len(), "the index of a table has a free slot, where a search ends");
        let mask = self.index.len() - 1;
        let mut slot = mix(&entry.key, entry.prefix) as usize & mask;
        while self.index[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.index[slot] = place as u32 + 1;
    }

    fn rebuild(&mut self, table: &Table) {
        if table.lookup == Lookup::Priority {
            self.order = (0..self.entries.len() as u32).collect();
            // A stable sort: of entries with one priority the oldest comes first.
            self.order.sort_by_key(|&place| self.entries[place as usize].entry.priority);
            assert_eq!(self.order.len(), self.entries.len(), "each entry has its place in the order of priorities");
            return;
        }
        self.lengths = self.entries.iter().map(|row| row.entry.prefix).collect();
        // Longest first: the first match of `find_longest` is the longest prefix.
        self.lengths.sort_unstable_by(|one, other| other.cmp(one));
        self.lengths.dedup();
        // At most a quarter full, and rebuilt when half full (`append`): probes stay short, and insertions cheap.
        let size = (4 * self.entries.len()).next_power_of_two().max(16);
        self.index.clear();
        self.index.resize(size, 0);
        (0..self.entries.len()).for_each(|place| self.put(place));
    }

    /// The index of the entry that matches `key`.
    #[inline]
    pub fn find(&self, table: &Table, key: &[u64]) -> Option<usize> {
        assert_eq!(key.len(), table.key_words as usize, "a key has the words of its table's");
        match table.lookup {
            _ if self.entries.is_empty() => None,
            Lookup::Exact => self.probe(key, 0),
            Lookup::Longest(place) => self.find_longest(table, place as usize, key),
            Lookup::Priority => {
                let found = self.order.iter().find(|&&place| matches(table, &self.entries[place as usize].entry, key));
                found.map(|&place| place as usize)
            }
        }
    }

    #[inline]
    fn find_longest(&self, table: &Table, place: usize, key: &[u64]) -> Option<usize> {
        let of = &table.key[place];
        let mut masked = [0; KEY_WORDS_MAX];
        let masked = &mut masked[..key.len()];
        let words = of.word as usize..of.word as usize + of.words();
        masked.copy_from_slice(key);
        self.lengths.iter().find_map(|&length| {
            for (number, word) in words.clone().enumerate() {
                masked[word] = key[word] & prefix_mask(of.width, length, number);
            }
            self.probe(masked, length)
        })
    }

    #[inline]
    fn probe(&self, key: &[u64], prefix: u32) -> Option<usize> {
        let mask = self.index.len().checked_sub(1)?;
        let mut slot = mix(key, prefix) as usize & mask;
        loop {
            let place = (self.index[slot] as usize).checked_sub(1)?;
            let entry = &self.entries[place].entry;
            if *entry.key == *key && entry.prefix == prefix {
                return Some(place);
            }
            slot = (slot + 1) & mask;
        }
    }
}

/// A word of the mask with `length` ones at the top of `width` bits; word 0 has the low bits.
pub fn prefix_mask(width: u32, length: u32, number: usize) -> u64 {
    let zeros = width.saturating_sub(length) as usize;
    let (from, top) = (64 * number, (width as usize - 64 * number).min(64));
    let ones = if top == 64 { u64::MAX } else { (1 << top) - 1 };
    match zeros.saturating_sub(from) {
        low if low >= 64 => 0,
        low => ones & (u64::MAX << low),
    }
}

fn matches(table: &Table, entry: &Entry, key: &[u64]) -> bool {
    table.key.iter().all(|of| {
        let words = of.word as usize..of.word as usize + of.words();
        match of.kind {
            MatchKind::Range => {
                // The most significant word comes last, so numbers compare like their words in reverse.
                let value = || key[words.clone()].iter().rev();
                value().ge(entry.key[words.clone()].iter().rev()) && value().le(entry.mask[words.clone()].iter().rev())
            }
            _ => words.into_iter().all(|word| key[word] & entry.mask[word] == entry.key[word]),
        }
    })
}

#[inline]
fn mix(key: &[u64], prefix: u32) -> u64 {
    let mut mixed = u64::from(prefix);
    for &word in key {
        mixed = (mixed.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    mixed ^ (mixed >> 29) ^ (mixed >> 47)
}

#[cfg(test)]
mod tests {
    use super::prefix_mask;

    #[test]
    fn a_prefix_has_its_ones_at_the_top() {
        assert_eq!(prefix_mask(32, 24, 0), 0xffff_ff00);
        assert_eq!(prefix_mask(32, 0, 0), 0);
        assert_eq!(prefix_mask(32, 32, 0), 0xffff_ffff);
        assert_eq!((prefix_mask(128, 70, 0), prefix_mask(128, 70, 1)), (0xfc00_0000_0000_0000, u64::MAX));
        assert_eq!((prefix_mask(128, 64, 0), prefix_mask(128, 64, 1)), (0, u64::MAX));
        assert_eq!((prefix_mask(128, 3, 0), prefix_mask(128, 3, 1)), (0, 0xe000_0000_0000_0000));
    }
}
