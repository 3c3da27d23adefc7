//! What is known of a kind without asking it.

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
    pub asks_for_returns: bool,
    pub notifies_senders: bool,
    pub shares_state: bool,
}

/// A place in the order in which the hooks of a switch run: a role, which several kinds may have. Those of one stage
/// run in the order of the registry, and at most one of them takes the packets of a port: of the queues that they ask
/// for, a port has those of the one that asks for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Gives up packets that have left their queue, by itself: before anybody keeps a copy of them or numbers them.
    Drops,
    /// Keeps copies of packets that a failure may take: when they leave their queue, before a link numbers them.
    Copies,
    /// Works between the two ends of a link: numbers, repeats or codes frames.
    LinkProtection,
    /// Tells senders of congestion. It comes before whoever may send a packet elsewhere: it looks at the queue that
    /// routing chose, and gives its notices a queue that nobody changes.
    EarlyNotice,
    /// Detours packets and has them back. It comes behind links and copies: what it writes on a packet is that of the
    /// port by which it leaves in the end, and nothing of it gets into copies that are kept.
    Detour,
    /// Judges how urgent packets say that they are: before whoever goes by that.
    RankCheck,
    /// Saves of a refused packet what can be saved: before whoever would send it elsewhere.
    Salvage,
    /// Chooses by which port a packet leaves.
    PortChoice,
    /// Chooses the queue of a packet: last, for whoever changes its port does so before.
    QueueChoice,
}

/// What several entries of a kind are to a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// A switch is named by one entry: what it runs has one set of parameters.
    OnePerSwitch,
    /// All of them make one mechanism: its ports or links have parameters of their own.
    Shared,
    /// Each makes a mechanism of its own.
    Each,
}
