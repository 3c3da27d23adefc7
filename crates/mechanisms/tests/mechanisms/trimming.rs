//! Packet trimming on a switch: which packets are cut, and the order of headers and data.

use hitless_core::settings::quantity::QueueLength;
use hitless_core::wire::trimmed::Trimmed;
use hitless_core::wire::{
    BitRate, Duration, Packet, PortId, TcpHeader, Time, Transport, UdpHeader, UetHeader, UetProbe,
};
use hitless_mechanisms::Trimming;
use hitless_mechanisms::trimming::TrimmingSettings;
use hitless_switch::{Architecture, BufferPolicy, DropReason, PortConfig, QueueConfig, QueueLimit, Switch};
use proptest::prelude::*;

use crate::one_switch::OneSwitch;

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);

#[derive(Clone, Copy)]
struct Settings {
    limit: QueueLimit,
    queue: QueueLength,
    buffer: BufferPolicy,
    headers_per_packet: u32,
    control_too: bool,
}

const SETTINGS: Settings = Settings {
    limit: QueueLimit::Packets(3),
    queue: QueueLength::Packets(100),
    buffer: BufferPolicy::Static,
    headers_per_packet: 0,
    control_too: true,
};

fn bench(settings: Settings) -> OneSwitch {
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(settings.limit));
    let Settings { queue, headers_per_packet, control_too, .. } = settings;
    let trimming = TrimmingSettings { queue, headers_per_packet, control_too, ..TrimmingSettings::default() };
    let trimming = Trimming::new(vec![OUT], trimming);
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let switch = Switch::new(architecture, vec![port; 2], settings.buffer, vec![Box::new(trimming)]);
    OneSwitch::new(switch, |_| OUT)
}

fn counter(bench: &OneSwitch, name: &str) -> u64 {
    bench.counter("port 1", name)
}

fn data(frame_bytes: u32) -> Packet {
    let transport = Transport::Tcp(TcpHeader { payload_bytes: frame_bytes as u16 - 70, ..TcpHeader::default() });
    Packet { frame_bytes, ttl: 9, transport, ..Packet::default() }
}

fn acknowledgement() -> Packet {
    Packet { frame_bytes: 70, ttl: 9, transport: Transport::Tcp(TcpHeader::default()), ..Packet::default() }
}

fn burst(settings: Settings, packets: &[Packet]) -> OneSwitch {
    let mut bench = bench(settings);
    // The port serves the first packet before the others arrive.
    packets.iter().zip(0..).for_each(|(packet, number)| bench.arrive(Time(number.min(1)), IN, *packet));
    bench.finish();
    bench
}

#[test]
fn what_the_queue_refuses_leaves_as_a_header_before_the_data() {
    let bench = burst(SETTINGS, &[data(1_000); 6]);
    assert_eq!(bench.sent(), [0, 3, 4, 5, 1, 2]);
    let lengths: Vec<_> = bench.world.left.iter().map(|sent| sent.packet.frame_bytes).collect();
    assert_eq!(lengths, [1_000, 70, 70, 70, 1_000, 1_000]);
    let header = &bench.world.left[1].packet;
    assert_eq!(header.shims.get::<Trimmed>(), Some(Trimmed { frame_bytes: 1_000 }));
    assert_eq!(header.transport, data(1_000).transport, "the receiver reads which data is missing");
    assert_eq!((bench.world.ended.len(), counter(&bench, "packets_trimmed")), (0, 3));
}

#[test]
fn a_header_for_which_there_is_no_room_ends() {
    let bench = burst(Settings { queue: QueueLength::Packets(2), ..SETTINGS }, &[data(1_000); 7]);
    assert_eq!(bench.ended(), [(5, DropReason::QueueFull), (6, DropReason::QueueFull)]);
    assert_eq!((counter(&bench, "packets_trimmed"), counter(&bench, "headers_lost")), (4, 2));
}

#[test]
fn packets_that_cannot_be_cut_end_as_without_trimming() {
    let udp = Transport::Udp(UdpHeader { payload_bytes: 900, ..UdpHeader::default() });
    let datagram = Packet { transport: udp, ..data(1_000) };
    let bench = burst(
        Settings { control_too: false, ..SETTINGS },
        &[data(1_000), data(1_000), data(1_000), datagram, acknowledgement()],
    );
    assert_eq!(bench.sent(), [0, 1, 2]);
    assert_eq!((bench.world.ended.len(), counter(&bench, "packets_not_trimmed")), (2, 2));
}

