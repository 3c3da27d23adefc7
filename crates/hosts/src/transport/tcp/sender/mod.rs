//! The end of a connection that has data.
//!
//! [`TcpSender`] holds the state; its work lies in the submodules: `transmit` (what to send), `acknowledge` (what an
//! acknowledgement says), `recovery` (the congestion states), `reno` (those without RFC 6582), `model` (delivery rates
//! and pacing) and `timers`.

mod acknowledge;
mod model;
mod recovery;
mod reno;
mod timers;
mod transmit;
mod trimmed;

use super::config::TcpConfig;
use super::congestion::{Algorithm, CongestionControl, PathModel, Window};
use super::delivery::Timestamp;
use super::delivery_rate::DeliveryRate;
use super::pacing::Pacer;
use super::prr::ProportionalRateReduction;
use super::rack::Rack;
use super::rto::RttEstimator;
use super::scoreboard::Scoreboard;
use super::ticks::TickClock;
use crate::transport::{Outgoing, Sender, SenderStatistics};
use hitless_engine::Stream;
use hitless_wire::{Duration, Packet, Time, Transport};
use timers::TimerKind;

/// Whether data may flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
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

/// What the sender does about congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// Nothing: the window grows.
    Open,
    /// Congestion was echoed: the window shrinks to the threshold (CWR).
    Reduction,
    /// A loss was found: lost segments are sent again while the window shrinks.
    Recovery,
    /// The retransmission timer ran out: slow start over what was lost.
    Loss,
}

/// A tail loss probe in flight (RFC 8985, section 7).
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Next sequence to send when the probe was sent (TLP.end_seq).
    end: u64,
    /// It repeated the last segment instead of sending new data (TLP.is_retrans).
    retransmission: bool,
}

/// What to restore when a reduction turns out spurious (RFC 4015).
#[derive(Clone, Copy, Debug)]
struct Undo {
    window_bytes: u64,
    threshold_bytes: u64,
    /// When the first retransmission was sent, and the end of its segment.
    retransmission: Option<(Timestamp, u64)>,
    /// Bytes sent again that no DSACK has reported yet.
    unreported_bytes: u64,
    /// The reduction is over; once more than this is acknowledged no report is to be expected any more.
    until: Option<u64>,
}

/// The sending end of a TCP connection.
///
/// Call order as for every [`Sender`]: `write`, `receive` or `handle_timeout`; `poll_transmit` until `None`;
/// `next_timeout`. The timer is set when `poll_transmit` answers `None`, not before.
#[derive(Clone, Debug)]
pub struct TcpSender {
    scoreboard: Scoreboard,
    window: Window,
    algorithm: Algorithm,
    rtt: RttEstimator,
    rack: Rack,
    /// Bytes written and never sent.
    unsent_bytes: u64,
    /// Data up to here was sent while the window held back more: only its acknowledgement grows the window
    /// (RFC 9438, section 5.8; RFC 7661).
    limited_until: u64,
    /// When [`Sender::handle_timeout`] has something to do.
    deadline: Time,
    /// The retransmission timer counts from here (RFC 6298, section 5).
    timeout_base: Time,
    peer_window_bytes: u32,
    connection: Connection,
    state: CongestionState,
    timer: TimerKind,
    /// Losses are found by RACK, which needs SACK (RFC 8985, section 4).
    uses_rack: bool,
    /// Nothing is lost, sacked, sent twice or otherwise wrong: an acknowledgement in order asks for growth only.
    calm: bool,
    /// The same, but that an echo of congestion may shrink the window, and that RACK finds the losses.
    orderly: bool,
    /// Data may flow, nothing is to be sent before new data, which is neither kept together in bursts nor paced: it
    /// only asks for room in the windows.
    plain: bool,
    /// The timer must be set anew before waiting.
    timer_stale: bool,
    /// A tail loss probe waits to be sent.
    probe_due: bool,
    /// The next new data segment carries CWR (RFC 3168, section 6.1.2).
    reduction_to_report: bool,
    statistics: SenderStatistics,
    /// The state ends when everything below this is acknowledged (RecoveryPoint of RFC 6675).
    recover: u64,
    prr: ProportionalRateReduction,
    /// When RACK's reordering window ends; [`Time::NEVER`] if nothing waits for it.
    reordering_ends_at: Time,
    probe: Option<Probe>,
    undo: Option<Undo>,
    /// The first segment found lost goes whatever the window is.
    repair_at_once: bool,
    /// Duplicate acknowledgements in a row, without SACK.
    duplicate_acks: u32,
    dupack_threshold: u32,
    /// Segments below this many bytes wait for the acknowledgement of all before (RFC 896); 0: none waits.
    nagle_bytes: u64,
    /// What is left of the burst under way.
    burst_bytes: u64,
    last_sent_at: Time,
    /// Data packets tell switches something.
    tells_switches: bool,
    /// What packets of this end set out with.
    time_to_live: u8,
    pacer: Pacer,
    /// Samples of the delivery rate, for an algorithm that models the path.
    delivery_rate: Option<Box<DeliveryRate>>,
    clock: TickClock,
    /// When data could flow; [`Time::NEVER`]: not yet.
    opened_at: Time,
    config: TcpConfig,
}

