//! The choice among next hops of equal cost by the depth of the switch's queues.

use hitless_core::engine::Stream;

/// Power of two choices, per packet: draws two different next hops at random and takes the one with fewer bytes in its
/// queue (Vertigo, CoNEXT 2021, section 3; DRILL, SIGCOMM 2017). It reorders packets within a flow.
#[derive(Debug, hitless_core::state::State)]
pub(crate) struct TwoChoices {
    pub stream: Stream,
}

impl TwoChoices {
    pub const fn new(stream: Stream) -> Self {
        Self { stream }
    }
}
