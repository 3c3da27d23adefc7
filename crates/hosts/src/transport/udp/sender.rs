//! The sender: one datagram per interval while there is data.

use hitless_core::engine::{Stream, draws};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{BitRate, Duration, Ecn, Packet, Time, Transport, UdpHeader};

use super::config::UdpSettings;
use crate::transport::{Outgoing, Sender, SenderStatistics, TimeoutPurpose};

/// The sending end of a constant-rate flow.
///
/// It keeps its schedule: the n-th datagram after a pause is due when n frames have had time to pass at the flow's
/// rate, however late earlier ones were sent. So the average is exact at every rate.
///
/// Without jitter, two flows of a host keep their phases, and one loses more at a full port ("On Traffic
/// Phase Effects in Packet-Switched Gateways", Floyd and Jacobson 1992).
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct UdpSender {
    config: UdpSettings,
    written_bytes: u64,
    sent_bytes: u64,
    /// Start of the current train of datagrams.
    train_start: Time,
    /// Bytes on the wire since then.
    train_wire_bytes: u64,
    next_at: Time,
    datagrams_sent: u64,
    jitter: Option<Jitter>,
}

/// A delay of each datagram, uniform below a maximum. It does not change the schedule.
#[derive(Clone, Debug, hitless_core::state::Value)]
struct Jitter {
    stream: Stream,
    end: Duration,
}

impl Jitter {
    fn draw(&mut self) -> Duration {
        Duration(draws::below(&mut self.stream, self.end.0 as usize) as u64)
    }
}

impl UdpSender {
    pub fn new(config: UdpSettings) -> Self {
        Self {
            config,
            written_bytes: 0,
            sent_bytes: 0,
            train_start: Time::ZERO,
            train_wire_bytes: 0,
            next_at: Time::ZERO,
            datagrams_sent: 0,
            jitter: None,
        }
    }

    /// Delays each datagram by up to the time of a frame on the host's line, or of the interval if that is shorter.
    pub fn with_jitter(self, line_rate: BitRate, stream: Stream) -> Self {
        let wire_bytes = self.config.frame_bytes.0 + u64::from(self.config.wire_overhead_bytes);
        let end = line_rate.max(self.config.rate).time_for(wire_bytes);
        Self { jitter: Some(Jitter { stream, end }), ..self }
    }

    /// Returns the jitter of the next datagram.
    fn draw_jitter(&mut self) -> Duration {
        self.jitter.as_mut().map_or(Duration::ZERO, Jitter::draw)
    }

    pub fn withdraw_unsent(&mut self) -> u64 {
        assert!(self.sent_bytes <= self.written_bytes, "more sent than written");
        let unsent = self.written_bytes - self.sent_bytes;
        self.written_bytes = self.sent_bytes;
        unsent
    }

    fn has_data(&self) -> bool {
        self.sent_bytes < self.written_bytes
    }

    fn schedule_next(&mut self, frame_bytes: u32) {
        self.train_wire_bytes += u64::from(frame_bytes + self.config.wire_overhead_bytes);
        // Relative to the start of the train, not to the previous datagram, so that rounding errors do not add up.
        let scheduled_at = self.train_start + self.config.rate.time_for(self.train_wire_bytes);
        self.next_at = scheduled_at + self.draw_jitter();
    }
}

impl Sender for UdpSender {
    fn write(&mut self, now: Time, bytes: u64) {
        if !self.has_data() && self.next_at <= now {
            self.train_start = now;
            self.train_wire_bytes = 0;
            self.next_at = now + self.draw_jitter();
        }
        self.written_bytes += bytes;
    }

