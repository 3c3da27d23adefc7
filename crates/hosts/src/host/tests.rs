//! Hosts in a small event loop: two or three of them, connected by a pipe that delays packets and can lose them.

mod addressed;
mod gro;
mod rpcs;
mod short_queues;
mod uet;
mod unfinished;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hitless_core::engine::{FlowIdentity, PacketHandle, PacketStore, RandomStreams};
use hitless_core::wire::{BitRate, Bytes, Duration, FlowId, HostId, PortId, Time, Transport};
use proptest::prelude::*;

use super::*;
use crate::application::{
    Application, FlowConfig, FlowOutcome, FlowRecord, MessageRecord, ReceiverRecord, SenderEnd, TransportId,
};
use crate::flow::TransportConfig;
use crate::records::FlowRecords;
use crate::stack::{DelayConfig, ExponentialJitter, Jitter, LognormalJitter, StackConfig};
use crate::transport::packet_pair::PacketPairSettings;
use crate::transport::roce::RoceSettings;
use crate::transport::tcp::{Congestion, TcpSettings};
use crate::transport::udp::UdpSettings;

const RATE: BitRate = BitRate::from_gbps(100);
const PIPE_DELAY: Duration = Duration::from_us(1);
const FOREVER: Time = Time(1_000_000_000_000_000);

#[derive(Clone, Copy, Debug)]
enum Happening {
    Host(HostEvent),
    Arrival(HostId, PacketHandle),
}

/// Everything outside the hosts.
#[derive(Default)]
struct World {
    packets: PacketStore,
    queue: BinaryHeap<Reverse<(Time, u64)>>,
    happenings: Vec<Happening>,
    /// Numbers of the transmissions that the pipe loses, in ascending order.
    losses: Vec<u64>,
    lost: u64,
    departures: Vec<(HostId, FlowId, Time)>,
    /// Ports of packets from hosts with several, and their departures.
    ports_taken: Vec<(PortId, Time)>,
    drops: Vec<HostDrop>,
    records: FlowRecords,
    messages: Vec<MessageRecord>,
    unfinished: Vec<MessageRecord>,
    flows: Vec<FlowRecord>,
    delays: Vec<Duration>,
    host_events: u64,
}

impl World {
    fn push(&mut self, at: Time, happening: Happening) {
        self.queue.push(Reverse((at, self.happenings.len() as u64)));
        self.happenings.push(happening);
    }

    fn departures_of(&self, host: HostId) -> Vec<u64> {
        self.departures.iter().filter(|departure| departure.0 == host).map(|departure| departure.2.as_ps()).collect()
    }
}

impl HostEnvironment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }

    fn schedule(&mut self, at: Time, _host: HostId, event: HostEvent) {
        self.host_events += 1;
        self.push(at, Happening::Host(event));
    }

    fn created(&mut self, _packet: PacketHandle) {}

    fn transmit(&mut self, host: HostId, packet: PacketHandle, last_bit_leaves_at: Time) {
        let number = self.departures.len() as u64;
        let flow = self.packets[packet].flow;
        self.departures.push((host, flow, last_bit_leaves_at));
        if self.losses.binary_search(&number).is_ok() {
            self.lost += 1;
            self.packets.remove(packet);
            return;
        }
        let destination = self.packets[packet].destination;
        self.push(last_bit_leaves_at + PIPE_DELAY, Happening::Arrival(destination, packet));
    }

    fn transmit_by_port(&mut self, host: HostId, port: PortId, packet: PacketHandle, last_bit_leaves_at: Time) {
        self.ports_taken.push((port, last_bit_leaves_at));
        self.transmit(host, packet, last_bit_leaves_at);
    }

    fn drop_packet(&mut self, _host: HostId, packet: PacketHandle, reason: HostDrop) {
        self.packets.remove(packet);
        self.drops.push(reason);
    }

    fn records(&mut self) -> &mut FlowRecords {
        &mut self.records
    }

    fn flow_finished(&mut self, record: &FlowRecord) {
        self.records.flows.push(*record);
    }

    fn receiver_finished(&mut self, record: &ReceiverRecord) {
        self.records.receivers.push(*record);
    }

    fn sender_ended(&mut self, _receiver: HostId, end: SenderEnd, is_elsewhere: bool) {
        assert!(!is_elsewhere, "there is one partition");
        self.push(end.at + PIPE_DELAY, Happening::Host(HostEvent::SenderEnded(end.flow)));
    }

    fn datagram_delivered(&mut self, _flow: FlowId, delay: Duration) {
        self.delays.push(delay);
    }
}

