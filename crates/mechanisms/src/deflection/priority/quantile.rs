//! The quantile of a rank among those of recent packets.

/// Parameters of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantileConfig {
    /// Entries of the window.
    pub window: usize,
    /// Of so many packets that are offered to it, the window takes the last.
    pub sample_every: u32,
    /// Whether packets are offered when they are compared, whatever becomes of them (the authors' simulator), and not when
    /// they go to the queue (section 4.2).
    pub of_evaluated: bool,
    /// What the number of smaller entries is divided by.
    pub divide_by: DivideBy,
}

/// What the number of smaller entries is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DivideBy {
    /// The entries that the window has.
    #[default]
    Fill,
    /// Those that it has when it is full (the authors' simulator).
    Window,
}

/// Ranks of recent packets of a queue (section 4.2, "Quantile estimation").
#[derive(Clone, Debug)]
pub struct Window {
    config: QuantileConfig,
    ranks: Vec<u32>,
    /// The oldest, once the window is full.
    next: usize,
    /// Packets offered since one was taken.
    skipped: u32,
}

impl Window {
    /// An empty window.
    ///
    /// # Panics
    /// When it has no entries, or takes none.
    pub fn new(config: QuantileConfig) -> Self {
        assert!(config.window > 0 && config.sample_every > 0, "a window without entries tells nothing");
        Self { config, ranks: Vec::with_capacity(config.window), next: 0, skipped: 0 }
    }

    /// The share of entries that are strictly smaller; 0 when there is none.
    #[inline]
    pub fn share_below(&self, rank: u32) -> f64 {
        let smaller: u32 = self.ranks.iter().map(|&entry| u32::from(entry < rank)).sum();
        let entries = match self.config.divide_by {
            DivideBy::Fill => self.ranks.len().max(1),
            DivideBy::Window => self.config.window,
        };
        f64::from(smaller) / entries as f64
    }

    /// A packet was compared.
    #[inline]
    pub fn evaluated(&mut self, rank: u32) {
        if self.config.of_evaluated {
            self.offer(rank);
        }
    }

    /// A packet goes to the queue.
    #[inline]
    pub fn enqueued(&mut self, rank: u32) {
        if !self.config.of_evaluated {
            self.offer(rank);
        }
    }

    /// Takes the rank if it is its turn.
    #[inline]
    pub fn offer(&mut self, rank: u32) {
        self.skipped += 1;
        if self.skipped < self.config.sample_every {
            return;
        }
        self.skipped = 0;
        if self.ranks.len() < self.config.window {
            self.ranks.push(rank);
        } else {
            self.ranks[self.next] = rank;
            self.next = (self.next + 1) % self.config.window;
        }
    }
}
