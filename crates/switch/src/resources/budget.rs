//! The hardware resources of a switch.

use hitless_core::wire::BitRate;

use super::statement::{WORD_BITS, WORDS};

/// The resources of a switch for mechanisms: stages, units and memory per pipeline, because each pipeline holds all
/// state; queues per port; all others per switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Stages, shared by ingress and egress.
    pub stages: u32,
    /// Stateful ALUs per stage: the number of register arrays that a stage can access.
    pub stateful_alus_per_stage: u32,
    /// SRAM blocks per stage that can hold registers.
    pub register_blocks_per_stage: u32,
    /// Queues of a port.
    pub queues_per_port: u32,
    /// Mirror sessions.
    pub mirror_sessions: u32,
    /// Total bandwidth of the recirculation ports in use.
    pub recirculation: BitRate,
}

impl Budget {
    /// Bits of a block of memory.
    pub const BLOCK_BITS: u64 = WORD_BITS * WORDS;

    /// The Intel Tofino in the papers' testbeds.
    ///
    /// | figure | source |
    /// |---|---|
    /// | 12 stages, 5 bits of a queue's number, 10 of a mirror session's | the published compiler, p4lang/p4c, backends/tofino/bf-p4c/device.h; 12 stages also in Practical Packet Deflection, section 4.2 |
    /// | blocks of 1,024 words of 128 bits, 80 in a stage, of which 48 can be written by a packet (8 rows, 6 columns of map memory) | the same, mau/tofino/memories.h |
    /// | 4 stateful units in a stage | SQR, table II: 33.33 % is 16 of 48; so 5 registers take 2 stages in LinkGuardian, section 3.5 |
    /// | 800 Gb/s of recirculation | LinkGuardian, section 5: "~2 internal recirculation ports per pipe", of 100G each; 4 pipes (device.h) |
    pub const fn tofino_like() -> Self {
        Self {
            stages: 12,
            stateful_alus_per_stage: 4,
            register_blocks_per_stage: 48,
            queues_per_port: 32,
            mirror_sessions: 1 << 10,
            recirculation: BitRate::from_gbps(800),
        }
    }
}