struct Bench {
    hosts: Hosts,
    world: World,
}

fn ethernet() -> HostConfig {
    HostConfig::with_network_card(NetworkCardConfig::at_rate(RATE))
}

fn roce() -> TransportConfig {
    TransportConfig::Roce(RoceSettings::default())
}

fn udp(rate: BitRate) -> TransportConfig {
    TransportConfig::Udp(UdpSettings::at_rate(rate))
}

fn packet_pair() -> TransportConfig {
    TransportConfig::PacketPair(PacketPairSettings::default())
}

fn flow_config(source: u32, destination: u32, application: Application) -> FlowConfig {
    FlowConfig {
        source: HostId(source),
        destination: HostId(destination),
        transport: TransportId(0),
        start: Time::ZERO,
        application,
        tag: 7,
        class: 1,
        acknowledgement_class: 2,
        identity: FlowIdentity::default(),
        tagging: None,
        request: None,
    }
}

impl Bench {
    fn new(config: &HostConfig, count: u64, transport: TransportConfig) -> Self {
        let mut hosts = Hosts::new(RandomStreams::new(1));
        for number in 0..count {
            hosts.add_host(config, RandomStreams::new(1).stream(&format!("host {number} stack")));
        }
        hosts.add_transport(transport);
        Self { hosts, world: World::default() }
    }

    /// Creates two hosts with a flow from the first to the second.
    fn with_flow(config: &HostConfig, transport: TransportConfig, application: Application) -> Self {
        let mut bench = Self::new(config, 2, transport);
        bench.add(0, 1, application);
        bench
    }

    fn add(&mut self, source: u32, destination: u32, application: Application) -> FlowId {
        let config = flow_config(source, destination, application);
        self.hosts.add_flow(config, &mut self.world)
    }

    /// Adds flows with messages between three hosts; returns the number of messages.
    fn add_all(&mut self, loads: &[Load]) -> u64 {
        for &(source, step, bytes, count, gap_us) in loads {
            let gap = Duration::from_us(gap_us);
            self.add(source, (source + step) % 3, Application::Messages { count, bytes, gap });
        }
        loads.iter().map(|load| load.3).sum()
    }

    fn run(mut self) -> Self {
        self.run_until(FOREVER);
        self.check();
        self
    }

    fn run_until(&mut self, end: Time) {
        self.handle_until(end);
        self.join(end);
        assert!(self.world.queue.is_empty(), "the queue does not run empty");
    }

    /// Ends the run after the events at `end`.
    fn stop_at(&mut self, end: Time) {
        self.handle_until(end);
        self.hosts.end_run(end, &mut self.world);
        self.join(end);
    }

    /// Joins both ends of each flow.
    fn join(&mut self, end: Time) {
        let mut records = self.world.records.clone();
        records.join(end);
        let FlowRecords { messages, unfinished, flows, .. } = records;
        (self.world.messages, self.world.unfinished, self.world.flows) = (messages, unfinished, flows);
    }

    /// Returns the packets between the transports.
    fn in_flight(&self) -> i64 {
        self.hosts.totals().packets.in_flight() - self.world.lost as i64
    }

    fn handle_until(&mut self, end: Time) {
        while let Some(&Reverse((now, number))) = self.world.queue.peek() {
            if now > end {
                break;
            }
            self.world.queue.pop();
            match self.world.happenings[number as usize] {
                Happening::Host(event) => self.hosts.handle(now, event, &mut self.world),
                Happening::Arrival(host, packet) => {
                    let hitless_core::wire::Packet { destination, flow, .. } = self.world.packets()[packet];
                    self.hosts.receive(now, host, packet, (destination, flow), &mut self.world);
                }
            }
        }
    }

    /// Checks that every packet is accounted for and that no memory is in use.
    fn check(&self) {
        assert_eq!(self.world.packets.alive(), 0);
        assert_eq!(self.in_flight(), 0);
        for flow in 0..self.hosts.flow_count() as u32 {
            assert!(self.hosts.has_ended(FlowId(flow)), "flow {flow} did not end");
        }
    }
}

