//! The credits of a card: for its frames in the memory of the switch, and for frames from the switch, which never wait
//! for memory here.

use std::collections::VecDeque;

use hitless_core::engine::PacketHandle;
use hitless_core::wire::pauses::has_class;
use hitless_core::wire::{ReceiverCredits, SenderCredits};

use super::config::CardCreditsConfig;

#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct CardCredits {
    pub config: CardCreditsConfig,
    pub senders: [SenderCredits; 8],
    pub receivers: [ReceiverCredits; 8],
    /// Counts of the switch that have not taken effect, with their classes.
    pub announced: VecDeque<(u8, u32)>,
    /// Signals that wait for the line, and the bytes that they take there.
    pub signals: VecDeque<(PacketHandle, u32)>,
}

impl CardCredits {
    pub fn new(config: CardCreditsConfig) -> Self {
        Self {
            config,
            senders: Default::default(),
            receivers: Default::default(),
            announced: VecDeque::new(),
            signals: VecDeque::new(),
        }
    }

    pub fn is_lossless(&self, class: u8) -> bool {
        has_class(self.config.classes, class)
    }

    /// Returns whether a frame may start.
    pub fn allows(&self, class: u8, frame_bytes: u32) -> bool {
        let credits = self.config.rules.credits(frame_bytes);
        !self.is_lossless(class) || self.senders[usize::from(class & 7)].allows(credits, self.config.limit)
    }

    /// Spends the credits of a frame that starts.
    pub fn spend(&mut self, class: u8, frame_bytes: u32) {
        if self.is_lossless(class) {
            let credits = self.config.rules.credits(frame_bytes);
            self.senders[usize::from(class & 7)].consume(credits, self.config.limit);
        }
    }
}
