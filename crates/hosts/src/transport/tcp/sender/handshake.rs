//! Whether data may flow (RFC 9293, section 3.3.2).

use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::{Duration, Time};

/// The states of a connection that is opened here and never closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
enum TcpState {
    /// The application has not written yet.
    Closed,
    /// The SYN was sent, or waits to be.
    SynSent {
        /// SYNs sent again after a timeout.
        retries: u32,
        /// When the last one was sent.
        sent_at: Time,
        /// One waits to be sent.
        due: bool,
    },
    /// Data may flow.
    Established,
}

/// How the connection is opened.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct Handshake {
    state: TcpState,
    /// When data could flow; [`Time::NEVER`]: not yet.
    established_at: Time,
}

impl Handshake {
    /// A connection that opens with its first data, or one that is open from the beginning of time.
    pub fn new(config: &TcpSettings) -> Self {
        if config.handshake {
            Self { state: TcpState::Closed, established_at: Time::NEVER }
        } else {
            Self { state: TcpState::Established, established_at: Time::ZERO }
        }
    }

    /// Whether data may flow.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.state == TcpState::Established
    }

    /// When data could flow; `None`: not yet.
    pub fn established_at(&self) -> Option<Time> {
        (self.established_at != Time::NEVER).then_some(self.established_at)
    }

    /// The application writes, which opens the connection.
    pub fn open(&mut self, now: Time) {
        if self.state == TcpState::Closed {
            self.state = TcpState::SynSent { retries: 0, sent_at: now, due: true };
        }
    }

    /// Whether a SYN is to be sent; it counts as sent at `now`.
    pub fn take_syn(&mut self, now: Time) -> bool {
        let TcpState::SynSent { due, sent_at, .. } = &mut self.state else { return false };
        let is_due = *due;
        if is_due {
            (*due, *sent_at) = (false, now);
        }
        is_due
    }

    /// The timeout of the SYN that is under way, if one is (RFC 6298, section 5.5: each doubles the next).
    pub fn syn_timeout(&self, config: &TcpSettings) -> Option<Duration> {
        let TcpState::SynSent { retries, due: false, .. } = self.state else { return None };
        Some((config.syn_timeout * (1 << retries.min(16))).min(config.rto_max))
    }

    /// The SYN's timeout is over: it is to be sent again. False when none is under way.
    pub fn repeat_syn(&mut self) -> bool {
        let TcpState::SynSent { retries, due, .. } = &mut self.state else { return false };
        *retries += 1;
        *due = true;
        true
    }

    /// The SYN-ACK has come; returns how often the SYN had been sent again. `None` when none was waited for.
    pub fn establish(&mut self, now: Time) -> Option<u32> {
        let TcpState::SynSent { retries, .. } = self.state else { return None };
        self.state = TcpState::Established;
        self.established_at = now;
        Some(retries)
    }
}