impl TcpSender {
    /// A connection that has sent nothing; the host's timer ticks at `timer_phase` modulo the tick of `config`.
    ///
    /// # Panics
    /// When `config` cannot work (a segment of no bytes, a timeout of zero, ...).
    pub fn new(config: &TcpConfig, timer_phase: Duration) -> Self {
        config.check();
        let mut algorithm = Algorithm::new(config);
        let (window, mut rtt) = (Window::new(config), RttEstimator::new(config));
        if let (false, Some(known_rtt)) = (config.handshake, config.known_rtt) {
            rtt.sample(known_rtt);
            algorithm.opened(&window, known_rtt);
        }
        // The short ways neither take samples nor let an algorithm follow.
        let takes_short_ways = !config.handshake && !algorithm.sets_the_window();
        let delivery_rate = algorithm.models_the_path().then(Box::default);
        let uses_rack = config.rack_tlp && config.sack && config.fast_retransmit;
        Self {
            scoreboard: Scoreboard::default(),
            window,
            algorithm,
            rtt,
            rack: Rack::new(),
            unsent_bytes: 0,
            limited_until: 0,
            deadline: Time::NEVER,
            timeout_base: Time::ZERO,
            peer_window_bytes: config.receive_window_bytes.unwrap_or(u32::MAX),
            connection: if config.handshake { Connection::Closed } else { Connection::Established },
            state: CongestionState::Open,
            timer: TimerKind::None,
            uses_rack,
            calm: takes_short_ways,
            orderly: takes_short_ways && uses_rack,
            // Found out when the first packet is asked for.
            plain: false,
            timer_stale: false,
            probe_due: false,
            reduction_to_report: false,
            statistics: SenderStatistics::default(),
            recover: 0,
            prr: ProportionalRateReduction::default(),
            reordering_ends_at: Time::NEVER,
            probe: None,
            undo: None,
            repair_at_once: false,
            duplicate_acks: 0,
            dupack_threshold: config.dupack_threshold,
            nagle_bytes: if config.nagle { config.mss_bytes.into() } else { 0 },
            burst_bytes: 0,
            last_sent_at: Time::ZERO,
            tells_switches: config.congestion_control.tells_switches(),
            time_to_live: Packet::INITIAL_TTL,
            pacer: Pacer::default(),
            delivery_rate,
            clock: TickClock::new(config.timer_tick, timer_phase),
            opened_at: if config.handshake { Time::NEVER } else { Time::ZERO },
            config: *config,
        }
    }

    /// The same connection with what its congestion control draws from `stream`.
    pub fn with_stream(mut self, stream: Stream) -> Self {
        self.algorithm.draw_from(stream);
        self
    }

    /// The same connection whose packets set out with this time to live, so that hops can be counted.
    pub fn with_time_to_live(mut self, time_to_live: u8) -> Self {
        self.time_to_live = time_to_live;
        self
    }

    /// Congestion window, in bytes; with Swift it may hold less than a segment.
    pub fn window_bytes(&self) -> u64 {
        self.algorithm.window_bytes(&self.window)
    }