/// Line time of a 1,024-byte packet of RoCE in picoseconds.
const FULL: u64 = (1_102 + 20) * 80;
const ACKNOWLEDGEMENT: u64 = (66 + 20) * 80;

#[test]
fn a_message_takes_the_time_that_arithmetic_says() {
    let mut bench = Bench::new(&ethernet(), 2, roce());
    let flow = bench.add(0, 1, Application::one_way(3 * 1_024));
    let bench = bench.run();
    assert_eq!(bench.world.departures_of(HostId(0)), [FULL, 2 * FULL, 3 * FULL]);
    let delivered = Time(3 * FULL + 1_000_000);
    let acknowledged = Time(3 * FULL + ACKNOWLEDGEMENT + 2_000_000);
    let expected = MessageRecord {
        flow,
        tag: 7,
        number: 0,
        bytes: 3_072,
        started: Time::ZERO,
        requested: None,
        delivered,
        acknowledged,
    };
    assert_eq!(bench.world.messages, [expected]);
    let record = bench.world.flows[0];
    assert_eq!((record.outcome, record.finished), (FlowOutcome::Completed, acknowledged));
    assert_eq!((record.bytes_written, record.bytes_delivered), (3_072, 3_072));
    assert_eq!(bench.hosts.totals().packets, crate::PacketCounts { injected: 4, delivered: 4, dropped: 0 });
}

#[test]
fn messages_follow_each_other_after_the_gap() {
    for gap in [Duration::ZERO, Duration::from_us(5)] {
        let bench = Bench::with_flow(&ethernet(), roce(), Application::Messages { count: 3, bytes: 100, gap });
        let messages = bench.run().world.messages;
        assert_eq!(messages.iter().map(|record| record.number).collect::<Vec<_>>(), [0, 1, 2]);
        for pair in messages.windows(2) {
            assert_eq!(pair[1].started, pair[0].acknowledged + gap);
        }
    }
}

#[test]
fn a_lossless_flow_needs_one_timer_event_and_no_event_per_packet_without_delays() {
    let bench = Bench::with_flow(&ethernet(), roce(), Application::one_way(10 * 1_024));
    assert_eq!(bench.run().world.host_events, 3, "two events of the start and one timer");
}

#[test]
fn a_lost_tail_is_repaired_after_the_timeout() {
    let mut bench = Bench::new(&ethernet(), 2, roce());
    bench.world.losses = vec![0];
    bench.add(0, 1, Application::one_way(143));
    let bench = bench.run();
    let record = bench.world.flows[0];
    assert_eq!((record.sender.timeouts, record.sender.packets_retransmitted, bench.world.lost), (1, 1, 1));
    assert!(bench.world.messages[0].delivered > Time(1_000_000_000));
}

#[test]
fn a_lost_last_acknowledgement_is_given_again() {
    let mut bench = Bench::new(&ethernet(), 2, roce());
    bench.world.losses = vec![1];
    bench.add(0, 1, Application::one_way(143));
    let record = bench.run().world.flows[0];
    assert_eq!((record.outcome, record.receiver.duplicate_packets), (FlowOutcome::Completed, 1));
}

#[test]
fn a_flow_that_gets_nothing_through_fails_and_is_counted() {
    let mut bench = Bench::new(&ethernet(), 2, roce());
    bench.world.losses = (0..100).collect();
    bench.add(0, 1, Application::one_way(143));
    let bench = bench.run();
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Failed);
    assert_eq!((bench.hosts.totals().flows_failed, bench.world.messages.len()), (1, 0));
}

#[test]
fn flows_that_wait_for_the_card_take_turns() {
    let mut bench = Bench::with_flow(&ethernet(), roce(), Application::one_way(400 * 1_024));
    bench.add(0, 1, Application::one_way(400 * 1_024));
    let bench = bench.run();
    let data: Vec<_> = bench.world.departures.iter().filter(|departure| departure.0 == HostId(0)).collect();
    let alternating = data.windows(2).skip(30).take(600).filter(|pair| pair[0].1 != pair[1].1).count();
    assert!(alternating > 590, "{alternating} of 600 departures alternate");
    assert!(data.windows(2).all(|pair| pair[1].2 - pair[0].2 == Duration(FULL)), "the card never idles");
}

