//! What a live run shows of itself while it runs.

use std::collections::BTreeMap;

use hitless_simulation::run::Counted;
use serde::Serialize;

use crate::clock::LatenessStatus;
use crate::interfaces::Counters;
use crate::self_test::SelfTest;

/// A moment of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Since the start.
    pub elapsed_s: f64,
    /// A deadline was missed beyond the slack, a ring ran over, or a ring refused a frame: what was measured is not
    /// what the scenario says.
    pub is_overloaded: bool,
    /// The real ends.
    pub ports: Vec<PortStatus>,
    /// Frames let in.
    pub frames_entered: u64,
    /// Copies of them made in switches.
    pub frames_copied: u64,
    /// Frames that left the fabric.
    pub frames_left: u64,
    /// In the fabric now.
    pub frames_inside: u64,
    /// Packets lost, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets taken out without loss, by reason.
    pub retired: BTreeMap<&'static str, u64>,
    /// By link.
    pub links: Vec<LinkStatus>,
    /// Counters of mechanisms: switch, mechanism, scope, counter, value.
    pub mechanisms: Vec<Counted>,
    /// Events handled after the time for which they were scheduled.
    pub timers: LatenessStatus,
    /// What was measured before the run; none when nothing was.
    pub self_test: Option<SelfTest>,
    /// What the reader should know: why it is overloaded, and what the self-test found.
    pub warnings: Vec<String>,
}

/// Change of an interface's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Attached node.
    pub node: String,
    /// Name of the interface.
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
    /// Put on it.
    pub frames_sent: u64,
    /// Arrived whole.
    pub frames_arrived: u64,
    /// Bytes of these.
    pub arrived_bytes: u64,
    /// Arrived corrupted.
    pub frames_corrupted: u64,
    /// Lost because it was down.
    pub frames_lost_down: u64,
    /// Bytes waiting for it at its switch; none when a real node sends on it.
    pub queue_bytes: Option<u64>,
}

/// A real end.
#[derive(Clone, Debug, Serialize)]
pub struct PortStatus {
    /// The node.
    pub node: String,
    /// The interface.
    pub interface: String,
    /// How frames cross to the kernel: what was obtained.
    pub mode: String,
    /// What has gone through it.
    #[serde(flatten)]
    pub counters: Counters,
    /// Departures after their time.
    pub departures: LatenessStatus,
    /// Frames that were to leave after the interface had failed.
    pub frames_undeliverable: u64,
    /// Frames can cross; without carrier the fabric's link is down.
    pub has_carrier: bool,
    /// How often the carrier was lost.
    pub carrier_losses: u64,
    /// Times that the interface was gone and came back.
    pub returns: u64,
    /// Why it is not used now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}
