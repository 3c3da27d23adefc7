//! Bolt on a switch: notices to senders, and packets with granted requests.

use hitless_core::wire::{
    BitRate, BoltFlags, Bytes, CongestionNotice, Duration, FlowId, HostId, Packet, PortId, TcpHeader, Time, Transport,
};
use hitless_mechanisms::Bolt;
use hitless_mechanisms::bolt::{BoltPort, BoltSettings};
use hitless_switch::testing::Left;
use hitless_switch::{Architecture, BufferPolicy, DepthVisibility, PortConfig, QueueConfig, QueueLimit, Switch};

use crate::one_switch::OneSwitch;

const SENDERS: PortId = PortId(0);
const OUT: PortId = PortId(1);
const SENDER: HostId = HostId(3);
const RECEIVER: HostId = HostId(4);
const RATE: BitRate = BitRate::from_gbps(10);
const FRAME_BYTES: u32 = 1_480;

struct Bench(OneSwitch);

impl Bench {
    /// A queue of three packets is congested.
    fn new() -> Self {
        let port = PortConfig::fifo(RATE, 20, QueueConfig::normal(QueueLimit::Packets(100)));
        let ports = [SENDERS, OUT].map(|port| BoltPort { port, rate: RATE, overhead_bytes: 20 });
        let settings = BoltSettings {
            threshold: Bytes(3 * u64::from(FRAME_BYTES)),
            segment: Bytes(FRAME_BYTES.into()),
            supply_max: Bytes(3_000),
            ramp_up_max: 2,
            ..BoltSettings::default()
        };
        let bolt = Bolt::new(ports.to_vec(), settings);
        let architecture = Architecture {
            checked: true,
            depth_visibility: DepthVisibility::IngressAndEgress,
            ..Architecture::tofino_like()
        };
        let switch = Switch::new(architecture, vec![port.clone(), port], BufferPolicy::Static, vec![Box::new(bolt)]);
        Self(OneSwitch::new(switch, |packet| if packet.destination == SENDER { SENDERS } else { OUT }))
    }

    fn arrive(&mut self, time_ns: u64, packet: Packet) {
        let port = if packet.destination == SENDER { OUT } else { SENDERS };
        self.0.arrive(Time::ZERO + Duration::from_ns(time_ns), port, packet);
    }

    /// The flags of departed data, in order, and the notices.
    fn end(&mut self) -> (Vec<u8>, Vec<(Packet, CongestionNotice)>) {
        self.0.finish();
        let (mut flags, mut notices) = (Vec::new(), Vec::new());
        for Left { port, packet, .. } in &self.0.world.left {
            match packet.transport {
                Transport::Tcp(header) if *port == OUT => flags.push(header.congestion_option),
                Transport::CongestionNotice(notice) if *port == SENDERS => notices.push((*packet, notice)),
                _ => {}
            }
        }
        (flags, notices)
    }

    fn counter(&self, name: &str) -> u64 {
        self.0.report().counters.iter().filter(|(_, counter, _)| counter.key == name).map(|(_, _, value)| value).sum()
    }
}

fn data(number: u64, flags: BoltFlags) -> Packet {
    let header = TcpHeader {
        sequence: number * 1_400,
        payload_bytes: 1_400,
        congestion_option: flags.0,
        ..TcpHeader::default()
    };
    Packet {
        frame_bytes: FRAME_BYTES,
        flow: FlowId(7),
        source: SENDER,
        destination: RECEIVER,
        flow_hash: 99,
        ttl: 60,
        transport: Transport::Tcp(header),
        ..Packet::default()
    }
}

const ASKS: BoltFlags = BoltFlags::BOLT.with(BoltFlags::INC);
const TOLD: u8 = BoltFlags::BOLT.with(BoltFlags::DEC).0;

