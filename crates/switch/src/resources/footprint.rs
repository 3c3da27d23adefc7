//! The computation of stages, units and blocks from registers.

use super::budget::Budget;
use super::statement::{Kept, Resources};
use crate::verdict::Half;

/// The resources of mechanisms in one pipeline, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Register arrays.
    pub register_arrays: u64,
    /// Minimum number of stages of ingress and of egress.
    pub stages: [u32; 2],
    /// Stateful ALUs of ingress and of egress: the maximum that one pass can use.
    pub stateful_alus_of: [u64; 2],
    /// Stateful ALUs of both halves.
    pub stateful_alus: u64,
    /// Bits of state, without rounding to register widths.
    pub bits: u64,
    /// Bits of state that the model keeps outside register arrays.
    pub bits_outside: u64,
    /// Blocks of memory.
    pub blocks: u64,
    /// SRAM blocks of the largest array.
    pub blocks_of_largest: u64,
    /// Maximum number of queues at a port.
    pub queues: u64,
    /// Mirror sessions.
    pub mirror_sessions: u64,
    /// Recirculation ports.
    pub recirculation_ports: u64,
    /// Streams of generated packets.
    pub generator_streams: u64,
}

impl Footprint {
    /// Computes the footprint of a mechanism; `budget` has the resources of a stage.
    pub fn of(resources: &Resources, budget: &Budget) -> Self {
        let registers = &resources.registers;
        let outside = registers.iter().filter(|register| register.kept == Kept::Outside);
        let alus = |half| resources.registers_of(half).map(|register| register.stateful_alus()).sum::<u64>();
        let stateful_alus_of = [alus(Half::Ingress), alus(Half::Egress)];
        Self {
            register_arrays: registers.iter().map(|register| register.arrays).sum(),
            stages: [stages(resources, Half::Ingress, budget), stages(resources, Half::Egress, budget)],
            stateful_alus_of,
            stateful_alus: stateful_alus_of.iter().sum(),
            bits: registers.iter().map(|register| register.bits()).sum(),
            bits_outside: outside.map(|register| register.bits()).sum(),
            blocks: registers.iter().map(|register| register.blocks()).sum(),
            blocks_of_largest: registers.iter().map(|register| register.blocks_of_part()).max().unwrap_or(0),
            queues: resources.queues,
            mirror_sessions: resources.mirror_sessions,
            recirculation_ports: resources.recirculation_ports.len() as u64,
            generator_streams: resources.generator_streams,
        }
    }

    /// Adds the footprint of a mechanism that runs later. It sees the decisions of earlier ones, so its stages follow
    /// theirs. Queues and recirculation ports are not added, because mechanisms may share them.
    #[must_use]
    pub fn followed_by(self, other: &Footprint) -> Self {
        Self {
            register_arrays: self.register_arrays + other.register_arrays,
            stages: [0, 1].map(|half| self.stages[half] + other.stages[half]),
            stateful_alus_of: [0, 1].map(|half| self.stateful_alus_of[half] + other.stateful_alus_of[half]),
            stateful_alus: self.stateful_alus + other.stateful_alus,
            bits: self.bits + other.bits,
            bits_outside: self.bits_outside + other.bits_outside,
            blocks: self.blocks + other.blocks,
            blocks_of_largest: self.blocks_of_largest.max(other.blocks_of_largest),
            mirror_sessions: self.mirror_sessions + other.mirror_sessions,
            generator_streams: self.generator_streams + other.generator_streams,
            ..self
        }
    }
}

