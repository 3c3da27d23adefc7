//! What a group of flows asks of a fabric in all, known before any of them starts.

use hitless_wire::Time;

use super::generators::{Arrivals, Template};

/// Flows of a group, and what they send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offer {
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

    /// Arrivals until `end`, each of `each` flows of `mean_bytes`.
    pub(super) fn arriving(
        arrivals: Arrivals,
        template: &Template,
        left: Option<u64>,
        end: Time,
        each: f64,
        mean_bytes: f64,
    ) -> Self {
        let most = left.map_or(f64::INFINITY, |left| left as f64);
        let window_s = template.seconds_until(end);
        let gap_s = match arrivals {
            Arrivals::Poisson { per_second } => 1.0 / per_second,
            Arrivals::Every(period) => period.as_seconds(),
        };
        let count = if gap_s > 0.0 { (window_s / gap_s).min(most) } else { most };
        let flows = count * each;
        Self { flows, open_flows: flows, bytes: flows * mean_bytes, seconds: (count * gap_s).min(window_s) }
    }
}
