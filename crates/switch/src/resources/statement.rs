//! The resources that mechanisms state.

use std::collections::BTreeMap;

use hitless_core::wire::PortId;

use super::cell::RegisterCell;
use crate::hook_set::HookSet;
use crate::needs::Needs;
use crate::verdict::Half;

/// Bits per word and words per block of SRAM (RMT's successors; see
/// [`Budget::tofino_like`](super::Budget::tofino_like)).
pub(super) const WORD_BITS: u64 = 128;
pub(super) const WORDS: u64 = 1_024;

/// The place of a piece of state in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In a [`crate::RegisterArray`] with checked accesses.
    InRegister,
    /// In a plain field: an idealisation without checked accesses.
    Outside,
}

/// Register arrays of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterUse {
    /// Name of the arrays.
    pub name: &'static str,
    /// The half of the pipeline.
    pub half: Half,
    /// Position in the order of accesses; arrays with the same number do not depend on each other.
    pub stage: u8,
    /// Width of a cell in bits.
    pub cell_bits: u32,
    /// Fields of a cell, with their widths.
    pub fields: &'static [(&'static str, u32)],
    /// Cells per array.
    pub cells: u64,
    /// Number of such arrays. Cells that a packet reads in the same pass must be in different arrays.
    pub arrays: u64,
    /// Place of the state in the model.
    pub kept: Kept,
}

impl RegisterUse {
    /// State kept in plain fields: one array of `cells` cells like a `T`.
    pub const fn outside<T: RegisterCell>(name: &'static str, half: Half, stage: u8, cells: u64) -> Self {
        let (cell_bits, fields) = (T::BITS, T::FIELDS);
        Self { name, half, stage, cell_bits, fields, cells, arrays: 1, kept: Kept::Outside }
    }

    /// Returns the same, with this many arrays.
    pub const fn times(self, arrays: u64) -> Self {
        Self { arrays, ..self }
    }

    /// Returns the bits of all cells, without rounding.
    pub const fn bits(&self) -> u64 {
        self.arrays * self.cells * self.cell_bits as u64
    }

    /// Returns the number of stateful ALUs. An ALU reads and writes 64 bits of a cell.
    pub const fn stateful_alus(&self) -> u64 {
        self.arrays * self.parts()
    }

    /// Returns the number of SRAM blocks. A cell occupies 1, 8, 16, 32 or 64 bits. An array needs one block more than
    /// it fills, so that two packets can read and write it at the same time (the published compiler, `mems_needed`).
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

/// The resources of a mechanism.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// Name of the mechanism.
    pub mechanism: &'static str,
    /// State of the mechanism.
    pub registers: Vec<RegisterUse>,
    /// Mirror sessions: ports and queues that it sends copies to, or moves packets to from egress.
    pub mirror_sessions: u64,
    /// Recirculation ports in use, by number.
    pub recirculation_ports: Vec<u16>,
    /// Streams of generated packets.
    pub generator_streams: u64,
    /// Further requirements in words, which are not counted.
    pub not_counted: Vec<&'static str>,
    /// Maximum number of requested queues at a port.
    pub queues: u64,
    /// Requested hooks, at any port.
    pub hooks: HookSet,
}

impl Resources {
    /// Creates the statement of a mechanism without resources.
    pub fn new(mechanism: &'static str) -> Self {
        Self { mechanism, ..Self::default() }
    }

    /// Adds a requirement that is not counted.
    #[must_use]
    pub fn not_counting(mut self, what: &'static str) -> Self {
        self.not_counted.push(what);
        self
    }

    /// Returns the arrays of `half`; arrays of the same name are one.
    pub fn registers_of(&self, half: Half) -> impl Iterator<Item = &RegisterUse> {
        self.registers.iter().filter(move |register| register.half == half)
    }

    /// Adds the queues and hooks that the mechanism requested.
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

    /// Merges `other`: registers of the same name become one array with the cells of both.
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

    /// Adds an array, or adds its cells to the array of the same name.
    pub fn add_register(&mut self, register: RegisterUse) {
        let same = |known: &&mut RegisterUse| (known.name, known.half) == (register.name, register.half);
        match self.registers.iter_mut().find(same) {
            Some(known) => {
                // As in a program: several instances use different cells of one array.
                known.cells += register.cells;
                known.arrays = known.arrays.max(register.arrays);
                known.cell_bits = known.cell_bits.max(register.cell_bits);
            }
            None => self.registers.push(register),
        }
    }
}
