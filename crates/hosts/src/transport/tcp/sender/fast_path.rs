//! Header prediction: which usual cases can be handled without the general checks.

/// The available fast paths. Code that invalidates one of them must close it.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct FastPath {
    /// Nothing is lost, SACKed, sent twice or otherwise unusual: an acknowledgement in order only grows the window.
    pub acks: bool,
    /// The same, except that ECE can shrink the window and that RACK detects losses.
    pub ece_acks: bool,
    /// Data may flow, new data is next, and neither bursts nor pacing apply: only the windows limit it.
    pub new_data: bool,
}

impl FastPath {
    /// Creates the state for a connection that is established or not. The fast path for new data is determined at the
    /// first request for a packet. An algorithm that sets the window must see every acknowledgement.
    pub fn new(is_established: bool, sets_cwnd: bool, uses_rack: bool) -> Self {
        let acks = is_established && !sets_cwnd;
        Self { acks, ece_acks: acks && uses_rack, new_data: false }
    }

    pub fn close(&mut self) {
        *self = Self { acks: false, ece_acks: false, new_data: false };
    }
}
