//! The sending end of a connection.
//!
//! [`TcpSender`] combines its parts: `handshake`, `send_buffer` (unsent data), the scoreboard (segments in flight),
//! `congestion_controller` (the window), `loss_detection`, `reduction` (the response to congestion), `timer` and
//! [`FastPath`]. Code that concerns several parts is in `transmit` (the next packet), `acknowledge` (acknowledgements),
//! `recovery` (congestion states), `reno` (the same without RFC 6582), `model` (delivery rates and pacing)
//! and `timers`.

mod acknowledge;
mod congestion_controller;
mod handshake;
mod loss_detection;
mod model;
mod recovery;
mod reduction;
mod reno;
mod send_buffer;
mod timer;
mod timers;
mod transmit;

use super::congestion::{CongestionControl, CongestionState, PathModel};
use super::pacing::Pacer;
use super::rto::RttEstimator;
use super::scoreboard::Scoreboard;
use super::settings::TcpSettings;
use crate::transport::{Outgoing, Sender, SenderStatistics, SenderWait, TimeoutPurpose};
use congestion_controller::CongestionController;
use handshake::Handshake;
use hitless_core::engine::Stream;
use hitless_core::wire::{BitRate, Duration, Packet, Time, Transport};
use loss_detection::LossDetection;
use reduction::Reduction;
use send_buffer::SendBuffer;
use timer::SenderTimer;

/// The sending end of a TCP connection.
///
/// Call order as for every [`Sender`]: `write`, `receive` or `handle_timeout`; `poll_transmit` until `None`;
/// `next_timeout`. The timer is set only when `poll_transmit` returns `None`.
///
/// Data in order needs two groups of adjacent fields, in eight cache lines: the end of `loss` and the start of
/// `scoreboard`; the end of `reduction` and everything up to the start of `statistics`.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C, align(64))]
pub struct TcpSender {
    handshake: Handshake,
    loss: LossDetection,
    scoreboard: Scoreboard,
    config: TcpSettings,
    pacer: Pacer,
    reduction: Reduction,
    rtt: RttEstimator,
    fast_path: FastPath,
    /// A copy of the setting.
    ecn: bool,
    send_buffer: SendBuffer,
    timer: SenderTimer,
    congestion: CongestionController,
    statistics: SenderStatistics,
}

