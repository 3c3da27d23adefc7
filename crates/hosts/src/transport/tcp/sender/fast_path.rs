//! Header prediction: which of the usual cases may be handled without looking at the rest.

/// Which short ways may be taken. What makes one of them wrong must close it.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct FastPath {
    /// Nothing is lost, sacked, sent twice or otherwise wrong: an acknowledgement in order asks for growth only.
    pub acks: bool,
    /// The same, but that ECE may shrink the window, and that RACK finds the losses.
    pub ece_acks: bool,
    /// Data may flow, nothing is to be sent before new data, which is neither kept together in bursts nor paced: it
    /// only asks for room in the windows.
    pub new_data: bool,
}

impl FastPath {
    /// That of a connection over which data may flow, or not yet. Whether new data may go the short way is found out
    /// when the first packet is asked for. An algorithm that sets the window by itself wants to see every
    /// acknowledgement.
    pub fn new(is_established: bool, sets_cwnd: bool, uses_rack: bool) -> Self {
        let acks = is_established && !sets_cwnd;
        Self { acks, ece_acks: acks && uses_rack, new_data: false }
    }

    /// None of them, until it is found out that they may be taken.
    pub fn close(&mut self) {
        *self = Self { acks: false, ece_acks: false, new_data: false };
    }
}
