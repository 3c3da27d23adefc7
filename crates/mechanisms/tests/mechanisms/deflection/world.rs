//! A switch with a host, the routed port, another host and three neighbours.

use hitless_core::wire::{BitRate, Duration, Packet, PortId, PriorityMark, Time};
use hitless_switch::{
    Architecture, BufferPolicy, DepthVisibility, Mechanism, PortConfig, QueueConfig, QueueLimit, Switch,
};

use crate::one_switch::{self, OneSwitch};

pub const HOST: PortId = PortId(0);
/// The routed port of every packet.
pub const OUT: PortId = PortId(1);
pub const OTHER_HOST: PortId = PortId(2);
pub const NEIGHBOURS: [PortId; 3] = [PortId(3), PortId(4), PortId(5)];

#[derive(Clone, Copy)]
pub struct Hardware {
    pub limit: QueueLimit,
    pub buffer: BufferPolicy,
    pub out_faces_switch: bool,
    pub is_ideal: bool,
    pub recirculation_ports: usize,
    pub depth_visibility: DepthVisibility,
}

pub const HARDWARE: Hardware = Hardware {
    limit: QueueLimit::Packets(3),
    buffer: BufferPolicy::Static,
    out_faces_switch: false,
    is_ideal: false,
    recirculation_ports: 0,
    depth_visibility: DepthVisibility::IngressAndEgress,
};

pub fn switch_with(hardware: Hardware, mechanism: impl Mechanism + 'static) -> OneSwitch {
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(hardware.limit));
    let faces_switch =
        |number| NEIGHBOURS.contains(&PortId(number)) || PortId(number) == OUT && hardware.out_faces_switch;
    let ports = (0..6).map(|number| PortConfig { faces_switch: faces_switch(number), ..port.clone() });
    let recirculation = PortConfig {
        is_loopback: true,
        ..PortConfig::fifo(BitRate::from_gbps(100), 20, QueueConfig::normal(QueueLimit::Unlimited))
    };
    let ports = ports.chain(std::iter::repeat_n(recirculation, hardware.recirculation_ports)).collect();
    let preset = if hardware.is_ideal { Architecture::ideal() } else { Architecture::tofino_like() };
    let architecture = Architecture { checked: true, depth_visibility: hardware.depth_visibility, ..preset };
    OneSwitch::new(Switch::new(architecture, ports, hardware.buffer, vec![Box::new(mechanism)]), |_| OUT)
}

/// Sends `count` packets at once from `port`, and runs to the end.
pub fn burst(mut bench: OneSwitch, port: PortId, count: usize) -> OneSwitch {
    (0..count).for_each(|_| bench.arrive(Time::ZERO, port, packet()));
    bench.finish();
    bench
}

/// Sends packets, each after a gap in nanoseconds, from a neighbour or, for higher numbers, from the host.
pub fn arrive_by(bench: &mut OneSwitch, packets: impl IntoIterator<Item = (u64, usize, Packet)>) {
    let mut at = Time::ZERO;
    for (gap_ns, from, packet) in packets {
        at += Duration::from_ns(gap_ns);
        bench.arrive(at, NEIGHBOURS.get(from).copied().unwrap_or(HOST), packet);
    }
    bench.finish();
}

pub fn of_out(bench: &OneSwitch, name: &str) -> u64 {
    bench.counter("port 1", name)
}

pub fn detours(bench: &OneSwitch) -> Vec<(PortId, Option<u8>)> {
    bench.world.left.iter().map(|sent| (sent.port, one_switch::detours(&sent.packet))).collect()
}

pub fn packet() -> Packet {
    Packet { frame_bytes: 1_000, ttl: 9, ..Packet::default() }
}

/// A packet marked by its sender, of 1,000 bytes with the mark.
pub fn marked(mark: PriorityMark) -> Packet {
    let mut packet = Packet { frame_bytes: 992, ..packet() };
    packet.push_shim(mark).expect("it carries no other shim");
    packet
}

pub fn ranked(rank_bytes: u32) -> Packet {
    marked(PriorityMark { rank_bytes, ..PriorityMark::default() })
}

/// The neighbour that gets the first packet beyond the full queue, counted for many seeds.
pub fn first_choices(seeds: u64, run: impl Fn(u64) -> OneSwitch) -> [u32; 3] {
    let mut counts = [0; 3];
    for seed in 0..seeds {
        let bench = run(seed);
        let chosen = NEIGHBOURS.iter().position(|&port| bench.count_sent_by(&[port]) == 1).expect("one was deflected");
        counts[chosen] += 1;
    }
    counts
}

/// Requires that the counts fit the expected ones: chi-square with two degrees of freedom, 99.9 % below 13.8.
pub fn assert_likely(counts: [u32; 3], expected: [f64; 3]) {
    let part = |(&count, expected): (&u32, f64)| (f64::from(count) - expected).powi(2) / expected;
    let chi_square: f64 = counts.iter().zip(expected).map(part).sum();
    assert!(chi_square < 13.8, "{counts:?}");
}
