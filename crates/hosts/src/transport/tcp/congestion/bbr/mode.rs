//! The states of BBR (draft, section 4.3).

use hitless_wire::Time;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_state::Value)]
pub(super) enum Mode {
    /// The rate doubles in each round trip until the bottleneck's is found.
    Startup,
    /// The queue that startup made is drained.
    Drain,
    /// The cycle of gains around 1.
    ProbeBandwidth {
        /// BBR.cycle_index.
        phase: usize,
        /// BBR.cycle_stamp.
        since: Time,
    },
    /// The flight is drained to measure the round-trip time.
    ProbeRtt {
        /// BBR.probe_rtt_done_stamp: set when the flight is small.
        until: Option<Time>,
        /// BBR.probe_rtt_round_done.
        round_is_over: bool,
    },
}
