//! Configuration of the two ends of a protected link.

use hitless_core::wire::{Bytes, Duration, PortId};

use super::settings::{Buffering, FallbackSettings, LinkGuardianSettings, Mode};

#[derive(Clone, Debug, PartialEq, hitless_core::state::State)]
pub struct SenderConfig {
    #[configured]
    pub port: PortId,
    #[configured]
    pub recirculation_port: PortId,
    #[configured]
    pub mode: Mode,
    /// Retransmitted copies per lost packet; see [`copies_for`](super::parameters::copies_for).
    pub copies: u32,
    /// Time from a retransmission to its queue, without the pass of the pipeline.
    #[configured]
    pub repair_latency: Duration,
    /// Dummies per gap in the traffic; 0 turns the detection of tail losses off.
    #[configured]
    pub dummies: u8,
    /// Maximum number of consecutive losses that can be requested: 1-bit register arrays at the sender (section 3.5:
    /// 5).
    #[configured]
    pub request_registers: usize,
    #[configured]
    pub buffering: Buffering,
    /// Maximum size of the queue of waiting copies (paused-queue buffering; a recirculation port has a separate limit).
    #[configured]
    pub buffer: Bytes,
    /// Whether protection is on at the start; otherwise a command switches it on.
    #[configured]
    pub is_on_at_start: bool,
    /// Sequence space of the link: 0, or 1 if two groups of classes are protected separately.
    #[configured]
    pub channel: u8,
    #[configured]
    pub classes: u8,
    /// Number of the first packet. A restarted sender takes another one than its predecessor.
    #[configured]
    pub first_number: u16,
    /// Whether the receiver must confirm the first number before packets are numbered.
    #[configured]
    pub handshake: bool,
    /// Whether the receiver may ask for less protection than commanded, and take that back.
    #[configured]
    pub follows_requests: bool,
    /// Whether the sender probes the receiver if nothing new is acknowledged for [`Self::probe_period`].
    #[configured]
    pub tail_probes: bool,
    #[configured]
    pub probe_period: Duration,
    /// Extra bytes of header on each packet, on top of the paper's three.
    #[configured]
    pub header_bytes_more: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    pub port: PortId,
    pub recirculation_port: PortId,
    /// Explicit acknowledgements per gap in the reverse traffic.
    pub acknowledgements: u8,
    /// Maximum wait for a retransmission (ackNoTimeout).
    pub acknowledgement_timeout: Duration,
    pub timer_period: Duration,
    /// Fill of the reordering buffer at which the sender is resumed.
    pub resume_threshold: Bytes,
    /// Fill of the reordering buffer at which the sender is paused.
    pub pause_threshold: Bytes,
    /// Whether backpressure is used at all.
    pub backpressure: bool,
    pub buffering: Buffering,
    /// Maximum size of the queue of waiting packets (paused-queue buffering).
    pub buffer: Bytes,
    /// Whether protection is on at the start; otherwise a command switches it on.
    pub is_on_at_start: bool,
    /// Sequence space of the link: 0, or 1 if two groups of classes are protected separately.
    pub channel: u8,
    /// Traffic classes that backpressure pauses, one bit each.
    pub paused_classes: u8,
    /// Copies of each loss notification, pause frame and message, for a reverse direction that loses them (section 5).
    pub control_copies: u32,
    /// Period at which an unanswered loss notification is repeated; `None` never repeats it, as in the paper.
    pub notification_period: Option<Duration>,
    /// Whether a second copy of a packet is dropped in non-blocking mode too.
    pub deduplicates: bool,
    /// Whether numbers are only valid once the sender has announced the first one.
    pub handshake: bool,
    pub fallback: Option<FallbackSettings>,
    /// Extra bytes of header on each packet, on top of the paper's three.
    pub header_bytes_more: u32,
}

impl SenderConfig {
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
            tail_probes: settings.tail_probes.unwrap_or(false),
            probe_period: settings.timeout(),
            header_bytes_more: header_bytes_more(settings),
        }
    }
}

impl ReceiverConfig {
    /// The configuration that follows from the link's settings, for all classes; it pauses the first class.
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

/// Extra bytes of header on each packet, on top of the paper's three.
fn header_bytes_more(settings: &LinkGuardianSettings) -> u32 {
    const ETHER_TYPE_BYTES: u32 = 2;
    if settings.original_ether_type { ETHER_TYPE_BYTES } else { 0 }
}
