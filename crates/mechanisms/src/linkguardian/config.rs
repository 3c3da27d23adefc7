//! What the two ends of a protected link are told.

use hitless_core::wire::{Bytes, Duration, PortId};

use super::settings::{Buffering, FallbackSettings, LinkGuardianSettings, Mode};

/// What the sending end of a protected link is told.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// The port of the protected link.
    pub port: PortId,
    /// The recirculation port that buffers copies.
    pub recirculation_port: PortId,
    /// In-order delivery or not.
    pub mode: Mode,
    /// Copies retransmitted per lost packet; see [`copies_for`](super::parameters::copies_for).
    pub copies: u32,
    /// What a retransmission takes to its queue beside a pass of the pipeline.
    pub repair_latency: Duration,
    /// Dummies sent per gap in the traffic; 0 turns the detection of tail losses off.
    pub dummies: u8,
    /// Losses in a row that can be requested again: 1-bit register arrays at the sender (paper, section 3.5: 5).
    pub request_registers: usize,
    /// How copies wait for their acknowledgement.
    pub buffering: Buffering,
    /// How much the queue of waiting copies may hold (paused-queue buffering; a recirculation port has its own limit).
    pub buffer: Bytes,
    /// From the start; else when it is commanded.
    pub is_on_at_start: bool,
    /// Which of the link's sequence spaces this is: 0, or 1 where two classes of traffic are protected apart.
    pub channel: u8,
    /// The traffic classes whose packets are numbered here, one bit each.
    pub classes: u8,
    /// The number of the first packet. A sender that is started anew takes another than its predecessor.
    pub first_number: u16,
    /// Whether the receiver is told where numbers begin, and must have confirmed it, before the first packet is
    /// numbered.
    pub handshake: bool,
    /// Whether the receiver may ask for less protection than is commanded, and have it back.
    pub follows_requests: bool,
    /// Asks the receiver what it has seen when nothing new is acknowledged for [`Self::probe_period`].
    pub tail_probes: bool,
    /// How often a message that wants an answer is repeated.
    pub probe_period: Duration,
    /// Bytes of header on each packet beside the paper's three.
    pub header_bytes_more: u32,
}

hitless_core::state!(SenderConfig {
    values: copies;
    configured: port, recirculation_port, mode, repair_latency, dummies, request_registers, buffering, buffer,
        is_on_at_start, channel, classes, first_number, handshake, follows_requests, tail_probes, probe_period,
        header_bytes_more
});

/// What the receiving end of a protected link is told.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The port of the protected link.
    pub port: PortId,
    /// The recirculation port that reorders.
    pub recirculation_port: PortId,
    /// Explicit acknowledgements sent per gap in the reverse traffic.
    pub acknowledgements: u8,
    /// How long to wait for a retransmission before going on without it.
    pub acknowledgement_timeout: Duration,
    /// Period of the timer packets.
    pub timer_period: Duration,
    /// Stop pausing the sender when the reordering buffer has sunk to this.
    pub resume_threshold: Bytes,
    /// Pause the sender when the reordering buffer has grown to this.
    pub pause_threshold: Bytes,
    /// Whether the sender is paused at all.
    pub backpressure: bool,
    /// How packets wait for a retransmission.
    pub buffering: Buffering,
    /// How much the queue of waiting packets may hold (paused-queue buffering).
    pub buffer: Bytes,
    /// From the start; else when it is commanded.
    pub is_on_at_start: bool,
    /// Which of the link's sequence spaces this is: 0, or 1 where two classes of traffic are protected apart.
    pub channel: u8,
    /// The traffic classes that backpressure pauses, one bit each.
    pub paused_classes: u8,
    /// How often loss notifications, pause frames and messages are sent, for a reverse direction that loses them
    /// (paper, section 5).
    pub control_copies: u32,
    /// After which time a loss notification that nothing has answered is sent again; `None`: never, as in the paper.
    pub notification_period: Option<Duration>,
    /// Whether a second copy of a packet is dropped in non-blocking mode too.
    pub deduplicates: bool,
    /// Whether numbers mean nothing until the sender has said where they begin.
    pub handshake: bool,
    /// Changes the protection by what is lost.
    pub fallback: Option<FallbackSettings>,
    /// Bytes of header on each packet beside the paper's three.
    pub header_bytes_more: u32,
}

impl SenderConfig {
    /// As the settings of its link say, for all classes.
    pub fn new(settings: &LinkGuardianSettings, port: PortId, recirculation_port: PortId) -> Self {
        Self {
            port,
            recirculation_port,
            mode: settings.mode,
            copies: settings.copy_count(),
            repair_latency: settings.repair_latency,
            dummies: if settings.tail_detection { settings.dummy_count as u8 } else { 0 },
            request_registers: settings.consecutive_losses_max as usize,
            buffering: settings.waiting_place(),
            buffer: settings.buffers().0,
            is_on_at_start: settings.activation.is_empty(),
            channel: 0,
            classes: u8::MAX,
            first_number: settings.first_number as u16,
            handshake: settings.handshake,
            follows_requests: settings.fallback.is_some(),
            tail_probes: settings.tail_probes,
            probe_period: settings.timeout(),
            header_bytes_more: header_bytes_more(settings),
        }
    }
}

impl ReceiverConfig {
    /// As the settings of its link say, for all classes; what it pauses is the first.
    pub fn new(settings: &LinkGuardianSettings, port: PortId, recirculation_port: PortId) -> Self {
        let (resume_threshold, pause_threshold) = settings.thresholds();
        Self {
            port,
            recirculation_port,
            acknowledgements: settings.ack_count as u8,
            acknowledgement_timeout: settings.timeout(),
            timer_period: settings.timer_period,
            resume_threshold,
            pause_threshold,
            backpressure: settings.backpressure,
            buffering: settings.waiting_place(),
            buffer: settings.buffers().1,
            is_on_at_start: settings.activation.is_empty(),
            channel: 0,
            paused_classes: 1,
            control_copies: settings.control_copies.unwrap_or(1),
            notification_period: settings.notification_period,
            deduplicates: settings.deduplicate,
            handshake: settings.handshake,
            fallback: settings.fallback,
            header_bytes_more: header_bytes_more(settings),
        }
    }
}

/// Bytes of header on each packet beside the paper's three.
fn header_bytes_more(settings: &LinkGuardianSettings) -> u32 {
    const ETHER_TYPE_BYTES: u32 = 2;
    if settings.original_ether_type { ETHER_TYPE_BYTES } else { 0 }
}
