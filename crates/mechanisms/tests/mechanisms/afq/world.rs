//! A switch with AFQ at its output, and a schedule of arriving packets.

use std::collections::BTreeMap;

use hitless_core::wire::{BitRate, Bytes, Duration, Ecn, FlowId, HostId, Packet, PortId, Time};
use hitless_mechanisms::Afq;
use hitless_mechanisms::afq::{
    AfqLate, AfqOccupancy, AfqPort, AfqRotating, AfqRound, AfqScheduler, AfqSettings, AfqSketch,
};
use hitless_switch::testing::Left;
use hitless_switch::{Architecture, BufferPolicy, DropReason, PortConfig, QueueConfig, QueueLimit, Switch};
use proptest::prelude::*;

use crate::one_switch::OneSwitch;

pub const IN: PortId = PortId(0);
pub const OUT: PortId = PortId(1);

pub const RATE: BitRate = BitRate::from_gbps(80);
pub const BYTE: Duration = Duration::from_ps(100);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub at: Time,
    pub flow: u32,
    pub bytes: u32,
}

/// A packet of `flow` that arrives `at_bytes` byte times after the start.
pub fn arrival(at_bytes: u64, flow: u32, bytes: u32) -> Arrival {
    Arrival { at: Time::ZERO + BYTE * at_bytes, flow, bytes }
}

/// `packets`, `(flow, bytes)`, that arrive while a small packet of flow 99 is on the line, so that none is served
/// before all are present. The small packet is the first of the schedule.
pub fn together(packets: impl IntoIterator<Item = (u32, u32)>) -> Vec<Arrival> {
    let others = packets.into_iter().map(|(flow, bytes)| arrival(10, flow, bytes));
    std::iter::once(arrival(0, 99, 64)).chain(others).collect()
}

/// A port without a limit; its round stands still while it is idle.
pub const PORT: AfqPort = AfqPort::new(OUT, QueueLimit::Unlimited);

prop_compose! {
    /// Packets of up to `flows` flows: together, one after the other, and after pauses of up to `pause_bytes`.
    pub fn schedules(flows: u32, pause_bytes: u64, most: usize)(
        packets in prop::collection::vec(
            (prop_oneof![2 => Just(0u64), 3 => 0u64..2_000, 1 => 0..pause_bytes], 0..flows, 64u32..1_519),
            1..most,
        ),
    ) -> Vec<Arrival> {
        let mut at_bytes = 0;
        let place = |(gap, flow, bytes)| {
            at_bytes += gap;
            arrival(at_bytes, flow, bytes)
        };
        packets.into_iter().map(place).collect()
    }
}

/// Plain AFQ: `queues` queues, and a sketch that is exact for a few flows.
pub fn settings(queues: u8, bytes_per_round: u32) -> AfqSettings {
    AfqSettings {
        queues,
        bytes_per_round: Some(Bytes(bytes_per_round.into())),
        sketch: AfqSketch { columns: 4_096, ..AfqSketch::default() },
        measure_estimation: true,
        ..AfqSettings::default()
    }
}

/// Settings with a round that the enqueue side infers from queues that look empty.
pub fn inferred_round(granularity_bytes: u64, refresh: Duration, settings: AfqSettings) -> AfqSettings {
    let occupancy = Some(AfqOccupancy { granularity: Bytes(granularity_bytes), refresh });
    AfqSettings { round: AfqRound::FromOccupancy, occupancy, ..settings }
}

pub const fn rotating(late: AfqLate) -> AfqScheduler {
    AfqScheduler::RotatingStrictPriority(AfqRotating { late, step: Duration::ZERO })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    pub arrival: usize,
    pub flow: u32,
    pub bytes: u32,
    pub ends_at: Time,
    pub is_marked: bool,
}

pub struct Run {
    pub departures: Vec<Departure>,
    pub drops: BTreeMap<DropReason, usize>,
    pub counters: BTreeMap<&'static str, u64>,
    pub violation: Option<String>,
}

