//! The constants of a kind.

use hitless_switch::{Declared, Quantity};
use serde::Deserialize;

/// The constants of a [`Kind`](super::Kind).
pub(crate) struct Facts {
    pub name: &'static str,
    pub title: &'static str,
    pub summary: &'static str,
    pub stage: Stage,
    pub entries: Entries,
    pub places_field: &'static str,
    pub queues_field: Option<&'static str>,
    pub counters: Declared,
    pub quantities: &'static [Quantity],
    pub asks_for_returns: bool,
    pub notifies_senders: bool,
    pub shares_state: bool,
}

/// Position in the order of a switch's hooks: a role that several kinds can have. Kinds of one stage run in the order
/// of the registry, and at most one of them handles the packets of a port. A port has the maximum number of queues that
/// a mechanism of the stage requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Drops packets that have left their queue, before any mechanism copies or numbers them.
    Drops,
    /// Copies packets that a failure can lose, when they leave their queue and before a link numbers them.
    Copies,
    /// Works between the two ends of a link: numbers, repeats or codes frames.
    LinkProtection,
    /// Informs senders of congestion. It runs before mechanisms that redirect packets, because it reads the queue that
    /// routing chose and puts its notices into a queue that no later mechanism changes.
    EarlyNotice,
    /// Sends packets on detours and takes them back. It runs after links and copies, because its header depends on the
    /// final egress port and must not be part of stored copies.
    Detour,
    /// Checks the urgency that packets claim, before mechanisms that use it.
    RankCheck,
    /// Saves part of a refused packet, before a mechanism that would redirect it.
    Salvage,
    /// Chooses the egress port of a packet.
    PortChoice,
    /// Chooses the queue of a packet; last, because earlier mechanisms can change its port.
    QueueChoice,
}

/// The meaning of several entries of the same kind for a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// Only one entry can name a switch, because the mechanism has a single set of parameters.
    OnePerSwitch,
    /// All entries together make one mechanism with separate parameters for each port or link.
    Shared,
    /// Each entry makes a separate mechanism.
    Each,
}
