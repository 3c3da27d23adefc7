//! The quantile of a rank among recent packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Window of recent packets of a queue (section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuantileSettings {
    /// Packets in the window (section 5.2).
    #[schemars(range(min = 1, max = 10_000))]
    pub window: u32,
    /// Sampling period: one packet in this many enters the window (section 5.2).
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sample_every: u32,
    /// Sampled packets.
    pub of: QuantileOf,
    /// Divisor of the number of more urgent packets.
    pub divide_by: DivideBy,
}

impl Default for QuantileSettings {
    fn default() -> Self {
        Self { window: 20, sample_every: 20, of: QuantileOf::default(), divide_by: DivideBy::default() }
    }
}

/// Packets that are offered to a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QuantileOf {
    /// Packets that go to the queue (section 4.2).
    #[default]
    Enqueued,
    /// Packets that are tested for the queue, at each test and regardless of the result (the authors' simulator).
    Evaluated,
}

/// Divisor of the number of more urgent packets in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "QuantileDivisor")]
pub enum DivideBy {
    /// The number of packets in the window.
    #[default]
    Fill,
    /// The size of the window: until it is full, too few packets are deflected (the authors' simulator).
    Window,
}

/// Ranks of recent packets of a queue (section 4.2, "Quantile estimation").
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Window {
    #[configured]
    settings: QuantileSettings,
    ranks: Vec<u32>,
    /// The oldest entry, once the window is full.
    next: usize,
    /// Packets offered since the last sample.
    skipped: u32,
}

impl Window {
    /// An empty window.
    pub fn new(settings: QuantileSettings) -> Self {
        assert!(settings.window > 0 && settings.sample_every > 0, "a window without entries tells nothing");
        Self { settings, ranks: Vec::with_capacity(settings.window as usize), next: 0, skipped: 0 }
    }

    /// The share of entries that are strictly smaller; 0 for an empty window.
    #[inline]
    pub fn share_below(&self, rank: u32) -> f64 {
        let smaller: u32 = self.ranks.iter().map(|&entry| u32::from(entry < rank)).sum();
        let entries = match self.settings.divide_by {
            DivideBy::Fill => self.ranks.len().max(1),
            DivideBy::Window => self.settings.window as usize,
        };
        let share = f64::from(smaller) / entries as f64;
        assert!(share <= 1.0, "{smaller} of {entries} packets are smaller: a share is at most all");
        share
    }

    /// Notes that a packet was compared.
    #[inline]
    pub fn evaluated(&mut self, rank: u32) {
        if self.settings.of == QuantileOf::Evaluated {
            self.offer(rank);
        }
    }

    /// Notes that a packet goes to the queue.
    #[inline]
    pub fn enqueued(&mut self, rank: u32) {
        if self.settings.of == QuantileOf::Enqueued {
            self.offer(rank);
        }
    }

    /// Samples the rank if it is its turn.
    #[inline]
    pub fn offer(&mut self, rank: u32) {
        assert!(self.skipped < self.settings.sample_every, "one of {} packets is taken", self.settings.sample_every);
        self.skipped += 1;
        if self.skipped < self.settings.sample_every {
            return;
        }
        self.skipped = 0;
        if self.ranks.len() < self.settings.window as usize {
            self.ranks.push(rank);
        } else {
            // Section 4.2: the new rank overwrites the oldest element of the circular window.
            self.ranks[self.next] = rank;
            self.next = (self.next + 1) % self.ranks.len();
        }
    }
}