#[test]
fn the_sender_of_a_packet_that_meets_a_long_queue_is_told_once_by_all_switches() {
    let mut bench = Bench::new();
    // Six at once: the first three find fewer than three before them, counting packets already assigned to the queue.
    (0..6).for_each(|number| bench.arrive(1_000, data(number, ASKS)));
    // Another switch has sent a notice about this packet.
    bench.arrive(1_000, data(6, ASKS.with(BoltFlags::DEC).without(BoltFlags::INC)));
    let (flags, notices) = bench.end();
    assert_eq!(flags[3..], [TOLD; 4]);
    let told: Vec<_> = notices.iter().map(|(_, notice)| (notice.sequence / 1_400, notice.queue_bytes)).collect();
    assert_eq!(told, [(3, 4_440), (4, 5_920), (5, 7_400)]);
    let (packet, notice) = &notices[0];
    assert_eq!((packet.source, packet.destination, packet.flow), (RECEIVER, SENDER, FlowId(7)));
    assert_eq!((packet.frame_bytes, notice.rate), (64, RATE));
    assert!(packet.is_congestion_notice());
    assert_eq!(bench.0.world.created, 3);
    assert_eq!((bench.counter("notices_sent"), bench.counter("packets_congested")), (3, 4));
}

#[test]
fn notices_go_before_all_that_waits() {
    let mut bench = Bench::new();
    let back = Packet { source: RECEIVER, destination: SENDER, ..data(0, BoltFlags::default()) };
    (0..20).for_each(|_| bench.arrive(1_000, back));
    (0..5).for_each(|number| bench.arrive(1_000, data(number, ASKS)));
    bench.0.finish();
    let left: Vec<_> = bench.0.world.left.iter().filter(|sent| sent.port == SENDERS).collect();
    let places: Vec<_> = left
        .iter()
        .enumerate()
        .filter(|(_, sent)| sent.packet.is_congestion_notice())
        .map(|(place, _)| place)
        .collect();
    assert_eq!(left.len(), 22);
    assert!(places.iter().all(|&place| place <= 4), "{places:?}");
}

#[test]
fn a_wish_is_granted_for_bandwidth_that_nobody_used() {
    let mut bench = Bench::new();
    // A frame takes 1,200 ns. After 10 us of idling 3,000 bytes are available: two requests of 1,500. Then nothing is
    // left, because packets arrive as fast as the line takes them; the last arrives 1,200 ns later than that.
    for (number, time_ns) in [10_000, 11_200, 12_400, 13_600, 16_000].into_iter().enumerate() {
        bench.arrive(time_ns, data(number as u64, ASKS));
    }
    let (flags, notices) = bench.end();
    let kept: Vec<bool> = flags.iter().map(|&flags| BoltFlags(flags).contains(BoltFlags::INC)).collect();
    assert_eq!((kept, notices.len()), (vec![true, true, false, false, true], 0));
    assert_eq!((bench.counter("increases_by_supply"), bench.counter("increases_denied")), (3, 2));
}

#[test]
fn a_wish_is_granted_for_a_packet_of_a_flow_about_to_end() {
    let mut bench = Bench::new();
    let last = BoltFlags::BOLT.with(BoltFlags::LAST);
    // The first two requests use up the initial supply.
    let flags = [ASKS, ASKS, last, last.with(BoltFlags::FIRST), ASKS, ASKS, last, last, last, ASKS, ASKS, ASKS];
    for (number, flags) in flags.into_iter().enumerate() {
        bench.arrive(10_000 + 1_200 * number as u64, data(number as u64, flags));
    }
    let (left, _) = bench.end();
    let kept: Vec<bool> = left.iter().map(|&flags| BoltFlags(flags).contains(BoltFlags::INC)).collect();
    // One token for the first LAST, none for that of a new flow; of three tokens two are remembered.
    let expected = [true, true, false, false, true, false, false, false, false, true, true, false];
    assert_eq!(kept, expected);
    assert_eq!(bench.counter("increases_by_ramp_up"), 3);
}

#[test]
fn packets_of_others_are_left_alone_but_use_bandwidth() {
    let mut bench = Bench::new();
    for number in 0..8 {
        bench.arrive(10_000 + 1_200 * number, data(number, if number < 7 { BoltFlags::default() } else { ASKS }));
    }
    let (flags, notices) = bench.end();
    assert_eq!(flags[..7], [0; 7]);
    // 3,000 bytes are still available: the line was fully used, but no packet requested more.
    assert_eq!((flags[7], notices.len()), (ASKS.0, 0));
    assert_eq!(bench.counter("packets_seen"), 1);
    let mut bench = Bench::new();
    // Twice as fast as the line.
    for number in 0..4 {
        bench.arrive(10_000 + 600 * number, data(number, if number < 3 { BoltFlags::default() } else { ASKS }));
    }
    assert_eq!(bench.end().0[3], BoltFlags::BOLT.0, "what came too fast used up the supply");
}
