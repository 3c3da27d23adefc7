//! Dispatch over the algorithms by an enum, so that the compiler can inline them.

use super::api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};
use super::bbr::{Bbr, PathModel};
use super::bolt::Bolt;
use super::cubic::Cubic;
use super::dctcp::Dctcp;
use super::fractional::FractionalWindow;
use super::newreno::NewReno;
use super::own::OwnAlgorithm;
use super::settings::Congestion;
use super::swift::Swift;
use crate::transport::tcp::settings::TcpSettings;
use hitless_core::engine::Stream;
use hitless_core::wire::{BitRate, CongestionNotice, Duration, Time};

#[derive(Clone, Debug, hitless_core::state::Value)]
pub(in crate::transport::tcp) enum Algorithm {
    NewReno(NewReno),
    Cubic(Cubic),
    Dctcp(Dctcp),
    /// Boxed, because it is much larger than the others.
    Bbr(Box<Bbr>),
    Swift(Box<Swift>),
    Bolt(Box<Bolt>),
    /// From outside this crate.
    Own(Box<OwnAlgorithm>),
}

macro_rules! dispatch {
    ($self:expr, $algorithm:ident => $call:expr) => {
        match $self {
            Algorithm::NewReno($algorithm) => $call,
            Algorithm::Cubic($algorithm) => $call,
            Algorithm::Dctcp($algorithm) => $call,
            Algorithm::Bbr($algorithm) => $call,
            Algorithm::Swift($algorithm) => $call,
            Algorithm::Bolt($algorithm) => $call,
            Algorithm::Own($algorithm) => $call,
        }
    };
}

impl Algorithm {
    pub fn new(config: &TcpSettings, window: &Window) -> Self {
        match config.congestion {
            Congestion::Newreno(_) => Self::NewReno(NewReno::default()),
            Congestion::Cubic(cubic) => Self::Cubic(Cubic::new(cubic.time)),
            Congestion::Dctcp(dctcp) => Self::Dctcp(Dctcp::new(dctcp)),
            Congestion::Bbr(bbr) => Self::Bbr(Box::new(Bbr::new(bbr, config.burst_segments, window))),
            Congestion::Swift(swift) => Self::Swift(Box::new(Swift::new(swift, window))),
            Congestion::Bolt(bolt) => Self::Bolt(Box::new(Bolt::new(bolt, window))),
            Congestion::Own(own) => Self::Own(Box::new(OwnAlgorithm::new(own, window))),
        }
    }

    /// Returns whether it models the path; then it needs samples of the delivery rate, and paces.
    pub fn models_the_path(&self) -> bool {
        match self {
            Self::Bbr(_) => true,
            Self::Own(own) => own.behaviour().samples_delivery_rate,
            _ => false,
        }
    }

    /// Returns whether it sets the window; then the sender's states never shrink it.
    #[inline]
    pub fn sets_cwnd(&self) -> bool {
        match self {
            Self::NewReno(_) | Self::Cubic(_) | Self::Dctcp(_) => false,
            Self::Bbr(_) | Self::Swift(_) | Self::Bolt(_) => true,
            Self::Own(own) => own.behaviour().sets_cwnd,
        }
    }

    /// Returns its model of the path, if it has one.
    pub fn path_model(&self) -> Option<PathModel> {
        match self {
            Self::Bbr(bbr) => Some(bbr.path_model()),
            _ => None,
        }
    }

    pub fn draw_from(&mut self, stream: Stream) {
        match self {
            Self::Bbr(bbr) => bbr.draw_from(stream),
            Self::Own(own) => own.draw_from(stream),
            _ => {}
        }
    }

    /// Returns DCTCP's estimate of the fraction of marked bytes.
    pub fn dctcp_alpha(&self) -> Option<f64> {
        match self {
            Self::Dctcp(dctcp) => Some(dctcp.alpha),
            _ => None,
        }
    }

    /// Makes DCTCP start with alpha 0 instead of RFC 8257's 1.
    pub fn assume_no_marks(&mut self) {
        if let Self::Dctcp(dctcp) = self {
            dctcp.alpha = 0.0;
        }
    }

