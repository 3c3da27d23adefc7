//! LinkGuardian's parameters and the arithmetic of how many copies to retransmit.

use hitless_wire::{Bytes, Duration, PortId};

/// Whether the receiving switch restores the order of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In order, through the reordering buffer: LinkGuardian.
    Blocking,
    /// Retransmissions are forwarded when they come: LinkGuardianNB (paper, section 3).
    NonBlocking,
}

/// How the two switches hold packets that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// They go round through a recirculation port, as on Tofino (paper, section 3.5).
    Recirculation,
    /// They wait in a queue that is paused and served by credit, as Tofino 2 could (paper, section 5).
    PausedQueue,
}

/// Whether protection starts with the run or by command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Active from the start.
    FromStart,
    /// Dormant until commanded.
    OnCommand,
}

/// What the sending end of a protected link is told.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// The port of the protected link.
    pub port: PortId,
    /// The recirculation port that buffers copies.
    pub recirculation_port: PortId,
    /// In-order delivery or not.
    pub mode: Mode,
    /// Copies retransmitted per lost packet; see [`copies_for`].
    pub copies: u32,
    /// Dummies sent per gap in the traffic; 0 turns the detection of tail losses off.
    pub dummies: u8,
    /// Losses in a row that can be requested again: 1-bit register arrays at the sender (paper, section 3.5: 5).
    pub request_registers: usize,
    /// How copies wait for their acknowledgement.
    pub buffering: Buffering,
    /// How much the queue of waiting copies may hold (paused-queue buffering; a recirculation port has its own limit).
    pub buffer: Bytes,
    /// From the start or by command.
    pub activation: Activation,
}

/// What the receiving end of a protected link is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The port of the protected link.
    pub port: PortId,
    /// The recirculation port that reorders.
    pub recirculation_port: PortId,
    /// Explicit acknowledgements sent per gap in the reverse traffic.
    pub acknowledgements: u8,
    /// How long to wait for a retransmission before going on without it.
    pub acknowledgement_timeout: Duration,
    /// Period of the timer packets.
    pub timer_period: Duration,
    /// Stop pausing the sender when the reordering buffer has sunk to this.
    pub resume_threshold: Bytes,
    /// Pause the sender when the reordering buffer has grown to this.
    pub pause_threshold: Bytes,
    /// Whether the sender is paused at all.
    pub backpressure: bool,
    /// How packets wait for a retransmission.
    pub buffering: Buffering,
    /// How much the queue of waiting packets may hold (paused-queue buffering).
    pub buffer: Bytes,
    /// From the start or by command.
    pub activation: Activation,
}

/// Equation 2 of the paper, rounded up: how many copies bring `actual_loss_rate` down to `target_loss_rate`.
///
/// At least one. Both rates lie strictly between 0 and 1.
pub fn copies_for(actual_loss_rate: f64, target_loss_rate: f64) -> u32 {
    let copies = target_loss_rate.log10() / actual_loss_rate.log10() - 1.0;
    // 1e-4 and 1e-8 give 1 exactly; the logarithms may miss it by a rounding error.
    const ROUNDING: f64 = 1e-9;
    (copies - ROUNDING).ceil().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_2_gives_the_copies_of_section_4_1() {
        for (actual, copies) in [(1e-5, 1), (1e-4, 1), (1e-3, 2), (1.16e-3, 2), (1e-2, 3), (0.05, 6)] {
            assert_eq!(copies_for(actual, 1e-8), copies, "{actual}");
        }
    }
}
