//! The status of a live run.

use std::collections::BTreeMap;

use hitless_simulation::run::Counted;
use serde::Serialize;

use crate::clock::LatenessStatus;
use crate::interfaces::Counters;
use crate::self_test::SelfTest;

/// A snapshot of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub elapsed_s: f64,
    /// Whether a deadline was missed beyond the slack, a ring overflowed, or a ring refused a frame: measurements then
    /// do not reflect the scenario.
    pub is_overloaded: bool,
    /// The real ends.
    pub ports: Vec<PortStatus>,
    /// Frames admitted.
    pub frames_entered: u64,
    /// Copies of them made in switches.
    pub frames_copied: u64,
    pub frames_left: u64,
    pub frames_inside: u64,
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets removed without loss, by reason.
    pub retired: BTreeMap<&'static str, u64>,
    pub links: Vec<LinkStatus>,
    /// Counters of mechanisms: switch, mechanism, scope, counter, value.
    pub mechanisms: Vec<Counted>,
    /// Ends of protected links here.
    pub protections: Vec<ProtectionStatus>,
    /// Lateness of events.
    pub timers: LatenessStatus,
    /// Measurements before the run, if any.
    pub self_test: Option<SelfTest>,
    /// Messages for the user: reasons of an overload, and results of the self-test.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Attached node.
    pub node: String,
    pub interface: String,
    /// Whether it came back; otherwise it went away.
    pub is_back: bool,
    /// Reason why it is unused.
    pub detail: String,
}

/// A link in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct LinkStatus {
    /// "sw1->sw2".
    pub link: String,
    pub frames_sent: u64,
    /// Frames that arrived intact.
    pub frames_arrived: u64,
    /// Bytes of these.
    pub arrived_bytes: u64,
    pub frames_corrupted: u64,
    /// Frames lost because the link was down.
    pub frames_lost_down: u64,
    /// Bytes waiting for it at its switch; `None` if a real node sends on it.
    pub queue_bytes: Option<u64>,
}

/// A local end of a protected link, and its knowledge of the protection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProtectionStatus {
    /// Protected direction: "sw1->sw2".
    pub link: String,
    /// "sender" or "receiver".
    pub end: &'static str,
    /// Name of the real node at the other end, as in [`PortStatus::node`]; `None` if the other end is here too.
    pub beyond: Option<String>,
    pub is_commanded: bool,
    /// "unknown", "off", "starting", "on" or "ending"; a receiver tells it from the last frame.
    pub phase: &'static str,
    pub keeps_order: bool,
    pub copies: Option<u32>,
    pub packets: u64,
    pub lost_on_link: u64,
    pub recovered: u64,
    pub lost: Option<u64>,
}

/// A real end.
#[derive(Clone, Debug, Serialize)]
pub struct PortStatus {
    pub node: String,
    pub interface: String,
    /// The actual mode of exchanging frames with the kernel.
    pub mode: String,
    #[serde(flatten)]
    pub counters: Counters,
    pub departures: LatenessStatus,
    /// Frames that left the fabric after the interface had failed.
    pub frames_undeliverable: u64,
    /// Whether frames can cross; without carrier the fabric's link is down.
    pub has_carrier: bool,
    /// Number of losses of the carrier.
    pub carrier_losses: u64,
    /// Number of times that the interface was gone and came back.
    pub returns: u64,
    /// Reason why it is unused now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
