//! Cards with a queue shorter than their backlog limit.

use super::*;
use crate::host::card_timing::CardClock;

fn short_card(count: u32) -> NetworkCardConfig {
    NetworkCardConfig { capacity: QueueCapacity::Packets(count), ..NetworkCardConfig::at_rate(RATE) }
}

#[test]
fn a_card_that_is_too_small_drops_and_the_flow_recovers() {
    let config = HostConfig { tcp_small_queues: false, ..HostConfig::with_network_card(short_card(4)) };
    let bench = Bench::with_flow(&config, rpcs::tcp(false), Application::one_way(50 * 1_460)).run();
    assert!(bench.hosts.totals().dropped_by_network_card > 0);
    assert!(bench.world.drops.iter().all(|&reason| reason == HostDrop::NetworkCardFull));
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Completed);
}

#[test]
fn senders_wait_for_a_queue_in_bytes_whatever_the_length_of_their_frames() {
    for clock in [None, Some(CardClock { offset_ppb: 0, seed: 1 })] {
        for (queue_bytes, frame_bytes) in [(1_600, 1_518), (5_000, 1_518), (8_000, 4_178), (10_000, 9_000)] {
            let capacity = QueueCapacity::Bytes(Bytes(queue_bytes));
            let network_card = NetworkCardConfig { capacity, clock, ..NetworkCardConfig::at_rate(RATE) };
            let settings = UdpSettings { frame_bytes: Bytes(frame_bytes), ..UdpSettings::at_rate(RATE) };
            let application = Application::one_way(300 * (frame_bytes - 46));
            let config = HostConfig::with_network_card(network_card);
            let mut bench = Bench::with_flow(&config, TransportConfig::Udp(settings), application);
            bench.add(0, 1, application);
            let bench = bench.run();
            assert_eq!(bench.world.drops, [], "{queue_bytes} B, {frame_bytes} B, {clock:?}");
        }
    }
}

#[test]
fn senders_wait_for_a_short_queue_instead_of_overflowing_it_and_the_line_stays_busy() {
    for (count, frame_bytes) in [(1, 1_518), (2, 1_518), (4, 1_518), (4, 64), (9, 9_000)] {
        let settings = UdpSettings { frame_bytes: Bytes(frame_bytes), ..UdpSettings::at_rate(RATE) };
        let payload_bytes = frame_bytes - 46;
        let application = Application::one_way(300 * payload_bytes);
        let config = HostConfig::with_network_card(short_card(count));
        let mut bench = Bench::with_flow(&config, TransportConfig::Udp(settings), application);
        bench.add(0, 1, application);
        let bench = bench.run();
        assert_eq!(bench.world.drops, [], "{count} packets of {frame_bytes} bytes");
        let last = bench.world.departures.last().map(|departure| departure.2);
        let of_frame = RATE.time_for(frame_bytes + 20);
        assert_eq!(last, Some(Time(600 * of_frame.0)), "{count} packets of {frame_bytes} bytes");
    }
}
