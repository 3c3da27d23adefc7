//! LinkGuardian's parameters. Sections refer to Joshi et al., SIGCOMM 2023.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{BitRate, Bytes, Duration, Time};
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::topology::LineRange;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameters::{LinkShape, buffer_for, control_copies_for, copies_for};
use crate::one_link;

/// LinkGuardian on a link in one direction. Both ends must be switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkGuardianSettings {
    /// Protected link and direction, "sw2->sw6": the first node is the sending switch.
    #[schemars(extend("x-required" = true))]
    pub link: String,
    /// Whether packets are delivered in order.
    pub mode: Mode,
    /// Target residual loss rate (section 4: 1e-8).
    #[schemars(range(min = 1e-18, max = 0.5))]
    pub target_loss_rate: f64,
    /// Expected loss rate of the link; decides the number of copies by Equation 2. Default: the highest loss rate that
    /// `[[link]]` gives this link in the run; without losses a single copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 0.5))]
    pub actual_loss_rate: Option<f64>,
    /// Retransmitted copies of each lost packet. Default: by Equation 2 from the two loss rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub copies: Option<u32>,
    /// Times at which protection is switched on and off, in order; it is off before the first. Empty: on from the
    /// start. A single `active = false` leaves the decision to a control plane, such as `hitless corruptd`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub activation: Vec<ActivationChange>,
    /// Maximum wait of the receiver for a retransmission (section 3.5). In the paper 13.5 us at 10G, 7.5 us at 25G, and
    /// 7 us at 100G. Lower rates, longer frames, cables of more than 40 m, more than two copies and slower
    /// recirculation ports add to it.
    #[schemars(extend("x-default" = "by link rate, delay, frame size, copies and recirculation_rate"))]
    #[serde(with = "Optional::<Duration>")]
    pub ack_no_timeout: Option<Duration>,
    /// Period of the timer packets that count `ack_no_timeout` down (section 3.5: 100 ns).
    #[serde(with = "Text::<Duration>")]
    pub timer_period: Duration,
    /// Fill of the reordering buffer at which the receiver resumes the sender (section 3.3). In the paper 622, 497 or
    /// 460 cells of 80 bytes at 10G, 25G, 100G. For other rates, frames, cables and recirculation ports: the bytes that
    /// drain until the resume takes effect (appendix B.1), and the paper's margin. Zero for a ring whose rate is no
    /// multiple of the link's, because it sorts itself only while it empties.
    #[schemars(extend("x-default" = "by link rate, delay, frame size and recirculation_rate"))]
    #[serde(with = "Optional::<Bytes>")]
    pub resume_threshold: Option<Bytes>,
    /// Fill of the reordering buffer at which the receiver pauses the sender: two full frames more (section 4). With
    /// paused queues also the bytes that arrive in `ack_no_timeout`, if `reordering_buffer` has room, so that a single
    /// loss pauses nothing.
    #[schemars(extend("x-default" = "by resume_threshold, frame size and buffering"))]
    #[serde(with = "Optional::<Bytes>")]
    pub pause_threshold: Option<Bytes>,
    /// Pause the sender when the reordering buffer fills up. Without backpressure the buffer can overflow (figure 9b).
    pub backpressure: bool,
    /// Size of the receiver's reordering buffer. Section 4 has 200 KB; a fast or long link needs the pause threshold
    /// and the bytes that arrive until a pause takes effect.
    #[schemars(extend("x-default" = "200 KB, or more by link rate and delay"))]
    #[serde(with = "Optional::<Bytes>")]
    pub reordering_buffer: Option<Bytes>,
    /// Size of the sender's buffer of unacknowledged copies. Section 4 has 200 KB; a fast or long link needs the bytes
    /// that it sends in `ack_no_timeout`.
    #[schemars(extend("x-default" = "200 KB, or more by link rate and delay"))]
    #[serde(with = "Optional::<Bytes>")]
    pub sender_buffer: Option<Bytes>,
    /// Send dummies when there is nothing else to send, so that the receiver notices the loss of the last packet
    /// (section 3.2).
    pub tail_detection: bool,
    /// Dummies after the last packet (published programs: 3).
    #[schemars(range(min = 1, max = 255))]
    pub dummy_count: u32,
    /// Explicit acknowledgements after the last packet (published programs: 2).
    #[schemars(range(min = 1, max = 255))]
    pub ack_count: u32,
    /// Maximum number of consecutive losses that can be recovered: one-bit registers for retransmission requests
    /// (section 3.5: 5).
    #[schemars(range(min = 1, max = 255))]
    pub consecutive_losses_max: u32,
    /// Place where packets wait. Recirculation, as in the paper, on links of up to 100G and 40 m if losses cost no more
    /// of the line than in figure 8 and `recirculation_rate` is a multiple of the link's rate; otherwise paused queues.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "by link rate, delay, frame size and loss rate"))]
    pub buffering: Option<Buffering>,
    /// Copies of each loss notification, pause frame and message, for links that corrupt in both directions (section
    /// 5). Default: by Equation 2, from the highest loss rate that `[[link]]` gives the reverse direction; once without
    /// losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16))]
    pub control_copies: Option<u32>,
    /// Repeat an unanswered loss notification after this time, and acknowledge nothing behind the loss until then, so
    /// that the sender keeps its copies: for links that corrupt in both directions. It should be longer than a round
    /// trip and shorter than `ack_no_timeout`. Default: never. Not in the paper, which sends the copies of a
    /// notification back to back (section 5).
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub notification_period: Option<Duration>,
    /// Time from a retransmission to its queue, without the pass of the pipeline.
    #[serde(with = "Text::<Duration>")]
    pub repair_latency: Duration,
    /// Probe the receiver if nothing new is acknowledged for `ack_no_timeout`. Finds a lost tail even if all dummies
    /// are lost, and replaces lost acknowledgements. After 64 probes without an answer the copies are given up. Not in
    /// the paper.
    #[schemars(extend("x-default" = "true if the link goes down or loses every frame for a time, in any direction"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail_probes: Option<bool>,
    /// Traffic classes that are protected without keeping their order, in a separate sequence space; all other classes
    /// are protected according to `mode` (section 5). A flow's class is its `class`; on a real link the priority code
    /// point or DSCP.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub non_blocking_classes: Vec<u8>,
    /// Drop second copies in non-blocking mode too. The published programs deliver them.
    pub deduplicate: bool,
    /// Number packets only after the receiver has confirmed the first number, so that a restarted end loses nothing.
    /// Not part of the published programs.
    pub handshake: bool,
    /// Number of the first packet. With a handshake, a restarted sender should use another one.
    #[schemars(range(min = 0, max = 65535))]
    pub first_number: u32,
    /// Carry the packet's EtherType in two extra bytes. The published programs do not, so that only IPv4 survives; the
    /// simulator's packets have no EtherType, and this setting counts the bytes.
    pub original_ether_type: bool,
    /// Adapt the protection to the losses that the receiver counts (section 5 names such a fallback as an extension).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FallbackSettings>,
    /// Refuse the link if the recirculation ports of its switches are too small for it.
    pub admission_control: bool,
}

