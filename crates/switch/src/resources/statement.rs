//! What mechanisms state that they take.

use std::collections::BTreeMap;

use hitless_core::wire::PortId;

use super::cell::RegisterCell;
use crate::half::Half;
use crate::hook_set::HookSet;
use crate::needs::Needs;

/// Bits of a word of static memory, and words of a block (RMT's successors; see
/// [`Budget::tofino_like`](super::Budget::tofino_like)).
pub(super) const WORD_BITS: u64 = 128;
pub(super) const WORDS: u64 = 1_024;

/// Where the model keeps a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In a [`crate::RegisterArray`], whose accesses are checked.
    InRegister,
    /// In a plain field: an idealisation, and nobody checks how it is accessed.
    Outside,
}

/// Register arrays of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterUse {
    /// Their name.
    pub name: &'static str,
    /// The half of the pipeline.
    pub half: Half,
    /// Its place in the order of accesses: arrays with the same number do not depend on each other.
    pub stage: u8,
    /// Bits of a cell.
    pub cell_bits: u32,
    /// The fields of a cell.
    pub fields: &'static [(&'static str, u32)],
    /// Cells of one array.
    pub cells: u64,
    /// How many such arrays: several cells that a packet reads in one pass must be in several arrays.
    pub arrays: u64,
    /// Where the model keeps it.
    pub kept: Kept,
}

impl RegisterUse {
    /// State that the model keeps in plain fields: one array of `cells` cells like a `T`.
    pub const fn outside<T: RegisterCell>(name: &'static str, half: Half, stage: u8, cells: u64) -> Self {
        let (cell_bits, fields) = (T::BITS, T::FIELDS);
        Self { name, half, stage, cell_bits, fields, cells, arrays: 1, kept: Kept::Outside }
    }

    /// The same, so many times.
    pub const fn times(self, arrays: u64) -> Self {
        Self { arrays, ..self }
    }

    /// Bits of all cells, as wide as they are.
    pub const fn bits(&self) -> u64 {
        self.arrays * self.cells * self.cell_bits as u64
    }

    /// Stateful units. One reads and writes 64 bits of a cell.
    pub const fn stateful_alus(&self) -> u64 {
        self.arrays * self.parts()
    }

    /// Blocks of memory. A cell takes 1, 8, 16, 32 or 64 bits, and an array one block more than it fills: two packets
    /// may read and write it at a time (the published compiler, `mems_needed`).
    pub const fn blocks(&self) -> u64 {
        self.arrays * self.parts() * self.blocks_of_part()
    }

    pub(crate) const fn blocks_of_part(&self) -> u64 {
        (self.cells * self.width()).div_ceil(WORD_BITS * WORDS) + 1
    }

    const fn parts(&self) -> u64 {
        (self.cell_bits as u64).div_ceil(64)
    }

    const fn width(&self) -> u64 {
        match self.cell_bits {
            0 | 1 => 1,
            2..=8 => 8,
            9..=16 => 16,
            17..=32 => 32,
            _ => 64,
        }
    }
}

/// What a mechanism takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// Its name.
    pub mechanism: &'static str,
    /// Its state.
    pub registers: Vec<RegisterUse>,
    /// Ports and queues that it sends copies to, or moves packets to from egress.
    pub mirror_sessions: u64,
    /// Recirculation ports that it keeps busy, by number.
    pub recirculation_ports: Vec<u16>,
    /// Streams of generated packets.
    pub generator_streams: u64,
    /// What it needs besides, in words: not counted.
    pub not_counted: Vec<&'static str>,
    /// Queues that it asked for, at the port where they are most.
    pub queues: u64,
    /// Hooks that it asked for at any port.
    pub hooks: HookSet,
}

impl Resources {
    /// A mechanism that takes nothing so far.
    pub fn new(mechanism: &'static str) -> Self {
        Self { mechanism, ..Self::default() }
    }

    /// With one more thing that is not counted.
    #[must_use]
    pub fn not_counting(mut self, what: &'static str) -> Self {
        self.not_counted.push(what);
        self
    }

    /// Of `half`: arrays of the same name together.
    pub fn registers_of(&self, half: Half) -> impl Iterator<Item = &RegisterUse> {
        self.registers.iter().filter(move |register| register.half == half)
    }

    /// With the queues and hooks that a mechanism has subscribed to.
    #[must_use]
    pub(crate) fn asking_for(mut self, wanted: &Needs) -> Self {
        let mut queues: BTreeMap<PortId, u64> = BTreeMap::new();
        let single = wanted.queues.iter().map(|&(port, _)| (port, 1));
        let grouped = wanted.groups.iter().map(|(port, group)| (*port, u64::from(group.queues)));
        single.chain(grouped).for_each(|(port, count)| *queues.entry(port).or_default() += count);
        self.queues = queues.into_values().max().unwrap_or(0);
        self.hooks = wanted.hooks.iter().fold(HookSet::NONE, |all, &(_, set)| all.with(set));
        self
    }

    /// Takes in `other`: registers of the same name are one array with the cells of both.
    pub fn add(&mut self, other: Resources) {
        for register in other.registers {
            self.add_register(register);
        }
        self.mirror_sessions += other.mirror_sessions;
        self.recirculation_ports.extend(other.recirculation_ports);
        self.recirculation_ports.sort_unstable();
        self.recirculation_ports.dedup();
        self.generator_streams += other.generator_streams;
        for what in other.not_counted {
            if !self.not_counted.contains(&what) {
                self.not_counted.push(what);
            }
        }
        self.queues = self.queues.max(other.queues);
        self.hooks = self.hooks.with(other.hooks);
    }

    /// Adds an array, or its cells to that of the same name.
    pub fn add_register(&mut self, register: RegisterUse) {
        let same = |known: &&mut RegisterUse| (known.name, known.half) == (register.name, register.half);
        match self.registers.iter_mut().find(same) {
            Some(known) => {
                known.cells += register.cells;
                known.arrays = known.arrays.max(register.arrays);
                known.cell_bits = known.cell_bits.max(register.cell_bits);
            }
            None => self.registers.push(register),
        }
    }
}
