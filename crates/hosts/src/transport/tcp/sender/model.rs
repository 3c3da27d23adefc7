//! The sender's interface to algorithms that set the window or a pacing rate.

use super::TcpSender;
use crate::transport::Outgoing;
use crate::transport::tcp::congestion::{AckEvent, AckSample, CongestionControl};
use crate::transport::tcp::delivery::Delivery;
use crate::transport::tcp::pacing::quantum_segments;
use hitless_core::wire::{CongestionNotice, Time, Transport};

/// The state before an acknowledgement.
pub(super) struct Prior {
    /// First unacknowledged byte.
    pub acknowledged: u64,
    /// Bytes in the network.
    pub flight_bytes: u64,
    /// Total bytes ever assumed lost.
    pub losses_bytes: u64,
}

impl TcpSender {
    pub(super) fn note_sent(&mut self, number: u64, now: Time) {
        let idle = self.scoreboard.segments() == 0;
        if let Some(delivery_rate) = &mut self.congestion.delivery_rate {
            delivery_rate.sent(number, now, idle);
        }
    }

    /// Sends a new segment, recorded for delivery rate samples.
    pub(super) fn send_new_noted(&mut self, payload_bytes: u64, now: Time) -> Outgoing {
        self.note_sent(self.scoreboard.next_number(), now);
        self.send_new(payload_bytes, now)
    }

    /// Passes an acknowledgement to an algorithm that sets the window.
    pub(super) fn sample_ack(&mut self, event: &AckEvent, delivery: &Delivery, prior: &Prior, option: u8) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let (minimum_rtt, first) = (self.rtt.min_rtt(), self.scoreboard.first_number());
        let sample = self.congestion.delivery_rate.as_mut().and_then(|rate| rate.sample(delivery, minimum_rtt, first));
        let (hops, increases) = (self.congestion.hops(option), option);
        let event = AckSample {
            now: event.now,
            state: self.reduction.state,
            delivered_bytes: event.delivered_bytes,
            total_delivered_bytes: self.congestion.delivery_rate.as_ref().map_or(0, |rate| rate.delivered_bytes()),
            lost_bytes: self.scoreboard.losses_bytes() - prior.losses_bytes,
            prior_flight_bytes: prior.flight_bytes,
            flight_bytes,
            rtt: event.rtt,
            smoothed_rtt: self.rtt.srtt(),
            sample,
            cwnd_limited: prior.acknowledged < self.congestion.cwnd_limited_until,
            hops,
            increases,
            snd_una: event.snd_una,
            snd_nxt: event.snd_nxt,
        };
        self.congestion.algorithm.on_ack_sample(&mut self.congestion.window, &event);
        if let Some(delivery_rate) =
            self.congestion.delivery_rate.as_mut().filter(|_| self.congestion.algorithm.is_app_limited())
        {
            delivery_rate.limit_by_application(flight_bytes);
        }
        self.fast_path.new_data &= !self.congestion.is_paced();
    }

    /// Handles a congestion notification from a switch. It is outdated if its packet has been acknowledged.
    #[cold]
    pub(super) fn on_congestion_notice(&mut self, now: Time, notice: &CongestionNotice) {
        self.statistics.congestion_echoes += 1;
        let Some(sent_at) = self.scoreboard.sent_at(notice.sequence) else { return };
        self.congestion.algorithm.on_congestion_notice(
            &mut self.congestion.window,
            now,
            notice,
            now.saturating_since(sent_at),
        );
        self.fast_path.new_data &= !self.congestion.is_paced();
    }

    /// Returns the segments per burst, if segmentation offload is modelled.
    pub(super) fn segments_per_burst(&self) -> Option<u64> {
        let most = self.config.burst_segments?;
        let paced = self.congestion.is_paced().then(|| self.pacing_rate()).flatten();
        Some(paced.map_or(u64::from(most), |rate| quantum_segments(rate, self.congestion.window.mss_bytes, Some(most))))
    }

    pub(super) fn charge_pacing(&mut self, now: Time, outgoing: &Outgoing) {
        if !self.congestion.is_paced() {
            return;
        }
        let (Transport::Tcp(header), Some(rate)) = (&outgoing.transport, self.pacing_rate()) else { return };
        let mss_bytes = self.congestion.window.mss_bytes;
        let quantum_bytes = mss_bytes * quantum_segments(rate, mss_bytes, self.config.burst_segments);
        let payload_bytes = u64::from(header.payload_bytes);
        self.pacer.sent(now, payload_bytes, rate, quantum_bytes, self.statistics.packets_sent);
    }
}
