//! Parameters of a host.

use hitless_core::wire::{CreditRules, Duration, Packet};

use super::gro::GroConfig;
use super::network_card::NetworkCardConfig;
use crate::stack::StackConfig;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    pub network_card: NetworkCardConfig,
    /// Delays of packets with a transport in the kernel or a program (TCP, UDP).
    pub kernel_stack: StackConfig,
    /// Packets for transports in the kernel wait for a poll, and TCP data is merged. `None` passes each packet up
    /// separately.
    pub gro: Option<GroConfig>,
    /// Delays of packets with a transport in the card (RoCE): descriptor fetch and DMA.
    pub network_card_stack: StackConfig,
    /// Whether TCP waits for the card's backlog too (Linux: TCP small queues). Without it TCP sends its whole window,
    /// and the card's queue must hold that.
    pub tcp_small_queues: bool,
    /// Phase of the host's timer interrupt; matters only for transports with ticking timers.
    pub timer_phase: Duration,
    pub time_to_live: u8,
    /// Time that the reorder buffer waits for a missing packet; `None` means no reorder buffer. It reorders marked
    /// packets only.
    pub reorder_timeout: Option<Duration>,
    /// Flow control of the link; `None` means that the card ignores its signals.
    pub flow_control: Option<CardFlowControl>,
}

/// Flow control between a card and its switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardFlowControl {
    /// The card obeys pause frames, this time after their arrival.
    Pauses(Duration),
    /// The card sends frames within its credits, and returns credits as frames arrive.
    Credits(CardCreditsConfig),
}

/// The credits of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct CardCreditsConfig {
    pub rules: CreditRules,
    /// Lossless classes, one bit each.
    pub classes: u8,
    /// Credits of each class at the switch.
    pub limit: u32,
}

impl HostConfig {
    /// Creates a host without stack delays.
    pub const fn with_network_card(network_card: NetworkCardConfig) -> Self {
        Self {
            network_card,
            kernel_stack: StackConfig::NONE,
            gro: None,
            network_card_stack: StackConfig::NONE,
            tcp_small_queues: true,
            timer_phase: Duration::ZERO,
            time_to_live: Packet::INITIAL_TTL,
            reorder_timeout: None,
            flow_control: None,
        }
    }
}
