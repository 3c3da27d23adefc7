//! RCCC: credit that the receiver gives to its senders.
//!
//! Every data packet names the total credit that its sender wants. A receiving host grants a quantum to each connection
//! in turn, at a little less than the rate of its port (crates/hosts/src/host/credit_turns.rs). Connections without
//! unmet demand get up to a window of credit in advance when no other needs it. A new connection starts with a window
//! of credit, which expires with the first answer.

use super::settings::UetSettings;

/// The sender's credit.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub(super) struct Credit {
    /// Bytes that may be sent; the last packet can overdraw it.
    available: i64,
    granted_bytes: u64,
    maximum: i64,
    /// Whether the initial credit is in use.
    is_speculative: bool,
    /// The number of flows that share the host's card: together they request what one of them would.
    flows: i64,
}

impl Credit {
    pub fn new(maximum: u64) -> Self {
        let maximum = maximum as i64;
        Self { available: maximum, granted_bytes: 0, maximum, is_speculative: true, flows: 1 }
    }

    pub fn share_card(&mut self, flows: usize) {
        self.flows = flows as i64;
    }

    pub fn may_send(&self) -> bool {
        self.available > 0
    }

    pub fn spend(&mut self, bytes: u32) {
        self.available -= i64::from(bytes);
    }

    /// Ends the use of the initial credit.
    pub fn receiver_answered(&mut self) {
        if std::mem::take(&mut self.is_speculative) {
            self.available = self.available.min(0);
        }
    }

    pub fn granted(&mut self, granted_bytes: u64) {
        let more = granted_bytes.saturating_sub(self.granted_bytes);
        self.granted_bytes += more;
        self.available = (self.available + more as i64).min(self.maximum);
    }

    /// Returns the total credit wanted for `backlog` bytes, at most `window` bytes at a time.
    pub fn target(&self, backlog: u64, window: Option<u64>, full_frame_bytes: u32) -> u64 {
        let full = i64::from(full_frame_bytes);
        let mut wanted = backlog as i64;
        if let Some(window) = window {
            wanted = wanted.min(window as i64 + full);
        }
        wanted = wanted.min(self.maximum) - self.available;
        if self.is_speculative && backlog > 0 {
            // A short flow wants a packet even if its initial credit suffices. Flows that share the card divide it.
            wanted = wanted.max(full);
        }
        self.granted_bytes.saturating_add_signed(wanted / self.flows)
    }
}

/// A credit that a receiver grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Bytes that count against the rate of the credits.
    pub bytes: u64,
    /// Place of the connection in the receiving host's queues.
    pub next: NextGrant,
    /// Rate of the credits, in millionths of the port's.
    pub rate_millionths: u64,
}

/// Place of a connection after a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextGrant {
    /// It wants more.
    Active,
    /// It can get credit in advance.
    Idle,
    /// It has enough.
    Nothing,
}

/// The receiver's account of a connection's credit.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Demand {
    target: u64,
    granted_bytes: u64,
    /// Whether the connection is in the host's queue of active ones.
    is_queued: bool,
    /// Whether a trimmed packet or a request needs an answer even without new demand.
    is_urgent: bool,
}

impl Demand {
    pub fn note_target(&mut self, target: u64) {
        self.target = self.target.max(target);
    }

    pub fn urge(&mut self) {
        self.is_urgent |= !self.is_queued;
    }

    /// Returns whether the connection is in the host's queue of active connections.
    pub fn is_queued(&self) -> bool {
        self.is_queued
    }

    /// Returns whether the connection enters the host's queue now.
    pub fn enters_queue(&mut self) -> bool {
        let enters = !self.is_queued && (self.is_urgent || self.target > self.granted_bytes);
        self.is_urgent &= !enters;
        self.is_queued |= enters;
        enters
    }

    /// Grants a quantum, or the rest of the demand; in advance a quantum in any case. Returns the total granted.
    pub fn grant(&mut self, in_advance: bool, settings: &UetSettings, maximum: u64) -> (u64, Grant) {
        let before = self.granted_bytes;
        let quantum = settings.credit_bytes.0;
        self.granted_bytes = match in_advance {
            true => before + quantum,
            false => (before + quantum).min(self.target.max(before)),
        };
        let has_demand = self.target > self.granted_bytes;
        let ahead = self.granted_bytes.saturating_sub(self.target);
        let next = match in_advance {
            false if has_demand => NextGrant::Active,
            false => NextGrant::Idle,
            true if !has_demand && ahead < maximum => NextGrant::Idle,
            true => NextGrant::Nothing,
        };
        if !in_advance {
            self.is_queued = next == NextGrant::Active;
        }
        // The authors wait as for 1 KiB if a grant is empty.
        let bytes = if self.granted_bytes == before { 1_024 } else { self.granted_bytes - before };
        let rate_millionths = (settings.credit_rate * 1e6) as u64;
        (self.granted_bytes, Grant { bytes, next, rate_millionths })
    }
}
