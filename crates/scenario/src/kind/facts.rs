//! What is known of a kind without asking it.

use super::stage::{Entries, Stage};

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