#[test]
fn a_newcomer_does_not_pass_those_who_wait() {
    let mut world = World::default();
    let mut host = state::HostState::new(HostId(0), &ethernet(), RandomStreams::new(1).stream("host 0 stack"));
    assert!(host.may_send(Time::ZERO));
    host.wait(Time::ZERO, FlowId(0), &mut world);
    assert!(host.card.has_room(Time::ZERO) && !host.may_send(Time::ZERO));
}

#[test]
fn the_backlog_limit_bounds_what_a_flow_puts_into_the_card() {
    let network_card = NetworkCardConfig {
        capacity: QueueCapacity::Packets(16),
        backlog_limit: Bytes(10_000),
        ..NetworkCardConfig::at_rate(RATE)
    };
    let bench =
        Bench::with_flow(&HostConfig::with_network_card(network_card), roce(), Application::one_way(500 * 1_024)).run();
    assert_eq!(bench.world.drops, []);
    assert_eq!(bench.world.flows[0].sender.packets_retransmitted, 0);
}

#[test]
fn an_unlimited_flow_fills_the_link_and_stops() {
    let bench = Bench::with_flow(
        &ethernet(),
        roce(),
        Application::Unlimited { stop: Time(1_000_000_000), send_buffer_bytes: 1 << 20 },
    )
    .run();
    let record = bench.world.flows[0];
    assert_eq!((record.outcome, record.bytes_delivered), (FlowOutcome::Completed, record.bytes_written));
    let rate_gbps = record.bytes_delivered as f64 * 8.0 / (record.finished.as_ps() as f64 / 1_000.0);
    assert!((90.0..91.3).contains(&rate_gbps), "{rate_gbps} Gb/s of payload");
}

#[test]
fn datagrams_leave_at_their_rate_until_the_stop() {
    let bench =
        Bench::with_flow(&ethernet(), udp(BitRate::from_gbps(10)), Application::until(Time(10 * 1_230_400))).run();
    let expected: Vec<u64> = (0..10).map(|number| number * 1_230_400 + 123_040).collect();
    assert_eq!(bench.world.departures_of(HostId(0)), expected);
    let record = bench.world.flows[0];
    assert_eq!((record.bytes_written, record.bytes_delivered), (14_720, 14_720));
    assert!(bench.world.delays.iter().all(|&delay| delay == Duration(1_123_040)));
    assert_eq!(bench.world.delays.len(), 10);
}

#[test]
fn datagrams_faster_than_the_card_are_held_back_not_dropped() {
    let bench = Bench::with_flow(&ethernet(), udp(BitRate::from_gbps(400)), Application::one_way(1_472 * 1_000)).run();
    assert_eq!((bench.world.drops.len(), bench.world.departures.len()), (0, 1_000));
    assert_eq!(bench.world.departures[999].2, Time(1_000 * 123_040));
}

#[test]
fn lost_datagrams_leave_a_message_undelivered() {
    let mut bench = Bench::new(&ethernet(), 2, udp(RATE));
    bench.world.losses = vec![3, 9];
    bench.add(0, 1, Application::one_way(10 * 1_472));
    let bench = bench.run();
    let message = bench.world.messages[0];
    assert_eq!((message.delivered, message.acknowledged), (Time::NEVER, Time(9 * 123_040)));
    let record = bench.world.flows[0];
    assert_eq!((record.sender.packets_sent, record.receiver.packets_received), (10, 8));
    assert_eq!(record.finished, Time(9 * 123_040) + Duration::from_ms(1));
}

#[test]
fn a_run_that_ends_early_reports_its_flows_and_later_packets_are_strays() {
    let mut bench = Bench::with_flow(&ethernet(), roce(), Application::one_way(100));
    let mut now = Time::ZERO;
    for _ in 0..2 {
        let Some(Reverse((at, number))) = bench.world.queue.pop() else { panic!("a start was scheduled") };
        let Happening::Host(event) = bench.world.happenings[number as usize] else { panic!("a start was scheduled") };
        bench.hosts.handle(at, event, &mut bench.world);
        now = at;
    }
    bench.hosts.end_run(now, &mut bench.world);
    let bench = bench.run();
    assert_eq!(bench.world.flows[0].outcome, FlowOutcome::Unfinished);
    assert_eq!((bench.hosts.totals().strays, bench.world.drops.as_slice()), (1, &[HostDrop::FlowEnded][..]));
}

