//! Receive offload between hosts: its savings, and its invariants.

use super::*;
use crate::application::Request;
use crate::stack::StackConfig;

const RECEIVE: Duration = Duration::from_us(5);

fn offloading(stack: StackConfig, interrupt_delay: Duration) -> HostConfig {
    let gro = Some(GroConfig { interrupt_delay, interrupt_packets: Some(32) });
    HostConfig { kernel_stack: stack, gro, ..ethernet() }
}

fn fixed_stack() -> StackConfig {
    StackConfig { send: DelayConfig::NONE, receive: DelayConfig::fixed(RECEIVE) }
}

fn dctcp() -> TransportConfig {
    TransportConfig::Tcp(TcpSettings {
        rto_min: Duration::from_ms(1),
        ..TcpSettings::with(Congestion::Dctcp(Default::default()))
    })
}

/// The initial window of ten segments arrives within the stack's delay of 5 us, so TCP sees a single segment.
#[test]
fn a_window_that_comes_at_once_has_one_acknowledgement() {
    let config = offloading(fixed_stack(), Duration::ZERO);
    let mut bench = Bench::new(&config, 2, dctcp());
    bench.add(0, 1, Application::one_way(10 * 1_448));
    let bench = bench.run();
    let record = bench.world.flows[0];
    assert_eq!(bench.hosts.totals().packets, crate::PacketCounts { injected: 11, delivered: 11, dropped: 0 });
    assert_eq!(record.receiver.packets_received, 10);
    // Delay of the first frame, delay of the stack, and the same for the acknowledgement.
    let delivered = (1_518 + 20) * 80 + PIPE_DELAY.as_ps() + RECEIVE.as_ps();
    assert_eq!(bench.world.messages[0].delivered, Time(delivered));
    let acknowledged = delivered + (70 + 20) * 80 + PIPE_DELAY.as_ps() + RECEIVE.as_ps();
    assert_eq!(bench.world.messages[0].acknowledged, Time(acknowledged));
}

#[test]
fn the_interrupt_delay_is_waited_once_a_poll() {
    let delay = Duration::from_us(8);
    let mut bench = Bench::new(&offloading(StackConfig::NONE, delay), 2, dctcp());
    bench.add(0, 1, Application::one_way(5 * 1_448));
    let bench = bench.run();
    let delivered = (1_518 + 20) * 80 + PIPE_DELAY.as_ps() + delay.as_ps();
    assert_eq!(bench.world.messages[0].delivered, Time(delivered));
    assert_eq!(bench.world.departures_of(HostId(1)).len(), 1);
}

#[test]
fn what_is_no_tcp_is_polled_and_not_merged() {
    for transport in [udp(RATE), packet_pair()] {
        let mut bench = Bench::new(&offloading(fixed_stack(), Duration::ZERO), 2, transport);
        bench.add(0, 1, Application::one_way(20_000));
        let record = bench.run().world.flows[0];
        assert_eq!(record.bytes_delivered, 20_000);
        assert_eq!(record.receiver.packets_received, record.sender.packets_sent);
    }
}

#[test]
fn a_transport_in_the_card_does_not_wait_for_the_kernel() {
    let run = |config: &HostConfig| {
        let mut bench = Bench::new(config, 2, roce());
        bench.add(0, 1, Application::one_way(20_000));
        bench.run().world.messages
    };
    assert_eq!(run(&offloading(fixed_stack(), Duration::from_us(8))), run(&ethernet()));
}

/// The sender times out before the interrupt at the other end and retransmits. Packets still in the ring at the end of
/// the flow are dropped, like later arrivals.
#[test]
fn a_ring_is_emptied_when_its_flow_ends() {
    let timeout = Duration::from_us(40);
    let tcp = TcpSettings { rto_min: timeout, rto_initial: timeout, rack_tlp: false, ..TcpSettings::default() };
    let config = offloading(fixed_stack(), Duration::from_us(20));
    let mut bench = Bench::new(&config, 2, TransportConfig::Tcp(tcp));
    bench.add(0, 1, Application::one_way(1_448));
    let bench = bench.run();
    let record = bench.world.flows[0];
    assert_eq!((record.outcome, record.sender.packets_retransmitted), (FlowOutcome::Completed, 1));
    assert_eq!(bench.world.drops, [HostDrop::FlowEnded]);
    assert_eq!(bench.hosts.totals().strays, 1);
}

#[test]
fn a_run_that_ends_leaves_what_waits_in_a_ring_in_flight() {
    let mut bench = Bench::new(&offloading(fixed_stack(), Duration::from_us(20)), 2, dctcp());
    bench.add(0, 1, Application::one_way(10 * 1_448));
    bench.stop_at(Time(10_000_000));
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Unfinished);
    assert_eq!(bench.in_flight(), 10);
    assert_eq!(bench.world.packets.alive(), 10);
}

#[test]
fn both_ways_of_an_exchange_are_polled() {
    let transport = TransportConfig::Tcp(TcpSettings { handshake: true, ..TcpSettings::default() });
    let mut bench = Bench::new(&offloading(fixed_stack(), Duration::ZERO), 2, transport);
    let request = Some(Request { bytes: 2_000, think: Duration::from_us(3) });
    let config = FlowConfig { request, ..flow_config(0, 1, Application::one_way(14_480)) };
    bench.hosts.add_flow(config, &mut bench.world);
    let bench = bench.run();
    let record = bench.world.flows[0];
    assert_eq!((record.bytes_written, record.bytes_delivered), (14_480, 14_480));
    // SYN and SYN-ACK; two request packets, merged, and their acknowledgement; ten response packets, merged, and their
    // acknowledgement.
    assert_eq!(bench.hosts.totals().packets.injected, 2 + 3 + 11);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With any losses and any transport, everything is delivered; the bench accounts for each packet at the end.
    #[test]
    fn the_same_bytes_arrive_with_and_without(
        losses in losses(),
        loads in loads(),
        interrupt_delay_us in 0u64..20,
        is_tcp in any::<bool>(),
    ) {
        let delivered = |config: &HostConfig| {
            let mut bench = Bench::new(config, 3, if is_tcp { testbed_dctcp() } else { packet_pair() });
            bench.world.losses = losses.clone();
            bench.add_all(&loads);
            let mut records = bench.run().world.flows;
            records.sort_unstable_by_key(|record| record.flow.0);
            for record in &records {
                assert!(record.receiver.packets_received <= record.sender.packets_sent);
                assert_eq!(record.outcome, FlowOutcome::Completed);
            }
            records.iter().map(|record| (record.flow, record.bytes_delivered)).collect::<Vec<_>>()
        };
        let with = delivered(&offloading(jittery_stack(), Duration::from_us(interrupt_delay_us)));
        let without = delivered(&HostConfig { kernel_stack: jittery_stack(), ..ethernet() });
        prop_assert_eq!(with, without);
    }
}
