//! The handshake, which decides when data may flow (RFC 9293, section 3.3.2).

use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::{Duration, Time};

/// The states of a connection that is opened here and never closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
enum TcpState {
    /// The application has not written yet.
    Closed,
    /// The SYN was sent or is due.
    SynSent {
        /// Number of repeated SYNs.
        retries: u32,
        /// Time of the last SYN.
        sent_at: Time,
        /// Whether a SYN is due.
        due: bool,
    },
    /// Data can flow.
    Established,
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct Handshake {
    state: TcpState,
    /// Time when data could flow; [`Time::NEVER`] before that.
    established_at: Time,
}

impl Handshake {
    /// Creates a connection that opens with its first data, or one that is open from time zero.
    pub fn new(config: &TcpSettings) -> Self {
        if config.handshake {
            Self { state: TcpState::Closed, established_at: Time::NEVER }
        } else {
            Self { state: TcpState::Established, established_at: Time::ZERO }
        }
    }

    #[inline]
    pub fn is_established(&self) -> bool {
        self.state == TcpState::Established
    }

    pub fn established_at(&self) -> Option<Time> {
        (self.established_at != Time::NEVER).then_some(self.established_at)
    }

    /// Opens the connection for the application's first write.
    pub fn open(&mut self, now: Time) {
        if self.state == TcpState::Closed {
            self.state = TcpState::SynSent { retries: 0, sent_at: now, due: true };
        }
    }

    /// Returns whether a SYN is due, and counts it as sent at `now`.
    pub fn take_syn(&mut self, now: Time) -> bool {
        let TcpState::SynSent { due, sent_at, .. } = &mut self.state else { return false };
        let is_due = *due;
        if is_due {
            (*due, *sent_at) = (false, now);
        }
        is_due
    }

    /// Returns the timeout of a SYN in flight, if there is one (RFC 6298, section 5.5: doubled each time).
    pub fn syn_timeout(&self, config: &TcpSettings) -> Option<Duration> {
        let TcpState::SynSent { retries, due: false, .. } = self.state else { return None };
        Some((config.syn_timeout * (1 << retries.min(16))).min(config.rto_max))
    }

    /// Returns the time of the latest SYN and the number of repeated ones, before the connection is open.
    pub fn syn_in_flight(&self) -> Option<(Time, u32)> {
        let TcpState::SynSent { retries, sent_at, .. } = self.state else { return None };
        Some((sent_at, retries))
    }

    /// Makes the SYN due again after its timeout. Returns false without a SYN in flight.
    pub fn repeat_syn(&mut self) -> bool {
        let TcpState::SynSent { retries, due, .. } = &mut self.state else { return false };
        *retries += 1;
        *due = true;
        true
    }

    /// Establishes the connection; returns the number of repeated SYNs, or `None` if no SYN-ACK was expected.
    pub fn establish(&mut self, now: Time) -> Option<u32> {
        let TcpState::SynSent { retries, .. } = self.state else { return None };
        self.state = TcpState::Established;
        self.established_at = now;
        Some(retries)
    }
}
