//! LinkGuardian's competitors between two switches, with losses that the test chooses.

mod link_layer_retry;
mod wharf;

use hitless_core::wire::Duration;

/// Propagation and PHY delay of the link.
const LINK_DELAY: Duration = Duration::from_ns(330);
