//! What a group of flows asks of a fabric in all, known before any of them starts.

/// Flows of a group, and what they send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Offer {
    /// How many flows, or messages on open connections.
    pub flows: f64,
    /// How many of them start whether those before are done or not, so that they pile up where they are too many.
    pub open_flows: f64,
    /// Payload of the open ones, in bytes; nothing where it is not known.
    pub bytes: f64,
    /// The seconds in which they start.
    pub seconds: f64,
}

impl Offer {
    /// Bits in a second.
    pub fn rate_bps(&self) -> f64 {
        if self.seconds > 0.0 { 8.0 * self.bytes / self.seconds } else { 0.0 }
    }
}