    /// Slow start threshold, in bytes; `u64::MAX` before the first reduction.
    pub fn threshold_bytes(&self) -> u64 {
        self.window.threshold_bytes
    }

    /// Bytes believed to be in the network (pipe of RFC 6675).
    pub fn in_flight_bytes(&self) -> u64 {
        self.scoreboard.pipe_bytes()
    }

    /// Bytes written and not sent yet.
    pub fn unsent_bytes(&self) -> u64 {
        self.unsent_bytes
    }

    /// Smoothed round-trip time, once there was a sample.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// When data could flow: from the beginning of time without a handshake; `None`: not yet.
    pub fn opened_at(&self) -> Option<Time> {
        (self.opened_at != Time::NEVER).then_some(self.opened_at)
    }

    /// Retransmission timeout, with backoff.
    pub fn retransmission_timeout(&self) -> Duration {
        self.rtt.timeout()
    }

    /// What the sender does about congestion.
    pub fn congestion_state(&self) -> CongestionState {
        self.state
    }

    /// DCTCP's estimate of the fraction of marked bytes; `None` with another algorithm.
    pub fn dctcp_alpha(&self) -> Option<f64> {
        self.algorithm.dctcp_alpha()
    }

    /// What BBR believes of the path; `None` with another algorithm.
    pub fn path_model(&self) -> Option<PathModel> {
        self.algorithm.path_model()
    }

    /// Smallest round-trip time so far; [`Duration::MAX`] before the first sample.
    pub fn minimum_rtt(&self) -> Duration {
        self.rtt.minimum()
    }

    /// Data follows after a time without any in flight.
    fn resume(&mut self, now: Time) {
        let idle = now.saturating_since(self.last_sent_at);
        self.algorithm.resumed(&mut self.window, now, idle);
        if self.config.slow_start_after_idle && !self.algorithm_sets_window() {
            self.window.restart(idle, self.rtt.timeout(), u64::from(self.config.initial_window_segments));
        }
    }
}

/// For a flow control of another kind that uses this one's loss recovery and decides by itself when a packet may go.
impl TcpSender {
    /// Whether [`Sender::poll_transmit`] would have a packet if the window had room: new data or lost.
    #[inline]
    pub(in crate::transport) fn has_more_to_send(&self) -> bool {
        self.unsent_bytes > 0 || self.scoreboard.has_unrepaired()
    }

    /// Whether a tail loss probe waits to be sent, which no window holds back.
    #[inline]
    pub(in crate::transport) fn probe_is_due(&self) -> bool {
        self.probe_due
    }

    /// The next packet, whatever the congestion window is.
    #[inline]
    pub(in crate::transport) fn transmit_regardless(&mut self, now: Time) -> Option<Outgoing> {
        self.window.congestion_bytes = self.scoreboard.pipe_bytes() + self.window.segment_bytes;
        self.poll_transmit(now)
    }

    /// Nothing is sent for now: sets the timer, as [`Sender::poll_transmit`] does when it answers `None`.
    #[inline]
    pub(in crate::transport) fn wait(&mut self, now: Time) {
        if self.timer_stale {
            self.set_timer(now);
        }
    }
}

impl Sender for TcpSender {
    fn write(&mut self, now: Time, bytes: u64) {
        if self.connection == Connection::Closed {
            self.connection = Connection::SynSent { retries: 0, sent_at: now, due: true };
        }
        self.note_application_limit();
        let idle = self.scoreboard.segments() == 0 && self.unsent_bytes == 0;
        if idle && self.scoreboard.next() > 0 {
            self.resume(now);
        }
        self.unsent_bytes += bytes;
    }

    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        match &packet.transport {
            Transport::Tcp(header) => self.process(now, header),
            Transport::CongestionNotice(notice) => self.heed(now, notice),
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
        self.deadline
    }

    #[inline]
    fn handle_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.expire(now);
        }
    }

    #[inline]
    fn acknowledged_bytes(&self) -> u64 {
        self.scoreboard.acknowledged()
    }

    fn sent_bytes(&self) -> u64 {
        self.scoreboard.next()
    }

    fn congestion_window_bytes(&self) -> u64 {
        self.window_bytes()
    }

    fn statistics(&self) -> SenderStatistics {
        self.statistics
    }
}