#[test]
fn headers_of_other_switches_and_acknowledgements_go_first() {
    let mut header = data(1_000);
    assert!(header.trim(70));
    for (control_too, expected) in [(true, [0, 2, 3, 1]), (false, [0, 2, 1, 3])] {
        let packets = [data(1_000), data(1_000), header, acknowledgement()];
        let bench = burst(Settings { limit: QueueLimit::Packets(9), control_too, ..SETTINGS }, &packets);
        assert_eq!(bench.sent(), expected);
        assert_eq!(counter(&bench, "headers_passed"), 1);
    }
}

/// A probe in front of the data repeated packets that only waited: 73 of 1,960 in an incast of four at 10 Gb/s.
#[test]
fn a_tail_probe_waits_with_the_data_that_it_measures() {
    let probe = Transport::Uet(UetHeader::TailProbe(UetProbe { entropy: 0 }));
    let probe = Packet { frame_bytes: 64, transport: probe, ..acknowledgement() };
    let bench = burst(
        Settings { limit: QueueLimit::Packets(9), ..SETTINGS },
        &[data(1_000), data(1_000), probe, acknowledgement()],
    );
    assert_eq!(bench.sent(), [0, 3, 1, 2]);
}

#[test]
fn ten_headers_leave_for_each_full_frame_while_both_wait() {
    let settings = Settings { headers_per_packet: 10, limit: QueueLimit::Packets(5), ..SETTINGS };
    let bench = burst(settings, &[data(1_518); 45]);
    let order: Vec<bool> = bench.world.left.iter().map(|sent| sent.packet.is_trimmed()).collect();
    // Between two data frames lie full turns of headers, until none is left.
    let runs: Vec<usize> = order.split(|is_header| !is_header).map(<[bool]>::len).collect();
    assert_eq!(runs.iter().sum::<usize>(), 40);
    assert!(runs.iter().all(|&run| run <= 10) && runs.iter().filter(|&&run| run == 10).count() >= 3, "{runs:?}");
}

#[test]
fn a_shared_buffer_without_room_for_a_frame_may_have_room_for_its_header() {
    let buffer = BufferPolicy::Shared { capacity_bytes: 2_200, alpha: 8.0 };
    let bench = burst(Settings { limit: QueueLimit::Unlimited, buffer, ..SETTINGS }, &[data(1_000); 4]);
    // One packet is in transmission, two fill the buffer except for 200 bytes.
    assert_eq!((bench.sent(), counter(&bench, "packets_trimmed")), (vec![0, 3, 1, 2], 1));
}

proptest! {
    /// For any arrivals every packet leaves once or is dropped once; whole packets keep their order, and so do headers.
    #[test]
    fn every_packet_leaves_whole_or_cut_or_ends_once(
        arrivals in prop::collection::vec((0u64..1_500, 64u32..1_519), 1..200),
        limit in 1u32..9, queue in 1u64..20, shares in any::<bool>(), headers_per_packet in 0u32..12,
    ) {
        let buffer = if shares { BufferPolicy::Shared { capacity_bytes: 12_000, alpha: 1.0 } } else { BufferPolicy::Static };
        let (limit, queue) = (QueueLimit::Packets(limit), QueueLength::Packets(queue));
        let mut bench = bench(Settings { limit, queue, buffer, headers_per_packet, control_too: true });
        let mut at = Time::ZERO;
        for &(gap_ns, frame_bytes) in &arrivals {
            at += Duration::from_ns(gap_ns);
            bench.arrive(at, IN, if frame_bytes > 70 { data(frame_bytes) } else { acknowledgement() });
        }
        bench.finish();
        let of = |is_whole: bool| {
            let chosen = bench.world.left.iter().map(|sent| sent.packet).filter(move |packet| {
                packet.transport.has_payload() && packet.is_trimmed() != is_whole
            });
            chosen.map(|packet| packet.frame).collect::<Vec<_>>()
        };
        prop_assert!(of(true).is_sorted() && of(false).is_sorted());
        let mut all = bench.sent();
        all.extend(bench.ended().iter().map(|&(number, _)| number));
        all.sort_unstable();
        prop_assert_eq!(all, (0..arrivals.len() as u32).collect::<Vec<_>>());
    }
}
