//! Hosts as bytes.

use super::{HostTotals, Hosts};

hitless_state::value!(HostTotals {
    packets,
    dropped_by_network_card,
    strays,
    duplicates,
    misdelivered,
    flows_started,
    flows_completed,
    flows_failed
});

hitless_state::state!(Hosts { values: flows, totals; parts: hosts; configured: transports, streams });
