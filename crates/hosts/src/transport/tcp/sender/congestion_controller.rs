//! The congestion window, the algorithm that changes it, and the data for the algorithm.

use crate::transport::tcp::congestion::{AckEvent, Algorithm, CongestionControl, CongestionSign, Window, WindowGrowth};
use crate::transport::tcp::delivery_rate::DeliveryRate;
use crate::transport::tcp::settings::TcpSettings;
use hitless_core::wire::{BitRate, Duration, Packet, Time};

/// Pacing gain of window-based controls over the window per smoothed round-trip time, so that the window remains the
/// limit: the first while the window is below half of the slow start threshold (Linux, tcp_pacing_ss_ratio), the second
/// otherwise (tcp_pacing_ca_ratio).
const SLOW_START_GAIN: f64 = 2.0;
const AVOIDANCE_GAIN: f64 = 1.2;

#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C)]
pub(super) struct CongestionController {
    pub window: Window,
    /// Data up to here was sent while the window held back more. Only its acknowledgement grows the window (RFC 9438,
    /// section 5.8; RFC 7661).
    pub cwnd_limited_until: u64,
    window_validation: bool,
    /// Initial TTL of this end's packets.
    pub time_to_live: u8,
    pacing: bool,
    pub algorithm: Algorithm,
    /// Samples of the delivery rate, for an algorithm with a model of the path.
    pub delivery_rate: Option<Box<DeliveryRate>>,
}

impl CongestionController {
    pub fn new(config: &TcpSettings) -> Self {
        let window = config.window();
        let algorithm = Algorithm::new(config, &window);
        Self {
            window,
            cwnd_limited_until: 0,
            window_validation: config.congestion.window_rules().1,
            time_to_live: Packet::INITIAL_TTL,
            pacing: config.pacing,
            delivery_rate: algorithm.models_the_path().then(Box::default),
            algorithm,
        }
    }

    #[inline]
    pub fn sets_cwnd(&self) -> bool {
        self.algorithm.sets_cwnd()
    }

    /// Returns the number of switches that the acknowledged packet passed; 0 if unknown.
    pub fn hops(&self, option: u8) -> u8 {
        match option {
            0 => 0,
            arrived_with => self.time_to_live.saturating_sub(arrived_with),
        }
    }

    /// Grows the window if the acknowledged data had filled it, or unconditionally without validation.
    ///
    /// In slow start half a window is enough, as in Linux: the flight doubles with the window.
    #[inline(always)]
    pub fn grow(&mut self, event: &AckEvent, previous: u64, flight_bytes: u64) {
        // RFC 5681, section 3.1: only an acknowledgement of new data grows the window.
        if self.window.growth == WindowGrowth::PerAck && event.snd_una == previous {
            return;
        }
        let limited = previous < self.cwnd_limited_until || !self.window_validation;
        if limited || (self.window.in_slow_start() && 2 * flight_bytes > self.window.cwnd_bytes) {
            self.algorithm.increase(&mut self.window, event);
        } else {
            self.algorithm.on_limited(event.now);
        }
        debug_assert!(self.window.cwnd_bytes >= self.window.mss_bytes, "a window of less than a segment");
    }

    /// Sets ssthresh for a sign of congestion, in a window like `at`.
    pub fn reduce(&mut self, at: &Window, sign: CongestionSign) {
        self.window.ssthresh_bytes = self.algorithm.ssthresh(at, sign);
    }

    /// Does the same during a reduction started by an echo, if the algorithm then requires more.
    pub fn reduce_after_ece(&mut self, sign: CongestionSign) {
        if self.algorithm.loss_reduces_after_ece() {
            let ssthresh_bytes = self.algorithm.ssthresh(&self.window, sign);
            self.window.ssthresh_bytes = self.window.ssthresh_bytes.min(ssthresh_bytes);
        }
    }

    /// Lowers the window to ssthresh without a recovery, for a loss that was repaired before it was known.
    pub fn reduce_at_once(&mut self, now: Time) {
        self.window.ssthresh_bytes = self.algorithm.ssthresh(&self.window, CongestionSign::Loss);
        self.window.cwnd_bytes = self.window.cwnd_bytes.min(self.window.ssthresh_bytes);
        self.on_recovery(CongestionSign::Loss, now);
    }

    pub fn on_recovery(&mut self, sign: CongestionSign, now: Time) {
        self.algorithm.on_recovery(&mut self.window, sign, now);
    }

