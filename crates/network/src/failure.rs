//! `[[failure]]`: links that break, again and again.

use hitless_settings::quantity::{Optional, Text};
use hitless_wire::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Failures of one link, both directions at once. What detects and repairs them is `[recovery]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFailure {
    /// The link by its two nodes, "sw6<->sw10": a failed link is dead both ways.
    pub link: String,
    /// When it fails for the first time.
    #[serde(with = "Text::<Time>")]
    pub first: Time,
    /// Time between two failures, from start to start; left out: it fails once.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// How many failures; left out: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
    /// Each failure comes up to this much later, at random.
    #[serde(default, with = "Text::<Duration>")]
    pub jitter: Duration,
    /// How long the link stays dead. Left out: until the recovery scheme "same-port" has repaired it. With that scheme
    /// a longer time than it needs may be given, which then is the time that the repair takes in all.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub outage: Option<Duration>,
}

impl LinkFailure {
    /// How many failures there are; `None`: no end.
    pub fn times(&self) -> Option<u64> {
        if self.every.is_none() { Some(1) } else { self.count }
    }

    /// When failure `number` (from 0) comes at the earliest; beyond the range of time, the end of it.
    pub fn earliest(&self, number: u64) -> Time {
        let every_ps = self.every.unwrap_or(Duration::ZERO).as_ps();
        Time(self.first.as_ps().saturating_add(every_ps.saturating_mul(number)))
    }
}
