//! Parameters of a host.

use hitless_core::wire::{Duration, Packet};

use super::gro::GroConfig;
use super::network_card::NetworkCardConfig;
use crate::stack::StackConfig;

/// Parameters of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// The network card.
    pub network_card: NetworkCardConfig,
    /// Delays of packets whose transport is in the kernel or a program (TCP, UDP).
    pub kernel_stack: StackConfig,
    /// Packets for transports in the kernel wait for a poll, and data of TCP is merged. `None`: each goes up by itself.
    pub gro: Option<GroConfig>,
    /// Delays of packets whose transport is in the card (RoCE): descriptor fetch and DMA.
    pub network_card_stack: StackConfig,
    /// Whether the card's backlog holds back TCP too (Linux: TCP small queues). Without it TCP sends what its window
    /// allows, and the card's queue must hold that.
    pub tcp_small_queues: bool,
    /// Where the ticks of the host's timer interrupt fall; counts only for transports whose timers tick.
    pub timer_phase: Duration,
    /// Hops that its packets may take.
    pub time_to_live: u8,
    /// The reorder buffer puts marked packets back into order, and waits so long for one that is missing. `None`: it
    /// has none.
    pub reorder_timeout: Option<Duration>,
}

impl HostConfig {
    /// A host without stack delays.
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
        }
    }
}
