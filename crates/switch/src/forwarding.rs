//! The choice among next hops of equal cost that depends on the switch's own queues.

use hitless_core::engine::Stream;

/// Power of two choices, packet by packet: of two different next hops, drawn at random, the one whose queue has fewer
/// bytes (Vertigo, CoNEXT 2021, section 3; DRILL, SIGCOMM 2017). Packets of a flow overtake each other by it.
#[derive(Debug)]
pub(crate) struct TwoChoices {
    pub stream: Stream,
}

hitless_core::state!(TwoChoices { values: stream });

impl TwoChoices {
    /// Draws from `stream`.
    pub const fn new(stream: Stream) -> Self {
        Self { stream }
    }
}
