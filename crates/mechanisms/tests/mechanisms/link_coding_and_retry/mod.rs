//! The rivals of LinkGuardian between two switches, against losses that the test chooses.

mod link_layer_retry;
mod wharf;

use hitless_core::wire::Duration;

/// Propagation and PHY of the link.
const LINK_DELAY: Duration = Duration::from_ns(330);