impl TcpSender {
    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        let of_first = self.scoreboard.snd_una() ^ u64::from(self.loss.uses_rack);
        let of_second = self.rtt.rto().as_ps() ^ self.unsent_bytes() ^ self.statistics.packets_sent;
        of_first ^ of_second ^ self.cwnd_bytes() ^ self.timer.deadline().as_ps()
    }

    /// Creates an unused connection; the host's timer ticks at `timer_phase` modulo the tick of `config`.
    pub fn new(config: &TcpSettings, timer_phase: Duration) -> Self {
        config.check();
        let (mut congestion, mut rtt) = (CongestionController::new(config), RttEstimator::new(config));
        if let (false, Some(known_rtt)) = (config.handshake, config.known_rtt) {
            rtt.sample(known_rtt);
            congestion.algorithm.on_established(&congestion.window, known_rtt);
        }
        let (loss, handshake) = (LossDetection::new(config), Handshake::new(config));
        Self {
            fast_path: FastPath::new(handshake.is_established(), congestion.sets_cwnd(), loss.uses_rack),
            scoreboard: Scoreboard::default(),
            send_buffer: SendBuffer::new(config),
            congestion,
            rtt,
            loss,
            reduction: Reduction::new(config),
            timer: SenderTimer::new(config, timer_phase),
            statistics: SenderStatistics::default(),
            pacer: Pacer::default(),
            handshake,
            ecn: config.ecn,
            config: *config,
        }
    }

    pub fn with_stream(mut self, stream: Stream) -> Self {
        self.congestion.algorithm.draw_from(stream);
        self
    }

    /// Sets the initial TTL of packets, to count hops.
    pub fn with_time_to_live(mut self, time_to_live: u8) -> Self {
        self.congestion.time_to_live = time_to_live;
        self
    }

    /// Returns the congestion window in bytes; with Swift it can be less than a segment.
    pub fn cwnd_bytes(&self) -> u64 {
        self.congestion.algorithm.cwnd_bytes(&self.congestion.window)
    }

    /// Returns the slow start threshold in bytes; `u64::MAX` before the first reduction.
    pub fn ssthresh_bytes(&self) -> u64 {
        self.congestion.window.ssthresh_bytes
    }

    /// Returns the bytes estimated to be in the network (pipe of RFC 6675).
    pub fn in_flight_bytes(&self) -> u64 {
        self.scoreboard.pipe_bytes()
    }

    pub fn unsent_bytes(&self) -> u64 {
        self.send_buffer.unsent_bytes()
    }

    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// Returns when data could flow: time zero without a handshake, `None` before that.
    pub fn opened_at(&self) -> Option<Time> {
        self.handshake.established_at()
    }

    pub fn explain_wait(&self) -> SenderWait {
        let (syn_at, syns) = self.handshake.syn_in_flight().unwrap_or((Time::ZERO, 0));
        SenderWait {
            quiet_since: self.send_buffer.last_sent_at.max(self.timer.rto_base).max(syn_at),
            timeouts_in_row: self.rtt.doublings().max(syns),
            lacks_credit: false,
        }
    }

    pub fn retransmission_timeout(&self) -> Duration {
        self.rtt.rto()
    }

    pub fn congestion_state(&self) -> CongestionState {
        self.reduction.state
    }

    /// Returns DCTCP's estimate of the fraction of marked bytes; `None` with another algorithm.
    pub fn dctcp_alpha(&self) -> Option<f64> {
        self.congestion.algorithm.dctcp_alpha()
    }

    /// Returns BBR's model of the path; `None` with another algorithm.
    pub fn path_model(&self) -> Option<PathModel> {
        self.congestion.algorithm.path_model()
    }

    /// Returns the minimum round-trip time so far; [`Duration::MAX`] before the first sample.
    pub fn minimum_rtt(&self) -> Duration {
        self.rtt.min_rtt()
    }

    /// Returns the pacing rate of payload; `None` means as fast as the window allows.
    pub fn pacing_rate(&self) -> Option<BitRate> {
        self.congestion.pacing_rate(self.rtt.srtt(), self.scoreboard.outstanding_bytes())
    }

    /// Handles new data after a time with nothing in flight.
    fn resume(&mut self, now: Time) {
        let idle = now.saturating_since(self.send_buffer.last_sent_at);
        self.congestion.algorithm.on_restart(&mut self.congestion.window, now, idle);
        // The path may have changed while nothing was sent (RFC 5681, section 4.1).
        if self.config.slow_start_after_idle && !self.congestion.sets_cwnd() {
            self.congestion.window.restart(idle, self.rtt.rto(), u64::from(self.config.initial_window));
        }
    }
}

/// For another flow control that reuses this loss recovery but decides when packets are sent.
impl TcpSender {
    /// Makes the estimate of the fraction of marked bytes start at zero.
    pub(in crate::transport) fn assuming_no_marks(mut self) -> Self {
        self.congestion.algorithm.assume_no_marks();
        self
    }

    /// Returns whether [`Sender::poll_transmit`] would have a packet, new or lost, if the window had room.
    #[inline]
    pub(in crate::transport) fn has_more_to_send(&self) -> bool {
        !self.send_buffer.is_empty() || self.scoreboard.has_pending_retransmissions()
    }

    /// Returns whether a tail loss probe is due; windows do not hold it back.
    #[inline]
    pub(in crate::transport) fn probe_is_due(&self) -> bool {
        self.loss.probe_due
    }