#[test]
fn fixed_stack_delays_add_to_the_round_trip() {
    let stack = StackConfig {
        send: DelayConfig::fixed(Duration::from_us(3)),
        receive: DelayConfig::fixed(Duration::from_us(4)),
    };
    let config = HostConfig { network_card_stack: stack, ..ethernet() };
    let bench = Bench::with_flow(&config, roce(), Application::one_way(1_024));
    let message = bench.run().world.messages[0];
    assert_eq!(message.delivered, Time(FULL + 1_000_000 + 7_000_000));
    assert_eq!(message.acknowledged, Time(FULL + ACKNOWLEDGEMENT + 2_000_000 + 14_000_000));
}

#[test]
fn a_stack_delay_does_not_slow_a_long_flow_down() {
    let stack = StackConfig { send: DelayConfig::fixed(Duration::from_us(5)), receive: DelayConfig::NONE };
    let network_card = NetworkCardConfig { capacity: QueueCapacity::Packets(20), ..NetworkCardConfig::at_rate(RATE) };
    let config = HostConfig { network_card_stack: stack, network_card, ..ethernet() };
    let bench = Bench::with_flow(&config, roce(), Application::one_way(400 * 1_024)).run();
    assert_eq!(bench.world.departures_of(HostId(0))[399], 5_000_000 + 400 * FULL);
    assert_eq!(bench.world.drops, [], "nor does it overrun the card");
}

/// Numbers of lost transmissions.
fn losses() -> impl Strategy<Value = Vec<u64>> {
    proptest::collection::btree_set(0u64..300, 0..40).prop_map(|losses| losses.into_iter().collect())
}

/// Source, distance of the destination, message length in bytes, number of messages, and gap between them in
/// microseconds.
type Load = (u32, u32, u64, u64, u64);

fn loads() -> impl Strategy<Value = Vec<Load>> {
    proptest::collection::vec((0u32..3, 1u32..3, 1u64..50_000, 1u64..4, 0u64..20), 1..6)
}

fn jittery_stack() -> StackConfig {
    let send = DelayConfig {
        fixed: Duration::from_us(1),
        jitter: Jitter::Exponential(ExponentialJitter { mean: Duration::from_us(5) }),
    };
    let jitter = Jitter::Lognormal(LognormalJitter { median: Duration::from_us(2), p999: Duration::from_us(40) });
    StackConfig { send, receive: DelayConfig { fixed: Duration::ZERO, jitter } }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn jitter_never_reorders_a_flow(seed in any::<u64>(), bytes in 1u64..100_000) {
        let config = HostConfig { kernel_stack: jittery_stack(), ..ethernet() };
        let mut bench = Bench::new(&config, 2, udp(RATE));
        bench.hosts = Hosts::new(RandomStreams::new(1));
        for number in 0..2 {
            bench.hosts.add_host(&config, RandomStreams::new(seed).stream(&format!("host {number} stack")));
        }
        bench.hosts.add_transport(udp(RATE));
        bench.add(0, 1, Application::one_way(bytes));
        let record = bench.run().world.flows[0];
        prop_assert_eq!(record.receiver.reordered_packets, 0);
        prop_assert_eq!(record.bytes_delivered, bytes);
    }

    #[test]
    fn every_flow_completes_whatever_is_lost(
        losses in losses(),
        loads in loads(),
        is_delayed in any::<bool>(),
        is_tcp in any::<bool>(),
    ) {
        let stack = if is_delayed { jittery_stack() } else { StackConfig::NONE };
        let config = HostConfig { kernel_stack: stack, network_card_stack: stack, ..ethernet() };
        let roce = TransportConfig::Roce(RoceSettings { retries: 100, ..RoceSettings::default() });
        let mut bench = Bench::new(&config, 3, if is_tcp { testbed_dctcp() } else { roce });
        bench.world.losses = losses;
        let messages = bench.add_all(&loads);
        let bench = bench.run();
        prop_assert_eq!(bench.world.messages.len() as u64, messages);
        prop_assert!(bench.world.flows.iter().all(|record| record.outcome == FlowOutcome::Completed));
    }
}

