//! What a switch has to give, and whether it is enough.

use hitless_wire::BitRate;

use super::{Footprint, WORD_BITS, WORDS};

/// What one pipeline of a switch has for mechanisms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Stages, which ingress and egress share.
    pub stages: u32,
    /// Stateful arithmetic units of a stage: register arrays that it can access.
    pub stateful_alus_per_stage: u32,
    /// Blocks of static memory of a stage that can hold registers.
    pub register_blocks_per_stage: u32,
    /// Queues of a port.
    pub queues_per_port: u32,
    /// Mirror sessions.
    pub mirror_sessions: u32,
    /// Bandwidth of recirculation ports that are used.
    pub recirculation: BitRate,
}

impl Budget {
    /// Bits of a block of memory.
    pub const BLOCK_BITS: u64 = WORD_BITS * WORDS;

    /// The Intel Tofino of the papers' testbeds.
    ///
    /// | figure | source |
    /// |---|---|
    /// | 12 stages, 5 bits of a queue's number, 10 of a mirror session's | the published compiler, p4lang/p4c, backends/tofino/bf-p4c/device.h; 12 stages also in Practical Packet Deflection, section 4.2 |
    /// | blocks of 1,024 words of 128 bits, 80 in a stage, of which 48 can be written by a packet (8 rows, 6 columns of map memory) | the same, mau/tofino/memories.h |
    /// | 4 stateful units in a stage | the published model of the chip (open-p4studio, `kNumStatefulAlus`); so 5 registers take 2 stages in LinkGuardian, section 3.5 |
    /// | 200 Gb/s of recirculation | LinkGuardian, section 5: "~2 internal recirculation ports per pipe", of 100G each |
    pub const fn tofino_like() -> Self {
        Self {
            stages: 12,
            stateful_alus_per_stage: 4,
            register_blocks_per_stage: 48,
            queues_per_port: 32,
            mirror_sessions: 1 << 10,
            recirculation: BitRate::from_gbps(200),
        }
    }

    /// All that `footprint` needs and this does not have: what, how much is needed, how much there is.
    pub fn exceeded_by(&self, footprint: &Footprint) -> Vec<Excess> {
        let stages = u64::from(self.stages);
        let pairs = [
            ("stages of ingress", u64::from(footprint.stages[0]), stages),
            ("stages of egress", u64::from(footprint.stages[1]), stages),
            ("stateful ALUs", footprint.stateful_alus, stages * u64::from(self.stateful_alus_per_stage)),
            ("blocks of SRAM", footprint.blocks, stages * u64::from(self.register_blocks_per_stage)),
            (
                "blocks of SRAM for one register array, which is in one stage",
                footprint.blocks_of_largest,
                u64::from(self.register_blocks_per_stage),
            ),
            ("queues at a port", footprint.queues, self.queues_per_port.into()),
            ("mirror sessions", footprint.mirror_sessions, self.mirror_sessions.into()),
        ];
        let excess = |(what, needed, available): (&'static str, u64, u64)| Excess { what, needed, available };
        pairs.into_iter().filter(|(_, needed, available)| needed > available).map(excess).collect()
    }
}

/// Something of which there is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excess {
    /// What it is.
    pub what: &'static str,
    /// How much is needed.
    pub needed: u64,
    /// How much there is.
    pub available: u64,
}