/// Bounds at which protection changes automatically: to non-blocking, to none, and back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FallbackSettings {
    /// Period at which the receiver reads its counters.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
    /// Loss rate above which order is not kept.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub non_blocking_above: f64,
    /// Loss rate above which nothing is protected.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub off_above: f64,
    /// A better level is tried when the loss rate is below this share of the bound that led to the current level.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub recovery_share: f64,
    /// Consecutive periods above a bound that change the level.
    #[schemars(range(min = 1, max = 1000))]
    pub bad_periods: u32,
    /// Minimum time with a low loss rate before the next better level is tried; doubles each time it was too short.
    #[serde(with = "Text::<Duration>")]
    pub hold: Duration,
    /// Maximum of this time.
    #[serde(with = "Text::<Duration>")]
    pub hold_max: Duration,
    /// Minimum number of frames for an estimate; fewer frames are added to the next period.
    #[schemars(range(min = 1, max = 1000000000))]
    pub frames_min: u64,
}

impl Default for FallbackSettings {
    fn default() -> Self {
        Self {
            period: Duration::from_us(1_000),
            non_blocking_above: 5e-3,
            off_above: 0.2,
            recovery_share: 0.5,
            bad_periods: 3,
            hold: Duration::from_us(100_000),
            hold_max: Duration::from_us(10_000_000),
            frames_min: 1_000,
        }
    }
}

