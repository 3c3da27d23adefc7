//! The state of a running program: table entries, registers, counters, meters, and the control plane's other
//! configuration.

use std::collections::VecDeque;

use crate::meter::Counter;
use crate::meter::Meter;
use crate::program::Program;
use crate::replication::Replication;
use crate::tables::TableState;

/// Maximum number of stored digests; a new one then replaces the oldest.
const DIGESTS_MAX: usize = 1024;

#[derive(Clone, Debug, hitless_core::state::State)]
pub struct State {
    /// Tables, in the program's order.
    pub tables: Vec<TableState>,
    pub profiles: Vec<ProfileState>,
    #[part]
    pub registers: Vec<Registers>,
    pub counters: Vec<Vec<Counter>>,
    /// Meter arrays, except direct meters.
    pub meters: Vec<Vec<Meter>>,
    /// Members of value sets, in the form of parser keys.
    pub value_sets: Vec<Vec<Box<[u8]>>>,
    /// Clone sessions and multicast groups.
    #[part]
    pub replication: Replication,
    /// The state of the random number generator.
    pub random: u64,
    /// Digests that nobody has read yet.
    pub digests: VecDeque<Digest>,
    /// Counts of events besides packets.
    pub tally: Tally,
    /// Buffer for the input of hashes.
    #[configured]
    pub(crate) buffer: Vec<u8>,
    /// The data of the current action.
    #[configured]
    pub(crate) parameters: Vec<u8>,
}

/// Counts of errors and lost packets, which a correct program avoids, and of digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Tally {
    /// Packets aborted by an `assert` or `assume`.
    pub asserts_failed: u64,
    /// Packets that exceeded the limit of steps.
    pub ran_too_long: u64,
    /// Accesses beyond the end of an array.
    pub out_of_bounds: u64,
    pub digests: u64,
    pub parser_errors: u64,
    /// Clones to sessions that do not exist.
    pub clones_lost: u64,
}

/// A digest for the control plane.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Digest {
    pub list: u32,
    /// Its fields, each padded to whole bytes.
    pub values: Box<[u8]>,
}

#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Registers {
    /// 64-bit words per cell.
    #[configured]
    pub cell_words: usize,
    #[configured]
    pub width: u32,
    /// All cells, least significant word first.
    pub words: Vec<u64>,
}

impl Registers {
    /// The words of a cell, or `None` beyond the array's end.
    #[inline]
    pub fn cell(&self, index: u64) -> Option<&[u64]> {
        let start = usize::try_from(index).ok()?.checked_mul(self.cell_words)?;
        self.words.get(start..start.checked_add(self.cell_words)?)
    }

    /// Writes a cell; false if it is beyond the array's end.
    #[inline]
    pub fn set(&mut self, index: u64, word: impl Fn(usize) -> u64) -> bool {
        if self.cell(index).is_none() {
            return false;
        }
        let start = index as usize * self.cell_words;
        for place in 0..self.cell_words {
            assert!(64 * place < self.width.max(1) as usize, "each word of a register's cell has bits of it");
            let left = self.width as usize - 64 * place;
            let mask = if left < 64 { (1 << left) - 1 } else { u64::MAX };
            self.words[start + place] = word(place) & mask;
        }
        true
    }
}

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct ProfileState {
    /// Members by handle; `None` where one was deleted.
    pub members: Vec<Option<crate::program::Call>>,
    /// Groups by handle: their members, sorted by handle.
    pub groups: Vec<Option<Vec<u32>>>,
}

impl State {
    /// The initial state of `program`; `seed` starts the random numbers.
    pub fn new(program: &Program, seed: u64) -> Self {
        let registers = program.registers.iter().map(|array| {
            let cell_words = (array.width as usize).div_ceil(64).max(1);
            Registers { cell_words, width: array.width, words: vec![0; array.size as usize * cell_words] }
        });
        let meters = program.meters.iter().map(|array| {
            let count = if array.is_direct { 0 } else { array.size as usize };
            vec![Meter::default(); count]
        });
        let mut state = Self {
            tables: program.tables.iter().map(TableState::new).collect(),
            profiles: vec![ProfileState::default(); program.profiles.len()],
            registers: registers.collect(),
            counters: program.counters.iter().map(|array| vec![Counter::default(); array.size as usize]).collect(),
            meters: meters.collect(),
            value_sets: vec![Vec::new(); program.value_sets.len()],
            replication: Replication::new(program),
            random: seed,
            digests: VecDeque::new(),
            tally: Tally::default(),
            buffer: Vec::with_capacity(512),
            parameters: Vec::with_capacity(256),
        };
        for (table, of) in state.tables.iter_mut().zip(&program.tables) {
            for entry in &of.entries {
                table.insert(of, entry.clone());
            }
        }
        state
    }

    /// A counter of an array, or of the table of a direct array.
    pub(crate) fn counter(&mut self, program: &Program, array: usize, index: u64) -> Option<&mut Counter> {
        match program.counters[array].table.as_ref().and_then(|table| program.table(table)) {
            Some(table) => self.tables[table as usize].row(u32::try_from(index).ok()?).map(|row| &mut row.counter),
            None => self.counters[array].get_mut(index as usize),
        }
    }

    pub fn keep_digest(&mut self, digest: Digest) {
        self.tally.digests += 1;
        if self.digests.len() == DIGESTS_MAX {
            self.digests.pop_front();
        }
        self.digests.push_back(digest);
        assert!(self.digests.len() <= DIGESTS_MAX, "no more digests wait than the control plane can take");
    }
}
