//! What an algorithm that sets the window by itself, or a pace, needs of the sender.

use super::TcpSender;
use crate::transport::Outgoing;
use crate::transport::tcp::congestion::{AckEvent, CongestionControl, ModelEvent};
use crate::transport::tcp::delivery::Delivery;
use crate::transport::tcp::pacing::quantum_segments;
use hitless_wire::{BitRate, CongestionNotice, Time, Transport};

/// What was so before an acknowledgement.
pub(super) struct Prior {
    /// First byte not acknowledged.
    pub acknowledged: u64,
    /// Bytes in the network.
    pub flight_bytes: u64,
    /// Bytes ever believed lost.
    pub losses_bytes: u64,
}

impl TcpSender {
    /// Whether the algorithm sets the window by itself, so that the sender's states never shrink it.
    #[inline]
    pub(super) fn algorithm_sets_window(&self) -> bool {
        self.algorithm.sets_the_window()
    }

    /// Segment `number` is sent.
    pub(super) fn note_sent(&mut self, number: u64, now: Time) {
        let idle = self.scoreboard.segments() == 0;
        if let Some(delivery_rate) = &mut self.delivery_rate {
            delivery_rate.sent(number, now, idle);
        }
    }

    /// Sends a new segment that an algorithm may want a sample of.
    pub(super) fn send_new_noted(&mut self, payload_bytes: u64, now: Time) -> Outgoing {
        self.note_sent(self.scoreboard.next_number(), now);
        self.send_new(payload_bytes, now)
    }

    /// The application is about to write: was it what limited the flight until now (section 3.4 of the draft on
    /// delivery rates)?
    pub(super) fn note_application_limit(&mut self) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let had_room = self.unsent_bytes < self.window.segment_bytes
            && flight_bytes < self.window.congestion_bytes
            && !self.scoreboard.has_unrepaired();
        if let Some(delivery_rate) = self.delivery_rate.as_mut().filter(|_| had_room) {
            delivery_rate.limit_by_application(flight_bytes);
        }
    }

    /// Lets the algorithm follow an acknowledgement, which an algorithm that sets the window by itself wants to.
    pub(super) fn follow(&mut self, event: &AckEvent, delivery: &Delivery, prior: &Prior, option: u8) {
        let flight_bytes = self.scoreboard.pipe_bytes();
        let (minimum_rtt, first) = (self.rtt.minimum(), self.scoreboard.first_number());
        let sample = self.delivery_rate.as_mut().and_then(|rate| rate.sample(delivery, minimum_rtt, first));
        let (hops, increases) = (self.hops(option), option);
        let event = ModelEvent {
            now: event.now,
            state: self.state,
            delivered_bytes: event.delivered_bytes,
            delivered_in_all_bytes: self.delivery_rate.as_ref().map_or(0, |rate| rate.delivered_bytes()),
            lost_bytes: self.scoreboard.losses_bytes() - prior.losses_bytes,
            prior_flight_bytes: prior.flight_bytes,
            flight_bytes,
            rtt: event.rtt,
            smoothed_rtt: self.rtt.smoothed(),
            sample,
            limited: prior.acknowledged < self.limited_until,
            hops,
            increases,
            acknowledged: event.acknowledged,
            next: event.next,
        };
        self.algorithm.follow(&mut self.window, &event);
        if let Some(delivery_rate) = self.delivery_rate.as_mut().filter(|_| self.algorithm.limits_like_an_application())
        {
            delivery_rate.limit_by_application(flight_bytes);
        }
        self.plain &= !self.is_paced();
    }

    /// Switches that the packet which the other end answers had passed; 0 when it does not say.
    fn hops(&self, option: u8) -> u8 {
        match option {
            0 => 0,
            arrived_with => self.time_to_live.saturating_sub(arrived_with),
        }
    }

    /// A switch tells of congestion. What it says of a packet that has been acknowledged since is out of date.
    #[cold]
    pub(super) fn heed(&mut self, now: Time, notice: &CongestionNotice) {
        self.statistics.congestion_echoes += 1;
        let Some(sent_at) = self.scoreboard.sent_at(notice.sequence) else { return };
        self.algorithm.notified(&mut self.window, now, notice, now.saturating_since(sent_at));
        self.plain &= !self.is_paced();
    }

    /// Whether packets are paced.
    pub(super) fn is_paced(&self) -> bool {
        self.config.pacing.is_some() || self.delivery_rate.is_some() || self.algorithm.packet_gap().is_some()
    }

    /// The rate at which payload leaves; `None` as fast as the window allows.
    pub fn pacing_rate(&self) -> Option<BitRate> {
        self.algorithm.pacing_rate().or_else(|| self.window_per_rtt())
    }

    /// What Linux paces a control at that knows a window only (tcp_update_pacing_rate).
    fn window_per_rtt(&self) -> Option<BitRate> {
        let (pacing, rtt) = (self.config.pacing?, self.rtt.smoothed()?);
        let starts = self.window.congestion_bytes < self.window.threshold_bytes / 2;
        let gain = if starts { pacing.slow_start_gain } else { pacing.avoidance_gain };
        let window_bytes = self.window.congestion_bytes.max(self.scoreboard.outstanding_bytes());
        BitRate::from_bps((gain * 8.0 * window_bytes as f64 / rtt.as_seconds()) as u64)
    }

    /// Segments that go out together, where segmentation offload is modelled.
    pub(super) fn segments_per_burst(&self) -> Option<u64> {
        let most = self.config.segments_per_burst?;
        let paced = self.is_paced().then(|| self.pacing_rate()).flatten();
        Some(paced.map_or(u64::from(most), |rate| quantum_segments(rate, self.window.segment_bytes, Some(most))))
    }

    /// A packet goes out.
    pub(super) fn charge_pacing(&mut self, now: Time, outgoing: &Outgoing) {
        if !self.is_paced() {
            return;
        }
        let (Transport::Tcp(header), Some(rate)) = (&outgoing.transport, self.pacing_rate()) else { return };
        let segment_bytes = self.window.segment_bytes;
        let quantum_bytes = segment_bytes * quantum_segments(rate, segment_bytes, self.config.segments_per_burst);
        let payload_bytes = u64::from(header.payload_bytes);
        self.pacer.sent(now, payload_bytes, rate, quantum_bytes, self.statistics.packets_sent);
    }
}
