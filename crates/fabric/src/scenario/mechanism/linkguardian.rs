//! LinkGuardian's parameters. Sections are those of Joshi et al., SIGCOMM 2023.

use hitless_mechanisms::linkguardian::copies_for;
use hitless_wire::{BitRate, Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Scenario;
use super::super::quantity::Text;
use crate::topology::Topology;
use crate::topology::select::select_links;

/// LinkGuardian on one link in one direction. Both ends must be switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkGuardianSettings {
    /// The protected link and direction, "sw2->sw6": the first node is the sending switch.
    #[schemars(extend("x-required" = true))]
    pub link: String,
    /// Whether order is kept.
    pub mode: LinkGuardianMode,
    /// The loss rate to be reached (section 4: 1e-8).
    #[schemars(range(min = 1e-18, max = 0.5))]
    pub target_loss_rate: f64,
    /// The loss rate that the link is taken to have; decides the number of copies by Equation 2. Left out: the highest
    /// that `[[link]]` gives this link in the run; none: one copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 0.5))]
    pub actual_loss_rate: Option<f64>,
    /// Copies that are retransmitted of each lost packet; left out: by Equation 2 from the two loss rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub copies: Option<u32>,
    /// When it is switched on and off, in order of time; off before the first. Empty: on from the start. A single
    /// `active = false` leaves it to a control plane, such as `hitless corruptd`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub activation: Vec<ActivationChange>,
    /// How long the receiver waits for a retransmission before it gives the packet up (section 3.5). By link rate:
    /// 13.5 us at 10G, 7.5 us at 25G, 7 us from 100G on.
    #[schemars(extend("x-default" = "by link rate"))]
    #[serde(with = "Text::<Duration>")]
    pub ack_no_timeout: Duration,
    /// Period of the timer packets that count `ack_no_timeout` down (section 3.5: 100 ns).
    #[serde(with = "Text::<Duration>")]
    pub timer_period: Duration,
    /// The receiver resumes the sender when its reordering buffer falls to this (section 3.3). By link rate: 622, 497
    /// or 460 cells of 80 bytes at 10G, 25G, 100G.
    #[schemars(extend("x-default" = "by link rate"))]
    #[serde(with = "Text::<Bytes>")]
    pub resume_threshold: Bytes,
    /// The receiver pauses the sender when its reordering buffer reaches this: 2 MTU more (section 4). By link rate:
    /// 662, 537 or 500 cells of 80 bytes.
    #[schemars(extend("x-default" = "by link rate"))]
    #[serde(with = "Text::<Bytes>")]
    pub pause_threshold: Bytes,
    /// Pause the sender at all. Without it the reordering buffer may overflow (figure 9b).
    pub backpressure: bool,
    /// Size of the receiver's reordering buffer (section 4: 200 KB).
    #[serde(with = "Text::<Bytes>")]
    pub reordering_buffer: Bytes,
    /// Size of the sender's buffer of unacknowledged copies (section 4: 200 KB).
    #[serde(with = "Text::<Bytes>")]
    pub sender_buffer: Bytes,
    /// Send dummies when there is nothing else to send, so that the loss of the last packet is noticed (section 3.2).
    pub tail_detection: bool,
    /// Dummies after the last packet (published programs: 3).
    #[schemars(range(min = 1, max = 255))]
    pub dummy_count: u32,
    /// Explicit acknowledgements after the last packet (published programs: 2).
    #[schemars(range(min = 1, max = 255))]
    pub ack_count: u32,
    /// Losses in a row that can be recovered: one-bit registers for retransmission requests (section 3.5: 5).
    #[schemars(range(min = 1, max = 255))]
    pub consecutive_losses_max: u32,
    /// Where packets wait that must wait.
    pub buffering: Buffering,
}

/// Whether order is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkGuardianMode {
    /// In order: packets after a lost one wait for it. "LG" in the paper.
    Blocking,
    /// As they come. "LG_NB" in the paper.
    NonBlocking,
}

/// Where packets wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Buffering {
    /// Round and round through a recirculation port, as on the first Tofino (section 3.5).
    Recirculation,
    /// In paused queues, as later chips can (section 5).
    PausedQueue,
}

/// LinkGuardian being switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivationChange {
    /// When.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// Whether it is on from then.
    pub active: bool,
}

/// Above this nothing can be promised: Equation 2 would ask for dozens of copies.
const LOSS_RATE_MAX: f64 = 0.5;

/// What depends on the link's rate: rate in Gb/s up to which a row holds, timeout in ns, resume and pause in cells.
/// Paper, section 4 "Parameters" (25G, 100G); published switch programs (10G and the thresholds in cells).
const BY_RATE: [(u64, u64, u64, u64); 3] = [(10, 13_500, 622, 662), (25, 7_500, 497, 537), (u64::MAX, 7_000, 460, 500)];
const CELL_BYTES: u64 = 80;

impl Default for LinkGuardianSettings {
    fn default() -> Self {
        Self::for_rate(BitRate::from_gbps(100))
    }
}

impl LinkGuardianSettings {
    /// The paper's parameters for a link of `rate`. Between its rates, those of the next higher one hold.
    pub fn for_rate(rate: BitRate) -> Self {
        let gbps = rate.as_bps().div_ceil(1_000_000_000);
        let row = BY_RATE.iter().find(|row| gbps <= row.0).unwrap_or(&BY_RATE[BY_RATE.len() - 1]);
        let (_, timeout_ns, resume_cells, pause_cells) = *row;
        Self {
            link: String::new(),
            mode: LinkGuardianMode::Blocking,
            target_loss_rate: 1e-8,
            actual_loss_rate: None,
            copies: None,
            activation: Vec::new(),
            ack_no_timeout: Duration::from_ns(timeout_ns),
            timer_period: Duration::from_ns(100),
            resume_threshold: Bytes(resume_cells * CELL_BYTES),
            pause_threshold: Bytes(pause_cells * CELL_BYTES),
            backpressure: true,
            reordering_buffer: Bytes(200_000),
            sender_buffer: Bytes(200_000),
            tail_detection: true,
            dummy_count: 3,
            ack_count: 2,
            consecutive_losses_max: 5,
            buffering: Buffering::Recirculation,
        }
    }

    /// When neither copies nor a loss rate are given, takes the highest loss rate that the scenario gives the link.
    pub(in crate::scenario) fn expect_losses_of(&mut self, scenario: &Scenario, topology: &Topology) {
        if self.copies.is_some() || self.actual_loss_rate.is_some() {
            return;
        }
        let links = select_links(topology, &self.link).unwrap_or_default();
        let rates = links.into_iter().map(|link| scenario.loss_rate_max(topology, link));
        let highest = rates.fold(0.0, f64::max);
        self.actual_loss_rate = (highest > 0.0).then_some(highest.min(LOSS_RATE_MAX));
    }

    /// Copies that are retransmitted of each lost packet; one when no loss is expected.
    pub fn copy_count(&self) -> u32 {
        let by_equation = |actual| copies_for(actual, self.target_loss_rate);
        let losses = self.actual_loss_rate.filter(|&actual| actual > 0.0);
        self.copies.or(losses.map(by_equation)).unwrap_or(1)
    }
}