impl Run {
    pub fn order(&self) -> Vec<usize> {
        self.departures.iter().map(|departure| departure.arrival).collect()
    }

    pub fn count(&self, counter: &str) -> u64 {
        *self.counters.get(counter).unwrap_or_else(|| panic!("no counter {counter} in {:?}", self.counters))
    }

    pub fn dropped(&self) -> usize {
        self.drops.values().sum()
    }

    pub fn sent_bytes(&self, flows: usize, until: Time) -> Vec<u64> {
        let mut sent = vec![0; flows];
        let in_time = self.departures.iter().filter(|departure| departure.ends_at <= until);
        in_time.for_each(|departure| sent[departure.flow as usize] += u64::from(departure.bytes));
        sent
    }
}

/// A switch without latency and with full visibility.
pub fn ideal() -> Architecture {
    Architecture { checked: false, ..Architecture::ideal() }
}

/// Runs `schedule`, which is ordered by time, to its end.
pub fn run(architecture: Architecture, settings: AfqSettings, buffer: BufferPolicy, schedule: &[Arrival]) -> Run {
    run_at(PORT, architecture, settings, buffer, schedule)
}

pub fn run_at(
    at: AfqPort,
    architecture: Architecture,
    settings: AfqSettings,
    buffer: BufferPolicy,
    schedule: &[Arrival],
) -> Run {
    run_on(plain_port(), at, architecture, settings, buffer, schedule)
}

pub fn plain_port() -> PortConfig {
    PortConfig::fifo(RATE, 0, QueueConfig::normal(QueueLimit::Unlimited))
}

pub fn switch_with(
    port: PortConfig,
    at: AfqPort,
    architecture: Architecture,
    settings: AfqSettings,
    buffer: BufferPolicy,
) -> OneSwitch {
    let afq = Box::new(Afq::new(vec![at], settings, 1));
    let switch = Switch::new(architecture, vec![plain_port(), port], buffer, vec![afq]);
    OneSwitch::new(switch, |_| OUT)
}

pub fn run_on(
    port: PortConfig,
    at: AfqPort,
    architecture: Architecture,
    settings: AfqSettings,
    buffer: BufferPolicy,
    schedule: &[Arrival],
) -> Run {
    let mut one = switch_with(port, at, architecture, settings, buffer);
    for arrival in schedule {
        one.arrive(arrival.at, IN, packet(arrival));
    }
    one.run_until(Time::NEVER);
    let report = one.report();
    let mut drops = BTreeMap::new();
    one.reasons().into_iter().for_each(|reason| *drops.entry(reason).or_default() += 1);
    assert_eq!(one.switches[0].packets_queued(), 0, "a packet is left in a queue that nobody serves");
    assert_eq!(one.world.packets.alive(), 0);
    assert_eq!(one.world.left.len() + one.world.ended.len(), schedule.len());
    Run {
        departures: one.world.left.iter().map(departure).collect(),
        drops,
        counters: report.counters.iter().map(|(_, counter, value)| (counter.key, *value)).collect(),
        violation: one.switches[0].violation().map(ToString::to_string),
    }
}

pub fn packet(arrival: &Arrival) -> Packet {
    Packet {
        frame_bytes: arrival.bytes,
        flow: FlowId(arrival.flow),
        source: HostId(arrival.flow),
        flow_hash: arrival.flow.wrapping_mul(0x9e37_79b9),
        class: arrival.flow as u8,
        ecn: Ecn::Capable,
        ttl: Packet::INITIAL_TTL,
        ..Packet::default()
    }
}

fn departure(sent: &Left) -> Departure {
    Departure {
        arrival: sent.packet.frame as usize,
        flow: sent.packet.flow.0,
        bytes: sent.packet.frame_bytes,
        ends_at: sent.at,
        is_marked: sent.packet.ecn == Ecn::CongestionExperienced,
    }
}

/// Like [`run`], on a switch without latency and with a buffer that is not shared.
pub fn run_ideal(settings: AfqSettings, schedule: &[Arrival]) -> Run {
    run(ideal(), settings, BufferPolicy::Static, schedule)
}
