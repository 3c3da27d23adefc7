use std::collections::BTreeMap;

use hitless_simulation::run::Counted;
use serde::Serialize;

use crate::clock::LatenessStatus;
use crate::interfaces::Counters;
use crate::self_test::SelfTest;

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
    /// Counters of mechanisms: switch, mechanism, scope, key, label, value.
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
    pub change: PortChange,
    /// Reason why it is unused, or the counter.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortChange {
    Gone,
    /// It was gone, and is used again.
    Back,
    /// It was gone, and cannot be used again in this run.
    Lost,
    /// It dropped a frame that an offload had merged, for the first time.
    Merged,
}

impl PortChange {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Back => "back",
            Self::Lost => "lost",
            Self::Merged => "merged",
        }
    }
}

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

#[derive(Clone, Debug, Serialize)]
pub struct PortStatus {
    pub node: String,
    pub interface: String,
    /// The actual mode of exchanging frames with the kernel.
    pub mode: String,
    /// The path of TCP buffers that a host left to its network card: "whole", or "split" and the reason. See
    /// docs/explanation/live.md.
    pub large_buffers: String,
    #[serde(flatten)]
    pub counters: Counters,
    pub departures: LatenessStatus,
    /// Frames that left the fabric after the interface had failed.
    pub frames_undeliverable: u64,
    /// Received frames that the fabric did not take, because a path in the kernel forwards them.
    pub frames_left_to_kernel: u64,
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

/// Returns the reasons why measurements do not reflect the scenario.
pub(crate) fn overloads(status: &Status, slack_ns: u64) -> Vec<String> {
    let slack_us = slack_ns / 1_000;
    let mut warnings = Vec::new();
    for port in &status.ports {
        let PortStatus { node, interface, departures, .. } = port;
        if departures.misses > 0 {
            let LatenessStatus { misses, count, worst_ns, .. } = departures;
            warnings.push(format!(
                "{misses} of {count} departures to {node} ({interface}) were more than {slack_us} us late, the worst \
                 {} us",
                worst_ns / 1_000
            ));
        }
        for (count, what) in [
            (port.counters.frames_overrun, "frames found the receive ring full"),
            (port.counters.frames_refused, "frames were refused by the transmit ring"),
            (port.counters.frames_merged, "frames had been merged by an offload that is on"),
        ] {
            if count > 0 {
                warnings.push(format!("{count} {what} at {node} ({interface})"));
            }
        }
        if let Some(error) = &port.failed {
            warnings.push(format!("the interface of {node} is gone: {error}"));
        }
        if port.returns > 0 {
            warnings
                .push(format!("the interface of {node} ({interface}) was gone, and came back, {} times", port.returns));
        }
    }
    if status.timers.misses > 0 {
        warnings.push(format!(
            "{} times events were handled more than {slack_us} us late, the worst {} us",
            status.timers.misses,
            status.timers.worst_ns / 1_000
        ));
    }
    warnings
}