#[test]
fn packets_carry_what_a_fabric_needs() {
    let mut bench = Bench::new(&ethernet(), 2, roce());
    let flow = bench.add(0, 1, Application::one_way(1));
    let Some(Reverse((now, _))) = bench.world.queue.pop() else { panic!("a start was scheduled") };
    for event in [HostEvent::FlowStart(flow), HostEvent::StartFlows(HostId(0))] {
        bench.hosts.handle(now, event, &mut bench.world);
    }
    let packet = bench.world.packets[PacketHandle(0)];
    assert_eq!((packet.source, packet.destination, packet.flow, packet.class), (HostId(0), HostId(1), flow, 1));
    assert_eq!((packet.ttl, packet.frame_bytes), (64, 79));
    assert!(matches!(packet.transport, Transport::Roce(_)));
}

fn testbed_dctcp() -> TransportConfig {
    let (delayed_ack_timeout, rto_min) = (Duration::from_us(100), Duration::from_ms(1));
    let dctcp = TcpSettings::with(Congestion::Dctcp(Default::default()));
    TransportConfig::Tcp(TcpSettings { delayed_ack_segments: 2, delayed_ack_timeout, rto_min, ..dctcp })
}

#[test]
fn tcp_fills_the_link_without_overrunning_the_card() {
    let bench = Bench::with_flow(&ethernet(), testbed_dctcp(), Application::until(Time(2_000_000_000))).run();
    let record = bench.world.flows[0];
    assert_eq!((bench.world.drops.len(), record.sender.packets_retransmitted), (0, 0));
    let rate_gbps = record.bytes_delivered as f64 * 8.0 / (record.finished.as_ps() as f64 / 1_000.0);
    assert!((85.0..94.2).contains(&rate_gbps), "{rate_gbps} Gb/s of payload");
}

#[test]
fn appended_messages_share_a_connection_that_ends_when_it_is_closed() {
    for transport in [roce(), TransportConfig::Tcp(TcpSettings::default()), packet_pair()] {
        for close_after in [Time(1_000_000), Time(50_000_000_000)] {
            let mut bench = Bench::new(&ethernet(), 2, transport.clone());
            let config = flow_config(0, 1, Application::Appended);
            let flow = bench.hosts.open(Time::ZERO, config, &mut bench.world);
            bench.hosts.append_message(Time::ZERO, flow, 3_000, &mut bench.world);
            bench.hosts.append_message(Time(1_000_000), flow, 1, &mut bench.world);
            if close_after > Time(1_000_000) {
                bench.run_until(FOREVER);
                assert!(!bench.hosts.has_ended(flow));
            }
            bench.hosts.close(close_after, flow, &mut bench.world);
            let bench = bench.run();
            let messages: Vec<_> = bench.world.messages.iter().map(|message| (message.number, message.bytes)).collect();
            assert_eq!(messages, [(0, 3_000), (1, 1)]);
            assert!(bench.world.messages.iter().all(|message| message.started <= message.delivered));
            let record = bench.world.flows[0];
            assert_eq!((record.outcome, record.bytes_written), (FlowOutcome::Completed, 3_001));
        }
    }
}

#[test]
fn an_open_connection_without_a_message_under_way_is_no_unfinished_flow() {
    let mut bench = Bench::new(&ethernet(), 2, packet_pair());
    let config = flow_config(0, 1, Application::Appended);
    let flow = bench.hosts.open(Time::ZERO, config, &mut bench.world);
    bench.hosts.append_message(Time::ZERO, flow, 3_000, &mut bench.world);
    let mut early = (bench.hosts.clone(), World::default());
    early.0.end_run(Time(1), &mut early.1);
    assert_eq!(early.1.records.flows[0].outcome, FlowOutcome::Unfinished);
    bench.run_until(FOREVER);
    bench.hosts.end_run(FOREVER, &mut bench.world);
    assert_eq!(bench.world.records.flows[0].outcome, FlowOutcome::Completed);
}

/// A stack with a jitter of 5 us blurs arrivals 1.2 us apart; the card's clock does not.
#[test]
fn the_gap_of_a_pair_is_measured_before_the_stack() {
    let jitter = Jitter::Exponential(ExponentialJitter { mean: Duration::from_us(5) });
    let receive = DelayConfig { fixed: Duration::from_us(50), jitter };
    let config = HostConfig { kernel_stack: StackConfig { send: DelayConfig::NONE, receive }, ..ethernet() };
    let bench = Bench::with_flow(&config, packet_pair(), Application::one_way(1_448_000)).run();
    // 1000 frames of 1.23 us each, plus two round trips.
    let finished = bench.world.flows[0].finished;
    assert!(finished < Time::ZERO + Duration::from_us(1_600), "{finished}");
}