crate::counters! {
    /// Resources of a mechanism, in the order of a table.
    pub struct ResourceCounters(footprint: &Footprint) {
        resources_register_arrays = "resources: register arrays": footprint.register_arrays,
        resources_ingress_stages = "resources: stages of ingress": footprint.stages[0].into(),
        resources_egress_stages = "resources: stages of egress": footprint.stages[1].into(),
        resources_ingress_stateful_alus = "resources: stateful ALUs in a pass of ingress":
            footprint.stateful_alus_of[0],
        resources_egress_stateful_alus = "resources: stateful ALUs in a pass of egress":
            footprint.stateful_alus_of[1],
        resources_stateful_alus = "resources: stateful ALUs": footprint.stateful_alus,
        resources_sram_bits = "resources: SRAM (bits)": footprint.bits,
        resources_outside_sram_bits = "resources: SRAM of state modelled outside a register array (bits)":
            footprint.bits_outside,
        resources_sram_blocks = "resources: SRAM (blocks of 16 KiB)": footprint.blocks,
        resources_port_queues = "resources: queues at a port": footprint.queues,
        resources_mirror_sessions = "resources: mirror sessions": footprint.mirror_sessions,
        resources_recirculation_ports = "resources: recirculation ports": footprint.recirculation_ports,
        resources_generator_streams = "resources: packet generator streams": footprint.generator_streams,
    }
}

/// Returns the minimum number of stages of a half: each stage number needs as many stages as its ALUs and its memory
/// require.
fn stages(resources: &Resources, half: Half, budget: &Budget) -> u32 {
    let mut numbers: Vec<u8> = resources.registers_of(half).map(|register| register.stage).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let of_number = |number: u8| {
        let here = || resources.registers_of(half).filter(move |register| register.stage == number);
        let alus: u64 = here().map(|register| register.stateful_alus()).sum();
        let blocks: u64 = here().map(|register| register.blocks()).sum();
        // Arrays of one stage number are independent, so they can be split over several stages by either limit.
        let by_alus = alus.div_ceil(u64::from(budget.stateful_alus_per_stage.max(1)));
        let by_blocks = blocks.div_ceil(u64::from(budget.register_blocks_per_stage.max(1)));
        by_alus.max(by_blocks) as u32
    };
    numbers.into_iter().map(of_number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::RegisterUse;

    fn of(registers: &[RegisterUse]) -> Footprint {
        let mut resources = Resources::new("test");
        registers.iter().for_each(|&register| resources.add_register(register));
        Footprint::of(&resources, &Budget::tofino_like())
    }

    fn word(name: &'static str, stage: u8, cells: u64) -> RegisterUse {
        RegisterUse::outside::<u32>(name, Half::Ingress, stage, cells)
    }

    #[test]
    fn an_array_fills_whole_blocks_and_one_more() {
        // 128 bits x 1,024 words hold 4,096 words of 32 bits, 131,072 of one bit; a cell of 17 bits takes 32.
        let blocks = [
            (word("a", 0, 1).blocks(), 2),
            (word("a", 0, 4_096).blocks(), 2),
            (word("a", 0, 4_097).blocks(), 3),
            (word("a", 0, 4_096).times(3).blocks(), 6),
            (RegisterUse::outside::<bool>("a", Half::Egress, 0, 131_072).blocks(), 2),
            (RegisterUse::outside::<Option<u16>>("a", Half::Egress, 0, 4_097).blocks(), 3),
            (RegisterUse::outside::<Option<u64>>("a", Half::Egress, 0, 2_048).blocks(), 4),
        ];
        for (number, (found, expected)) in blocks.into_iter().enumerate() {
            assert_eq!(found, expected, "{number}");
        }
    }

    #[test]
    fn a_stage_has_four_units_and_what_it_cannot_hold_goes_to_the_next() {
        assert_eq!(of(&[word("a", 0, 1), word("b", 0, 1), word("c", 3, 1)]).stages, [2, 0]);
        assert_eq!(of(&[word("a", 0, 1).times(5)]).stages, [2, 0]);
        // 26 blocks each: two of them are more than the 48 of a stage.
        assert_eq!(of(&[word("a", 0, 100_000), word("b", 0, 100_000)]).stages, [2, 0]);
        let both = of(&[word("a", 0, 7), word("a", 0, 9)]);
        assert_eq!((both.register_arrays, both.bits, both.stateful_alus), (1, 512, 1));
    }

    #[test]
    fn the_stages_of_a_later_mechanism_follow() {
        let one = of(&[word("a", 0, 1), word("b", 1, 1)]);
        let sum = one.followed_by(&of(&[word("a", 0, 1)]));
        assert_eq!((sum.stages, sum.stateful_alus, sum.bits_outside), ([3, 0], 3, 96));
    }
}
