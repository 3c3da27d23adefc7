//! Requests and their responses on the same connection.

use super::*;
use crate::application::Request;
use crate::{PriorityTagging, Rank};

const THINK: Duration = Duration::from_us(20);
const REQUEST: Request = Request { bytes: 250, think: THINK };

pub fn tcp(handshake: bool) -> TransportConfig {
    let timeout = Duration::from_ms(10);
    let (rto_min, rto_initial, syn_timeout) = (timeout, timeout, timeout);
    TransportConfig::Tcp(TcpSettings {
        handshake,
        rto_min,
        rto_initial,
        syn_timeout,
        ..TcpSettings::with(Congestion::Newreno(Default::default()))
    })
}

/// Configures a request from host 1 to host 0, with a response of this length.
fn asked(bytes: u64) -> FlowConfig {
    FlowConfig { request: Some(REQUEST), ..flow_config(0, 1, Application::one_way(bytes)) }
}

fn bench(transport: TransportConfig) -> Bench {
    Bench::new(&ethernet(), 2, transport)
}

fn exchange(mut bench: Bench, config: FlowConfig) -> Bench {
    bench.hosts.add_flow(config, &mut bench.world);
    bench.run()
}

/// Returns the time in picoseconds for a frame of this length to arrive.
fn way(frame_bytes: u64) -> u64 {
    (frame_bytes + 20) * 80 + PIPE_DELAY.as_ps()
}

#[test]
fn the_times_of_an_exchange_are_what_arithmetic_says() {
    for handshake in [true, false] {
        let bench = exchange(bench(tcp(handshake)), asked(1_000));
        let requested = if handshake { 2 * way(78) } else { 0 };
        let delivered = requested + way(70 + 250) + THINK.as_ps() + way(1_070);
        let expected = MessageRecord {
            flow: FlowId(0),
            tag: 7,
            number: 0,
            bytes: 1_000,
            started: Time::ZERO,
            requested: Some(Time(requested)),
            delivered: Time(delivered),
            acknowledged: Time(delivered + way(70)),
        };
        assert_eq!(bench.world.messages, [expected], "handshake {handshake}");
        let record = bench.world.flows[0];
        assert_eq!((record.bytes_written, record.bytes_delivered), (1_000, 1_000));
        assert_eq!(bench.world.unfinished, []);
        assert_eq!((record.source, record.destination, record.started), (HostId(0), HostId(1), Time::ZERO));
        // SYN, SYN-ACK, the request and its acknowledgement, the response and its acknowledgement.
        assert_eq!(bench.hosts.totals().packets.injected, if handshake { 6 } else { 4 });
        assert_eq!((record.sender.packets_sent, record.receiver.packets_received), (2, 2));
        let totals = bench.hosts.totals();
        assert_eq!((totals.flows_started, totals.flows_completed), (1, 1));
    }
}

#[test]
fn a_lost_syn_delays_the_request_and_not_what_is_counted_from_it() {
    let clean = exchange(bench(tcp(true)), asked(1_000)).world.messages[0];
    for lost in [0, 1] {
        let mut bench = bench(tcp(true));
        bench.world.losses = vec![lost];
        let bench = exchange(bench, asked(1_000));
        let message = bench.world.messages[0];
        let delay = Duration::from_ms(10);
        assert_eq!(message.requested, clean.requested.map(|at| at + delay), "packet {lost}");
        assert_eq!((message.started, message.delivered), (clean.started, clean.delivered + delay));
        assert_eq!(bench.world.flows[0].sender.timeouts, 1, "that of the client");
    }
}

#[test]
fn a_lost_request_is_repeated_and_counts() {
    let mut bench = bench(tcp(true));
    bench.world.losses = vec![2];
    let message = exchange(bench, asked(1_000)).world.messages[0];
    let requested = message.requested.expect("the connection was opened");
    assert!(requested < Time(10_000_000) && message.delivered > Time(10_000_000_000), "{message:?}");
}