    /// Returns the next packet, ignoring the congestion window.
    #[inline]
    pub(in crate::transport) fn transmit_regardless(&mut self, now: Time) -> Option<Outgoing> {
        // Room for exactly one segment; the caller's window decides.
        self.congestion.window.cwnd_bytes = self.scoreboard.pipe_bytes() + self.congestion.window.mss_bytes;
        self.poll_transmit(now)
    }

    /// Sets the timer without sending, as [`Sender::poll_transmit`] does when it returns `None`.
    #[inline]
    pub(in crate::transport) fn wait(&mut self, now: Time) {
        if self.timer.is_stale {
            self.set_timer(now);
        }
    }
}

impl Sender for TcpSender {
    fn write(&mut self, now: Time, bytes: u64) {
        self.handshake.open(now);
        // Checked before this write counts: if nothing was left to send, the application was the limit.
        let has_segment_to_send = self.send_buffer.unsent_bytes() >= self.congestion.window.mss_bytes
            || self.scoreboard.has_pending_retransmissions();
        self.congestion.note_application_limit(self.scoreboard.pipe_bytes(), has_segment_to_send);
        let idle = self.scoreboard.segments() == 0 && self.send_buffer.is_empty();
        if idle && self.scoreboard.snd_nxt() > 0 {
            self.resume(now);
        }
        self.send_buffer.write(bytes);
    }

    // The loop exists twice, with an autopsy and without; a call from both would cost 3 instructions a transmission.
    #[inline(always)]
    fn receive(&mut self, now: Time, packet: &Packet) {
        match &packet.transport {
            Transport::Tcp(header) => self.process(now, header),
            Transport::CongestionNotice(notice) => self.on_congestion_notice(now, notice),
            _ => {}
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        self.transmit(now, |outgoing| *outgoing)
    }

    #[inline(always)]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        self.transmit(now, put)
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        self.timer.deadline()
    }

    fn timeout_purpose(&self) -> TimeoutPurpose {
        self.timer.purpose()
    }

    /// Keeps retransmission, probe and reordering timers; pacing is checked when the card has room.
    #[inline]
    fn timeout_when_held_back(&mut self, now: Time) -> Time {
        self.hold_back(now);
        self.timer.deadline()
    }

    #[inline]
    fn handle_timeout(&mut self, now: Time) {
        // The deadline may have moved since the timer was set.
        if self.timer.is_stale {
            self.set_timer_without_pacing(now);
        }
        if now >= self.timer.deadline() {
            self.expire(now);
        }
    }

    #[inline]
    fn acknowledged_bytes(&self) -> u64 {
        self.scoreboard.snd_una()
    }

    fn sent_bytes(&self) -> u64 {
        self.scoreboard.snd_nxt()
    }

    fn congestion_window_bytes(&self) -> u64 {
        self.cwnd_bytes()
    }

    fn statistics(&self) -> SenderStatistics {
        self.statistics
    }
}

/// The available fast paths. Code that invalidates one of them must close it.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct FastPath {
    /// Nothing is lost, SACKed, sent twice or otherwise unusual: an acknowledgement in order only grows the window.
    pub acks: bool,
    /// The same, except that ECE can shrink the window and that RACK detects losses.
    pub ece_acks: bool,
    /// Data may flow, new data is next, and neither bursts nor pacing apply: only the windows limit it.
    pub new_data: bool,
}

impl FastPath {
    /// Creates the state for a connection that is established or not. The fast path for new data is determined at the
    /// first request for a packet. An algorithm that sets the window must see every acknowledgement.
    pub fn new(is_established: bool, sets_cwnd: bool, uses_rack: bool) -> Self {
        let acks = is_established && !sets_cwnd;
        Self { acks, ece_acks: acks && uses_rack, new_data: false }
    }

    pub fn close(&mut self) {
        *self = Self { acks: false, ece_acks: false, new_data: false };
    }
}