    /// Returns a data packet's option for switches. `remaining_bytes` is set for new data: the unsent bytes including
    /// this packet.
    #[inline]
    pub fn data_option(&self, window: &Window, remaining_bytes: Option<u64>) -> u8 {
        match self {
            Self::Bolt(bolt) => bolt.data_option(window, remaining_bytes),
            _ => 0,
        }
    }

    /// Returns the window of an algorithm that supports windows below a segment.
    fn fractional_window(&self) -> Option<&FractionalWindow> {
        match self {
            Self::Swift(swift) => Some(&swift.window),
            Self::Bolt(bolt) => Some(&bolt.window),
            Self::NewReno(_) | Self::Cubic(_) | Self::Dctcp(_) | Self::Bbr(_) | Self::Own(_) => None,
        }
    }

    /// Returns the minimum time between packets, for a window below a segment.
    pub fn packet_gap(&self) -> Option<Duration> {
        self.fractional_window()?.packet_gap()
    }

    /// Returns the congestion window; it can be less than the segment that [`Window`] has room for.
    pub fn cwnd_bytes(&self, window: &Window) -> u64 {
        self.fractional_window().map_or(window.cwnd_bytes, |fractional| fractional.bytes(window))
    }

    /// Handles a congestion notification from a switch; its packet was sent `ago`.
    pub fn on_congestion_notice(&mut self, window: &mut Window, now: Time, notice: &CongestionNotice, ago: Duration) {
        if let Self::Bolt(bolt) = self {
            bolt.on_congestion_notice(window, now, notice, ago);
        }
    }
}

// Inlined down to the window: calls would write the event to memory, for two instructions a transmission of workload A.
impl CongestionControl for Algorithm {
    #[inline(always)]
    fn on_ack(&mut self, event: &AckEvent) {
        match self {
            Self::NewReno(new_reno) => new_reno.on_ack(event),
            Self::Cubic(cubic) => cubic.on_ack(event),
            Self::Dctcp(dctcp) => dctcp.on_ack(event),
            Self::Bbr(bbr) => bbr.on_ack(event),
            Self::Swift(swift) => swift.on_ack(event),
            Self::Bolt(bolt) => bolt.on_ack(event),
            // Not inlined: a copy keeps the event in registers for the other algorithms.
            Self::Own(own) => own.on_ack(&AckEvent { ..*event }),
        }
    }

    #[inline(always)]
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        match self {
            Self::NewReno(new_reno) => new_reno.increase(window, event),
            // Not inlined either.
            Self::Cubic(cubic) => cubic.increase(window, &AckEvent { ..*event }),
            Self::Dctcp(dctcp) => dctcp.increase(window, event),
            Self::Bbr(bbr) => bbr.increase(window, event),
            Self::Swift(swift) => swift.increase(window, event),
            Self::Bolt(bolt) => bolt.increase(window, event),
            Self::Own(own) => own.increase(window, event),
        }
    }

    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64 {
        dispatch!(self, algorithm => algorithm.ssthresh(window, sign))
    }

    fn loss_reduces_after_ece(&self) -> bool {
        dispatch!(self, algorithm => algorithm.loss_reduces_after_ece())
    }

    fn on_recovery(&mut self, window: &mut Window, sign: CongestionSign, now: Time) {
        dispatch!(self, algorithm => algorithm.on_recovery(window, sign, now));
    }

    fn on_established(&mut self, window: &Window, rtt: Duration) {
        dispatch!(self, algorithm => algorithm.on_established(window, rtt));
    }

    #[inline]
    fn on_limited(&mut self, now: Time) {
        match self {
            Self::Cubic(cubic) => cubic.on_limited(now),
            Self::Own(own) => own.on_limited(now),
            _ => {}
        }
    }

    fn on_restart(&mut self, window: &mut Window, now: Time, idle: Duration) {
        dispatch!(self, algorithm => algorithm.on_restart(window, now, idle));
    }

    fn on_undo(&mut self, window: &mut Window) {
        dispatch!(self, algorithm => algorithm.on_undo(window));
    }

    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        dispatch!(self, algorithm => algorithm.on_ack_sample(window, event));
    }

    fn is_app_limited(&self) -> bool {
        dispatch!(self, algorithm => algorithm.is_app_limited())
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        dispatch!(self, algorithm => algorithm.pacing_rate())
    }
}