#[test]
fn what_the_reorder_buffer_holds_of_a_request_is_in_the_record_of_the_flow() {
    let config = HostConfig { reorder_timeout: Some(Duration::from_us(50)), ..ethernet() };
    let mut bench = Bench::new(&config, 2, tcp(true));
    // After SYN and SYN-ACK, the second of four request segments is lost: two segments wait for it. The response has
    // one segment.
    bench.world.losses = vec![3];
    let request = Some(Request { bytes: 4 * 1_448, ..REQUEST });
    let tagging = Some(PriorityTagging::honest(Rank::RemainingBytes));
    let bench = exchange(bench, FlowConfig { request, tagging, ..asked(1_000) });
    let reorder_buffer = bench.world.flows[0].reorder_buffer.expect("there is a layer");
    assert_eq!((reorder_buffer.packets_held, reorder_buffer.held_peak_packets, reorder_buffer.timeouts), (2, 2, 1));
}

#[test]
fn data_of_the_answer_acknowledges_the_request() {
    // The acknowledgement of the request is lost, which causes no retransmission.
    let mut bench = bench(tcp(true));
    bench.world.losses = vec![3];
    let bench = exchange(bench, asked(1_000));
    let record = bench.world.flows[0];
    assert_eq!((record.sender.timeouts, record.sender.packets_retransmitted, bench.world.lost), (0, 0, 1));
    assert_eq!(bench.world.departures.len(), 6);
}

#[test]
fn a_run_that_ends_early_tells_what_was_asked_for() {
    // Before the connection is open, before the request arrives, and before the response arrives.
    for (end, is_requested) in [(1_100_000, false), (2_500_000, true), (24_000_000, true)] {
        let mut bench = bench(tcp(true));
        bench.hosts.add_flow(asked(1_000), &mut bench.world);
        bench.stop_at(Time(end));
        let [unanswered] = bench.world.unfinished[..] else { panic!("{:?}", bench.world.unfinished) };
        assert_eq!((bench.world.flows[0].outcome, unanswered.bytes), (FlowOutcome::Unfinished, 1_000));
        assert_eq!((unanswered.started, unanswered.delivered), (Time::ZERO, Time::NEVER));
        assert_eq!(unanswered.requested.is_some(), is_requested, "{end} ps");
    }
}

#[test]
fn a_request_that_cannot_be_sent_fails_the_flow() {
    let mut bench = bench(roce());
    bench.world.losses = (0..100).collect();
    let bench = exchange(bench, asked(1_000));
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Failed);
    assert_eq!((bench.world.messages.len(), bench.hosts.totals().flows_failed), (0, 1));
    assert_eq!(bench.world.unfinished.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_exchange_completes_whatever_is_lost(
        losses in losses(),
        flows in proptest::collection::vec((0u32..3, 1u32..3, 1u64..50_000, 1u64..5_000, 0u64..50), 1..6),
        delayed in any::<bool>(),
        layers in any::<bool>(),
        transport in 0usize..4,
    ) {
        let stack = if delayed { jittery_stack() } else { StackConfig::NONE };
        let roce = TransportConfig::Roce(RoceSettings { retries: 1_000, ..RoceSettings::default() });
        let transport = [tcp(true), tcp(false), packet_pair(), roce][transport].clone();
        let reorder_timeout = layers.then_some(Duration::from_us(50));
        let config = HostConfig { kernel_stack: stack, network_card_stack: stack, reorder_timeout, ..ethernet() };
        let mut bench = Bench::new(&config, 3, transport);
        bench.world.losses = losses;
        for &(source, step, bytes, request_bytes, think_us) in &flows {
            let flow = flow_config(source, (source + step) % 3, Application::one_way(bytes));
            let request = Some(Request { bytes: request_bytes, think: Duration::from_us(think_us) });
            let tagging = layers.then_some(PriorityTagging::honest(Rank::RemainingBytes));
            bench.hosts.add_flow(FlowConfig { request, tagging, ..flow }, &mut bench.world);
        }
        let bench = bench.run();
        prop_assert_eq!(bench.world.messages.len(), flows.len());
        prop_assert!(bench.world.flows.iter().all(|record| record.outcome == FlowOutcome::Completed));
        for message in &bench.world.messages {
            let requested = message.requested.expect("all were asked for");
            let think = Duration::from_us(flows[message.flow.0 as usize].4);
            prop_assert!(message.started <= requested && requested + think < message.delivered);
        }
    }
}