/// Whether packets are delivered in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "LinkGuardianMode")]
pub enum Mode {
    /// Deliver in order: packets after a lost one wait for it. "LG" in the paper.
    Blocking,
    /// Deliver as packets arrive. "LG_NB" in the paper.
    NonBlocking,
}

/// Where packets wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Buffering {
    /// In a recirculation port, again and again, as on the first Tofino (section 3.5).
    Recirculation,
    /// In paused queues, as later chips support (section 5).
    PausedQueue,
}

/// A change of protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivationChange {
    /// Time of the change.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// Whether protection is on from this time.
    pub active: bool,
}

/// The highest loss rate that is considered: above it Equation 2 would ask for dozens of copies.
const LOSS_RATE_MAX: f64 = 0.5;
/// The maximum number of control copies: more would fill the reverse direction without benefit.
const CONTROL_COPIES_MAX: u32 = 16;
/// Maximum share of the line that losses may cost. By this arithmetic figure 8 has 14.5 % at 100G and 1.16e-3.
pub(super) const LINE_COST_MAX: f64 = 0.146;
/// The rate assumed for a link that cannot be found, which is reported elsewhere.
const RATE_UNKNOWN: BitRate = BitRate::from_gbps(100);

impl Default for LinkGuardianSettings {
    fn default() -> Self {
        Self {
            link: String::new(),
            mode: Mode::Blocking,
            target_loss_rate: 1e-8,
            actual_loss_rate: None,
            copies: None,
            activation: Vec::new(),
            ack_no_timeout: None,
            timer_period: Duration::from_ns(100),
            resume_threshold: None,
            pause_threshold: None,
            backpressure: true,
            reordering_buffer: None,
            sender_buffer: None,
            tail_detection: true,
            dummy_count: 3,
            ack_count: 2,
            consecutive_losses_max: 5,
            buffering: None,
            control_copies: None,
            notification_period: None,
            repair_latency: Duration::ZERO,
            tail_probes: None,
            non_blocking_classes: Vec::new(),
            deduplicate: false,
            handshake: false,
            first_number: 0,
            original_ether_type: false,
            fallback: None,
            admission_control: true,
        }
    }
}

impl LinkGuardianSettings {
    /// Fills in defaults from the link: the highest loss rates that the scenario gives it, and its rate.
    pub(super) fn resolve(&mut self, around: Surroundings<'_>) {
        let Surroundings { scenario, topology } = around;
        let links = around.links(&self.link);
        let highest = |reversed: bool| {
            let directed = links.iter().map(|link| if reversed { link.reversed() } else { *link });
            let highest = directed.map(|link| scenario.loss_rate_max(topology, link)).fold(0.0, f64::max);
            (highest > 0.0).then_some(highest.min(LOSS_RATE_MAX))
        };
        if self.copies.is_none() && self.actual_loss_rate.is_none() {
            self.actual_loss_rate = highest(false);
        }
        if let (None, Some(reverse)) = (self.control_copies, highest(true)) {
            let forward = self.actual_loss_rate.filter(|&rate| rate > 0.0).or(highest(false)).unwrap_or(reverse);
            let copies = control_copies_for(forward, reverse, self.target_loss_rate);
            self.control_copies = Some(copies.min(CONTROL_COPIES_MAX));
        }
        let goes_down = links.iter().any(|&link| scenario.goes_down(topology, link));
        self.tail_probes.get_or_insert(goes_down);
        self.fill_in(self.shape(around));
    }