    fn receive(&mut self, _now: Time, _packet: &Packet) {}

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        if now < self.next_at || !self.has_data() {
            return None;
        }
        let unsent = self.written_bytes - self.sent_bytes;
        let payload_bytes = unsent.min(u64::from(self.config.payload_bytes())) as u32;
        let frame_bytes = (payload_bytes + self.config.header_bytes.0 as u32).max(MINIMUM_FRAME_BYTES);
        let header = UdpHeader { number: self.datagrams_sent, sent_at: now, payload_bytes };
        self.datagrams_sent += 1;
        self.sent_bytes += u64::from(payload_bytes);
        self.schedule_next(frame_bytes);
        Some(Outgoing { transport: Transport::Udp(header), frame_bytes, ecn: Ecn::NotCapable })
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        if self.has_data() { self.next_at } else { Time::NEVER }
    }

    fn timeout_purpose(&self) -> TimeoutPurpose {
        TimeoutPurpose::Pacing
    }

    /// Does nothing: the driver polls for the next datagram.
    fn handle_timeout(&mut self, _now: Time) {}

    /// Returns the bytes sent, because datagrams are not acknowledged.
    fn acknowledged_bytes(&self) -> u64 {
        self.sent_bytes
    }

    fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    fn congestion_window_bytes(&self) -> u64 {
        0
    }

    fn statistics(&self) -> SenderStatistics {
        SenderStatistics { packets_sent: self.datagrams_sent, ..SenderStatistics::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::BitRate;

    fn send_times(rate: BitRate, bytes: u64) -> Vec<(u64, u32)> {
        let mut sender = UdpSender::new(UdpSettings::at_rate(rate));
        sender.write(Time::ZERO, bytes);
        let mut sent = Vec::new();
        while sender.next_timeout() != Time::NEVER {
            let now = sender.next_timeout();
            let outgoing = sender.poll_transmit(now).unwrap();
            assert_eq!(sender.poll_transmit(now), None);
            sent.push((now.as_ps(), outgoing.frame_bytes));
        }
        sent
    }

    #[test]
    fn full_frames_at_line_rate_are_a_frame_time_apart() {
        let sent = send_times(BitRate::from_gbps(100), 3 * 1_472);
        assert_eq!(sent, [(0, 1_518), (123_040, 1_518), (246_080, 1_518)]);
    }

    #[test]
    fn the_last_frame_is_as_short_as_ethernet_allows() {
        assert_eq!(send_times(BitRate::from_gbps(100), 1_473), [(0, 1_518), (123_040, 64)]);
    }

    #[test]
    fn an_uneven_rate_does_not_drift() {
        let rate = BitRate::from_bps(3_000_000_000_007).unwrap();
        let sent = send_times(rate, 1_000 * 1_472);
        assert_eq!(sent[999].0, rate.time_for(999 * 1_538).as_ps());
    }

    #[test]
    fn jitter_stays_below_a_frame_time_of_the_line_and_does_not_change_the_schedule() {
        let interval = BitRate::from_gbps(10).time_for(1_538);
        for (line_gbps, frame_ps) in [(100, 123_040), (10, 1_230_400), (1, 1_230_400)] {
            let settings = UdpSettings::at_rate(BitRate::from_gbps(10));
            let stream = hitless_core::engine::RandomStreams::new(1).stream("pacing");
            let mut sender = UdpSender::new(settings).with_jitter(BitRate::from_gbps(line_gbps), stream);
            sender.write(Time::ZERO, 10_000 * 1_472);
            let mut delays = Vec::new();
            for number in 0..10_000 {
                let now = sender.next_timeout();
                assert!(now == Time::ZERO || sender.poll_transmit(Time(now.0 - 1)).is_none());
                sender.poll_transmit(now).unwrap();
                delays.push(now.0 - number * interval.0);
            }
            let (mean, max) = (delays.iter().sum::<u64>() / 10_000, delays.iter().max().copied().unwrap());
            assert!(max < frame_ps && mean.abs_diff(frame_ps / 2) < frame_ps / 50, "{line_gbps}: {mean}, {max}");
        }
    }

    #[test]
    fn a_late_sender_catches_up_and_an_idle_one_does_not() {
        let mut sender = UdpSender::new(UdpSettings::at_rate(BitRate::from_gbps(100)));
        sender.write(Time::ZERO, 3 * 1_472);
        let late = Time(1_000_000);
        assert_eq!(std::iter::from_fn(|| sender.poll_transmit(late)).count(), 3);
        let later = Time(9_000_000);
        sender.write(later, 10 * 1_472);
        assert_eq!(std::iter::from_fn(|| sender.poll_transmit(later)).count(), 1);
        assert_eq!(sender.next_timeout(), Time(9_123_040));
    }

    #[test]
    fn what_is_withdrawn_is_not_sent() {
        let mut sender = UdpSender::new(UdpSettings::at_rate(BitRate::from_gbps(100)));
        sender.write(Time::ZERO, 2_000);
        sender.poll_transmit(Time::ZERO).unwrap();
        assert_eq!(sender.withdraw_unsent(), 528);
        assert_eq!((sender.next_timeout(), sender.acknowledged_bytes()), (Time::NEVER, 1_472));
    }
}
