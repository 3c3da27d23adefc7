//! In any network every byte arrives once and in order, pairs keep their distance, and no pair starts above the window.

use super::script::{First, MSS};
use crate::faults::{Faults, assert_repeats, faults, run};
use hitless_core::wire::{Bytes, Duration, Packet, PacketPairHeader, Time, Transport};
use hitless_hosts::transport::packet_pair::{PacketPairReceiver, PacketPairSender, PacketPairSettings};
use hitless_hosts::transport::tcp::RtoFormula;
use hitless_hosts::transport::{Outgoing, Receiver, Sender, SenderStatistics};
use proptest::prelude::*;

/// A sender with a check of every packet.
struct Judged {
    sender: PacketPairSender,
    /// Start of the last pair, and the duration of a pair at the rate of that time.
    last: Option<(Time, Duration)>,
    pair: u32,
    pairs: u64,
}

impl Judged {
    fn new(config: &PacketPairSettings) -> Self {
        Self { sender: PacketPairSender::new(config, Duration::ZERO), last: None, pair: 0, pairs: 0 }
    }

    /// Returns 2 * MSS / (linkRate * (1 - alpha / 2)), in whole nanoseconds; a tenth of linkRate can be injected.
    fn interval(&self) -> Option<Duration> {
        let rate = self.sender.link_rate_bytes_per_second()? * (1.1 - self.sender.alpha() / 2.0);
        Some(Duration::from_ns((2.0 * MSS as f64 / rate * 1e9) as u64))
    }

    /// Checks a pair that started at `now`, with this much in flight before it.
    fn judge(&mut self, now: Time, in_flight_bytes: u64) {
        if let Some(bytes) = self.sender.pair_window_bytes() {
            assert!(
                in_flight_bytes <= bytes,
                "a pair began with {in_flight_bytes} B in flight, the window is {bytes} B"
            );
            assert!(self.sender.in_flight_bytes() <= self.sender.congestion_window_bytes());
        }
        if let Some((began, interval)) = self.last {
            let span = now.saturating_since(began);
            assert!(span >= interval, "a pair began {span} after the last, which takes {interval}");
        }
        self.last = self.interval().map(|interval| (now, interval));
        self.pairs += 1;
    }

    /// Without an estimate, or with the first one, a pair can start at any time.
    fn note_restart(&mut self, was_known: bool) {
        if !was_known || self.sender.link_rate_bytes_per_second().is_none() {
            self.last = None;
        }
    }
}

impl Sender for Judged {
    fn write(&mut self, now: Time, bytes: u64) {
        self.sender.write(now, bytes);
    }

    fn receive(&mut self, now: Time, packet: &Packet) {
        let was_known = self.sender.link_rate_bytes_per_second().is_some();
        self.sender.receive(now, packet);
        self.note_restart(was_known);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let in_flight_bytes = self.sender.in_flight_bytes();
        let outgoing = self.sender.poll_transmit(now)?;
        let Transport::PacketPair(PacketPairHeader::Data(data)) = outgoing.transport else { panic!("not data") };
        if data.pair != self.pair {
            self.pair = data.pair;
            self.judge(now, in_flight_bytes);
        } else {
            assert_ne!(data.position, First);
        }
        Some(outgoing)
    }

    fn next_timeout(&self) -> Time {
        self.sender.next_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now);
        self.note_restart(true);
    }

    fn acknowledged_bytes(&self) -> u64 {
        self.sender.acknowledged_bytes()
    }

    fn sent_bytes(&self) -> u64 {
        self.sender.sent_bytes()
    }

    fn congestion_window_bytes(&self) -> u64 {
        self.sender.congestion_window_bytes()
    }

    fn statistics(&self) -> SenderStatistics {
        self.sender.statistics()
    }
}

fn configs() -> impl Strategy<Value = PacketPairSettings> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let shares = (0.05..=1.0f64, 0.5..3.0f64, prop_oneof![Just(0), 0..10_000u64], 1u32..10);
    let tick = prop_oneof![Just(0u64), Just(100), Just(1_000)];
    (switches, shares, tick).prop_map(|((ecn, sack, rack_tlp, restart_after_idle, linux), shares, tick)| {
        PacketPairSettings {
            mss: Bytes(MSS),
            ecn,
            sack,
            rack_tlp,
            timer_tick: Duration::from_us(tick),
            rto_formula: if linux { RtoFormula::Linux } else { RtoFormula::Rfc6298 },
            rto_min: Duration::from_us(200),
            rto_initial: Duration::from_ms(2),
            rto_max: Duration::from_ms(20),
            gap_gain: shares.0,
            longest_pair: shares.3,
            window_factor: shares.1,
            bytes_per_round: Bytes(shares.2),
            restart_after_idle,
            ..PacketPairSettings::default()
        }
    })
}

fn ends(config: &PacketPairSettings) -> (Judged, PacketPairReceiver) {
    (Judged::new(config), PacketPairReceiver::new(config, Duration::ZERO))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_and_nothing_stays_in_flight(
        config in configs(),
        faults in faults(),
        writes in prop::collection::vec(1..200_000u64, 1..4),
        seed in any::<u64>(),
    ) {
        let pipe = run(ends(&config), faults, &writes, seed);
        prop_assert_eq!(pipe.sender.acknowledged_bytes(), writes.iter().sum::<u64>());
        prop_assert_eq!(pipe.sender.sender.in_flight_bytes(), 0);
        prop_assert_eq!(pipe.sender.sender.unsent_bytes(), 0);
        prop_assert_eq!(pipe.receiver.out_of_order_bytes(), 0);
        let longest = u64::from(config.longest_pair).max(config.bytes_per_round.0.div_ceil(MSS)) + 1;
        prop_assert!(pipe.sender.pairs * longest + pipe.sender.statistics().tail_loss_probes
            >= pipe.sender.statistics().packets_sent);
    }

    #[test]
    fn a_run_repeats_exactly(config in configs(), faults in faults(), bytes in 1..300_000u64, seed in any::<u64>()) {
        assert_repeats(|| ends(&config), faults, bytes, seed);
    }

    #[test]
    fn a_clean_pipe_needs_no_retransmission(config in configs(), bytes in 1..500_000u64) {
        let pipe = run(ends(&PacketPairSettings { rto_min: Duration::from_ms(2), ..config }), Faults::default(), &[bytes], 1);
        let statistics = pipe.sender.statistics();
        prop_assert_eq!((statistics.timeouts, statistics.packets_retransmitted), (0, 0));
        prop_assert_eq!(pipe.receiver.statistics().reordered_packets, 0);
    }
}