    /// The properties of the protected link over the whole run; if a name matches several links, the worst of each.
    pub(super) fn shape(&self, around: Surroundings<'_>) -> LinkShape {
        let links = around.links(&self.link);
        let ranges = links.iter().map(|&link| one_link::range(link, around.topology));
        let range = ranges.reduce(LineRange::joined);
        let forward = links.iter().map(|&link| around.topology.line_range(link)).reduce(LineRange::joined);
        LinkShape {
            rate: range.map_or(RATE_UNKNOWN, |range| range.highest_rate),
            lowest_rate: range.map_or(RATE_UNKNOWN, |range| range.lowest_rate),
            lowest_forward_rate: forward.map_or(RATE_UNKNOWN, |range| range.lowest_rate),
            delay: range.map_or(Duration::ZERO, |range| range.longest_delay),
            frame_max: around.scenario.frame_max(),
            drain_rate: around.scenario.switch.recirculation_rate,
        }
    }

    pub(super) fn fill_in(&mut self, link: LinkShape) {
        let timeout = *self.ack_no_timeout.get_or_insert(link.acknowledgement_timeout(self.copy_count()));
        let in_ring = link.cost_of_recirculation(self.copy_count(), self.loss_rate_or_usual());
        // As in the paper: recirculation within a rack, if losses cost no more of the line than in figure 8.
        let suits_a_ring = link.is_in_a_rack() && in_ring <= LINE_COST_MAX && link.ring_sorts_itself();
        let place = if suits_a_ring { Buffering::Recirculation } else { Buffering::PausedQueue };
        let buffering = *self.buffering.get_or_insert(place);
        let (resume, pause) = link.thresholds();
        // Packets in a paused queue do not recirculate, so a single loss need not pause the sender. In runs from
        // 200 Gb/s up, each loss still costs 0.4 to 0.6 us of line time.
        let of_one_loss = if buffering == Buffering::PausedQueue { link.rate.bytes_in(timeout).0 } else { 0 };
        let must_be_emptied = buffering == Buffering::Recirculation && !link.ring_sorts_itself();
        self.resume_threshold.get_or_insert(if must_be_emptied { Bytes::ZERO } else { resume });
        // A configured buffer may be too small to absorb a loss without a pause.
        let coming = link.coming_until_pause();
        let fits = self.reordering_buffer.map_or(u64::MAX, |buffer| buffer.0.saturating_sub(coming.0));
        let pause = *self.pause_threshold.get_or_insert(Bytes((pause.0 + of_one_loss).min(fits).max(pause.0)));
        self.reordering_buffer.get_or_insert(buffer_for(link.reordering_bytes_max(pause)));
        self.sender_buffer.get_or_insert(buffer_for(link.unacknowledged_bytes_max(timeout)));
    }

    /// The loss rate of the link; by default the paper's.
    pub(super) fn loss_rate_or_usual(&self) -> f64 {
        const LOSS_RATE_OF_PAPER: f64 = 1e-3;
        self.actual_loss_rate.filter(|&rate| rate > 0.0).unwrap_or(LOSS_RATE_OF_PAPER)
    }

    /// Where packets wait.
    pub fn waiting_place(&self) -> Buffering {
        self.buffering.expect("a scenario that was checked says where packets wait")
    }

    /// The maximum wait of the receiver for a retransmission.
    pub fn timeout(&self) -> Duration {
        self.ack_no_timeout.expect("a scenario that was checked has all timeouts")
    }

    /// The thresholds at which the receiver resumes and pauses the sender.
    pub fn thresholds(&self) -> (Bytes, Bytes) {
        self.resume_threshold.zip(self.pause_threshold).expect("a scenario that was checked has all thresholds")
    }

    /// Sizes of the sender's buffer and of the receiver's.
    pub fn buffers(&self) -> (Bytes, Bytes) {
        self.sender_buffer.zip(self.reordering_buffer).expect("a scenario that was checked has all buffers")
    }

    /// Whether the scenario itself has protection switched on at `at`.
    pub fn is_active_at(&self, at: Time) -> bool {
        let before = self.activation.iter().rev().find(|change| change.at <= at);
        before.map_or(self.activation.is_empty(), |change| change.active)
    }

    /// The number of retransmitted copies of each lost packet; 1 if no loss is expected.
    pub fn copy_count(&self) -> u32 {
        let by_equation = |actual| copies_for(actual, self.target_loss_rate);
        let losses = self.actual_loss_rate.filter(|&actual| actual > 0.0);
        self.copies.or(losses.map(by_equation)).unwrap_or(1)
    }
}