    /// Undoes a spurious reduction: the window is at least as large as before.
    pub fn restore(&mut self, cwnd_bytes: u64, ssthresh_bytes: u64) {
        self.window.cwnd_bytes = self.window.cwnd_bytes.max(cwnd_bytes);
        self.window.ssthresh_bytes = self.window.ssthresh_bytes.max(ssthresh_bytes);
        self.algorithm.on_undo(&mut self.window);
    }

    /// Returns whether the window may lack room for the first retransmission. PRR and BBR make room for it.
    pub fn leaves_no_room_for_losses(&self) -> bool {
        self.sets_cwnd() && self.delivery_rate.is_none()
    }

    /// Handles a write by the application while `flight_bytes` are in flight: if more could have been sent, the
    /// application has limited the flight until now (section 3.4 of the draft on delivery rates).
    pub fn note_application_limit(&mut self, flight_bytes: u64, has_segment_to_send: bool) {
        let had_room = !has_segment_to_send && flight_bytes < self.window.cwnd_bytes;
        if let Some(delivery_rate) = self.delivery_rate.as_mut().filter(|_| had_room) {
            delivery_rate.limit_by_application(flight_bytes);
        }
    }

    pub fn is_paced(&self) -> bool {
        self.pacing || self.delivery_rate.is_some() || self.algorithm.packet_gap().is_some()
    }

    /// Returns the pacing rate of payload; `None` means as fast as the window allows.
    pub fn pacing_rate(&self, smoothed_rtt: Option<Duration>, outstanding_bytes: u64) -> Option<BitRate> {
        self.algorithm.pacing_rate().or_else(|| self.window_per_rtt(smoothed_rtt, outstanding_bytes))
    }

    /// Returns Linux's pacing rate of a window-based control (tcp_update_pacing_rate).
    fn window_per_rtt(&self, smoothed_rtt: Option<Duration>, outstanding_bytes: u64) -> Option<BitRate> {
        let rtt = smoothed_rtt.filter(|_| self.pacing)?;
        let starts = self.window.cwnd_bytes < self.window.ssthresh_bytes / 2;
        let gain = if starts { SLOW_START_GAIN } else { AVOIDANCE_GAIN };
        let window_bytes = self.window.cwnd_bytes.max(outstanding_bytes);
        BitRate::from_bps((gain * 8.0 * window_bytes as f64 / rtt.as_seconds()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::Congestion;

    fn controller(congestion: Congestion, cwnd_bytes: u64, ssthresh_bytes: u64) -> CongestionController {
        let mut controller = CongestionController::new(&TcpSettings { congestion, ..TcpSettings::default() });
        (controller.window.cwnd_bytes, controller.window.ssthresh_bytes) = (cwnd_bytes, ssthresh_bytes);
        controller
    }

    #[test]
    fn a_loss_after_an_echo_lowers_the_threshold_only_of_dctcp_and_never_raises_it() {
        // Half of the window is 500,000 bytes.
        for (congestion, ssthresh_bytes, expected) in [
            (Congestion::Dctcp(Default::default()), 900_000, 500_000),
            (Congestion::Dctcp(Default::default()), 400_000, 400_000),
            (Congestion::Newreno(Default::default()), 900_000, 900_000),
            (Congestion::Newreno(Default::default()), 400_000, 400_000),
        ] {
            let mut controller = controller(congestion, 1_000_000, ssthresh_bytes);
            controller.reduce_after_ece(CongestionSign::Loss);
            assert_eq!(controller.window.ssthresh_bytes, expected, "{congestion:?} from {ssthresh_bytes}");
        }
    }

    #[test]
    fn a_spurious_reduction_is_undone_to_the_larger_of_both_windows() {
        for (now, before, expected) in [
            ((20_000, 10_000), (80_000, 60_000), (80_000, 60_000)),
            ((90_000, 10_000), (80_000, 60_000), (90_000, 60_000)),
            ((20_000, 70_000), (80_000, 60_000), (80_000, 70_000)),
        ] {
            let mut controller = controller(Congestion::Newreno(Default::default()), now.0, now.1);
            controller.restore(before.0, before.1);
            let Window { cwnd_bytes, ssthresh_bytes, .. } = controller.window;
            assert_eq!((cwnd_bytes, ssthresh_bytes), expected, "{now:?}, and {before:?} before");
        }
    }
}
