//! What a running program remembers: entries of tables, registers, counters, meters, and what the control plane has
//! configured.

use std::collections::VecDeque;

use crate::counter::Counter;
use crate::meter::Meter;
use crate::program::Program;
use crate::replication::Replication;
use crate::tables::TableState;

/// How many digests wait for the control plane; the oldest goes when another comes.
const DIGESTS_MAX: usize = 1024;

/// The state of one switch that runs a program.
#[derive(Clone, Debug)]
pub struct State {
    /// Tables, as in the program.
    pub tables: Vec<TableState>,
    /// Action profiles.
    pub profiles: Vec<ProfileState>,
    /// Register arrays.
    pub registers: Vec<Registers>,
    /// Counter arrays.
    pub counters: Vec<Vec<Counter>>,
    /// Meter arrays that are no table's.
    pub meters: Vec<Vec<Meter>>,
    /// Members of value sets, as the bytes of a state's key.
    pub value_sets: Vec<Vec<Box<[u8]>>>,
    /// Clone sessions and multicast groups.
    pub replication: Replication,
    /// The state of the random numbers.
    pub random: u64,
    /// Digests that nobody has taken yet.
    pub digests: VecDeque<Digest>,
    /// What was counted beside the packets.
    pub tally: Tally,
    /// Room for what a hash is made of.
    pub(crate) buffer: Vec<u8>,
    /// The data of the action that runs.
    pub(crate) parameters: Vec<u8>,
}

hitless_core::state!(State {
    values: tables, profiles, counters, meters, value_sets, random, digests, tally;
    parts: registers, replication;
    configured: buffer, parameters
});

/// Events that a program should not have, or that go nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Tally {
    /// Packets that an `assert` or `assume` ended.
    pub asserts_failed: u64,
    /// Packets that took more steps than any should.
    pub ran_too_long: u64,
    /// Accesses to cells that an array does not have.
    pub out_of_bounds: u64,
    /// Digests made.
    pub digests: u64,
    /// Packets whose parsing ended with an error.
    pub parser_errors: u64,
    /// Clones to sessions that are not configured.
    pub clones_lost: u64,
}

/// Values for the control plane.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Digest {
    /// Which list of the program.
    pub list: u32,
    /// Its fields, each filled up to whole bytes.
    pub values: Box<[u8]>,
}

/// Cells of a register array.
#[derive(Clone, Debug)]
pub struct Registers {
    /// Words of a cell.
    pub cell_words: usize,
    /// The width of a cell in bits.
    pub width: u32,
    /// All cells, least significant word first.
    pub words: Vec<u64>,
}

hitless_core::state!(Registers { values: words; configured: cell_words, width });

impl Registers {
    /// The words of a cell, if the array has it.
    #[inline]
    pub fn cell(&self, index: u64) -> Option<&[u64]> {
        let start = usize::try_from(index).ok()?.checked_mul(self.cell_words)?;
        self.words.get(start..start.checked_add(self.cell_words)?)
    }

    /// Writes a cell; false if the array has none of this number.
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

/// Members and groups of an action profile.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct ProfileState {
    /// Members by handle; none where one was deleted.
    pub members: Vec<Option<crate::program::Call>>,
    /// Groups by handle: their members, in order of handle.
    pub groups: Vec<Option<Vec<u32>>>,
}

impl State {
    /// The state in which `program` starts; random numbers come from `seed`.
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

    /// A counter of an array, or of the table that the array belongs to.
    pub(crate) fn counter(&mut self, program: &Program, array: usize, index: u64) -> Option<&mut Counter> {
        match program.counters[array].table.as_ref().and_then(|table| program.table(table)) {
            Some(table) => self.tables[table as usize].row(u32::try_from(index).ok()?).map(|row| &mut row.counter),
            None => self.counters[array].get_mut(index as usize),
        }
    }

    /// Keeps a digest for the control plane.
    pub fn keep_digest(&mut self, digest: Digest) {
        self.tally.digests += 1;
        if self.digests.len() == DIGESTS_MAX {
            self.digests.pop_front();
        }
        self.digests.push_back(digest);
        assert!(self.digests.len() <= DIGESTS_MAX, "no more digests wait than the control plane can take");
    }
}
