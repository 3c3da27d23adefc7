//! RIMM: the same packets are detoured through the same spines, equally often, and released in the same order at the
//! same times. The spines run the mechanism in Rust in both cases, so that its headers and the program's must be the
//! same.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use hitless_core::wire::{Duration, Packet, PortId, ServiceKey, Time};
use hitless_mechanisms::rimm::headers::MessageHeader;
use hitless_switch::DropReason;
use hitless_switch::testing::{Fate, Harness};
use proptest::prelude::*;

use super::beside::{Arrival, BYTE, Happening, Outcome, boundary, program, route, run, schedule, switch_of};

const SEGMENT: u32 = 80;

#[derive(Clone, Copy, Debug)]
struct Settings {
    threshold_segments: u32,
    congestion_after_ns: u32,
    lifetime_ns: u32,
    timeout_ns: u32,
    detours_max: u8,
    ingress_ns: u32,
    /// Whether the spines relieve ports themselves, and need leaf0's depths.
    spines_are_told: bool,
}

/// A packet that arrives at a spine (1 or 2) from the other leaf.
type Other = (Time, usize, Arrival);

const BURST: Settings = Settings {
    threshold_segments: 100,
    congestion_after_ns: 1_000_000,
    lifetime_ns: 20_000_000,
    timeout_ns: 300_000,
    detours_max: 255,
    ingress_ns: 100,
    spines_are_told: true,
};

impl Settings {
    fn switch(self) -> String {
        format!(
            "[switch]\npreset = \"ideal\"\ningress_latency = \"{0} ns\"\nmirror_latency = \"{0} ns\"\n\
             buffer = {{ kind = \"static\", per_port = \"1 MB\" }}\n",
            self.ingress_ns
        )
    }

    fn in_rust(self) -> String {
        let Self { threshold_segments, congestion_after_ns, lifetime_ns, timeout_ns, detours_max, .. } = self;
        let spines = if self.spines_are_told { ", \"spine0->leaf0\", \"spine1->leaf0\"" } else { "" };
        format!(
            "{}[[mechanism]]\nkind = \"rimm\"\nports = [\"leaf0->h0\", \"leaf0->h1\"{spines}]\nrelease = \"exact\"\n\
             threshold = \"{} B\"\ncongestion_after = \"{congestion_after_ns} ns\"\n\
             crossing_lifetime = \"{lifetime_ns} ns\"\npredecessor_timeout = \"{timeout_ns} ns\"\n\
             detours_max = {detours_max}\n",
            self.switch(),
            threshold_segments * SEGMENT
        )
    }

    fn in_p4(self) -> String {
        let Self { threshold_segments, congestion_after_ns, lifetime_ns, timeout_ns, detours_max, .. } = self;
        let told = if self.spines_are_told { "0xc" } else { "0" };
        let commands = format!(
            "table_add ingress.return_ports ingress.set_returning 10.0.0.0/30 => 0xc\n\
             table_set_default ingress.ports ingress.set_ports 0 0xc 0x3 {told}\n\
             table_set_default ingress.limits ingress.set_limits {threshold_segments} {threshold_segments} \
             {threshold_segments} {congestion_after_ns} {lifetime_ns} {timeout_ns} {detours_max}\n"
        );
        let queue = "[[mechanism.queue]]\nports = [\"leaf0->spine0\", \"leaf0->spine1\"]\npriority = 101\n";
        format!("{}{}", self.switch(), program("rimm", &commands, queue))
    }

    /// leaf0 with the spines behind its ports 2 and 3, which return packets there. Frames with these numbers are lost,
    /// counted over all links.
    fn fabric(self, leaf: &str, lost: &BTreeSet<usize>) -> Harness {
        let spines = self.in_rust();
        let switches = [(leaf, "leaf0"), (&spines, "spine0"), (&spines, "spine1")];
        let switches = switches.map(|(text, name)| switch_of(text, name)).into();
        let route = |switch: usize, packet: &Packet| match (switch, route(packet.destination)) {
            (0, port) => Some(port),
            (_, port) => (port.0 < 2).then_some(PortId(0)),
        };
        let mut fabric = Harness::new(switches, route).with_tables(|switch, _| switch == 0, |_| ServiceKey::default());
        let frames = Rc::new(Cell::new(0));
        for (port, spine) in [(PortId(2), 1), (PortId(3), 2)] {
            let ends = [((0, port), (spine, PortId(0))), ((spine, PortId(0)), (0, port))];
            for (from, to) in ends {
                let (lost, frames) = (lost.clone(), frames.clone());
                let fate = move |_: &Packet| {
                    let is_lost = lost.contains(&frames.replace(frames.get() + 1));
                    if is_lost { Fate::Corrupted } else { Fate::Arrives }
                };
                fabric.connect(from, to, Duration::from_us(1), fate, |_| false);
            }
        }
        fabric.start();
        fabric
    }

    fn both(self, schedule: &[(Time, Happening)], lost: &BTreeSet<usize>) -> [Outcome; 2] {
        self.both_beside(schedule, &[], lost)
    }

    /// Runs a schedule, with packets that arrive at the spines from the other leaf.
    fn run(self, text: &str, schedule: &[(Time, Happening)], others: &[Other], lost: &BTreeSet<usize>) -> Outcome {
        let mut fabric = self.fabric(text, lost);
        for (number, (at, spine, arrival)) in (1_000_000..).zip(others) {
            fabric.enter(*at, *spine, PortId(1), Packet { frame: number, ..arrival.packet() });
        }
        run(&mut fabric, schedule)
    }

    fn both_beside(self, schedule: &[(Time, Happening)], others: &[Other], lost: &BTreeSet<usize>) -> [Outcome; 2] {
        let texts = [self.in_rust(), self.in_p4()];
        let [rust, p4] = texts.map(|text| self.run(&text, schedule, others, lost));
        // The program's drops are always messages that have been read.
        [rust, p4.dropped_for(DropReason::ControlAbsorbed)]
    }
}

prop_compose! {
    fn settings()(
        threshold_segments in 20u32..150,
        congestion_after_ns in prop_oneof![Just(1_000_000u32), 10_000u32..100_000],
        lifetime_ns in prop_oneof![Just(20_000_000u32), 5_000u32..50_000],
        timeout_ns in 20_000u32..200_000,
        detours_max in prop_oneof![Just(255u8), 1u8..6],
        ingress_ns in 20u32..400,
        spines_are_told in any::<bool>(),
    ) -> Settings {
        Settings {
            threshold_segments, congestion_after_ns, lifetime_ns, timeout_ns, detours_max, ingress_ns, spines_are_told
        }
    }
}

prop_compose! {
    /// Packets to both hosts, at up to about five times their line rate.
    fn schedules()(
        gap_bytes_max in prop_oneof![Just(300u64), Just(800), Just(1_600)],
        packets in prop::collection::vec(
            (0u64..1_600, 0u32..12, prop_oneof![3 => Just(0u32), 1 => Just(1)], 0u8..8, any::<bool>(), 64u32..1_519),
            1..250,
        ),
    ) -> Vec<(Time, Happening)> {
        schedule(packets.into_iter().map(|(gap_bytes, flow, to, class, is_capable, bytes)| {
            let port = PortId((flow % 4) as u16);
            (gap_bytes % gap_bytes_max, Arrival { port, flow, to, class, is_capable, bytes, mark: None })
        }))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_detours_and_releases_as_rimm_in_rust(
        settings in settings(),
        schedule in schedules(),
        lost in prop_oneof![Just(BTreeSet::new()), prop::collection::btree_set(0usize..600, 1..8)],
    ) {
        let [rust, p4] = settings.both(&schedule, &lost);
        prop_assert_eq!(rust.difference(&p4), None);
    }
}

/// A setting that is compared with times or depths.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Threshold,
    CongestionAfter,
    Lifetime,
    Timeout,
    Detours,
}

impl Bound {
    fn of(self, settings: Settings, value: u32) -> Settings {
        match self {
            Self::Threshold => Settings { threshold_segments: value, ..settings },
            Self::CongestionAfter => Settings { congestion_after_ns: value, ..settings },
            Self::Lifetime => Settings { lifetime_ns: value, ..settings },
            Self::Timeout => Settings { timeout_ns: value, ..settings },
            Self::Detours => Settings { detours_max: value as u8, ..settings },
        }
    }

    /// The search range of the bound.
    fn range(self, part: u32) -> (u32, u32) {
        match self {
            Self::Threshold => (20 + part, 150),
            Self::CongestionAfter => (5_000 + 700 * part, 200_000),
            Self::Lifetime => (1_000 + 300 * part, 100_000),
            // A packet must be able to return within it.
            Self::Timeout => (20_000 + 700 * part, 300_000),
            Self::Detours => (1 + part % 4, 30),
        }
    }
}

prop_compose! {
    /// Packets to all hosts: those to the other leaf fill the queues towards the spines, and those from there fill the
    /// spines' queues towards leaf0. Times and lengths are on a grid, so that some are equal.
    fn crowded()(
        packets in prop::collection::vec((0u64..12, 0u32..8, 0u32..8, 2u32..31), 60..200),
        others in prop::collection::vec((0u64..12, 1usize..3, 0u32..2, 2u32..31), 0..120),
    ) -> (Vec<(Time, Happening)>, Vec<Other>) {
        let arrival = |flow, to, units: u32| {
            let port = PortId((flow % 4) as u16);
            Arrival { port, flow, to, class: 0, is_capable: false, bytes: 50 * units - 20, mark: None }
        };
        let packets = schedule(packets.into_iter().map(|(gap, flow, to, units)| {
            (50 * gap, arrival(flow, [0, 0, 0, 0, 0, 1, 2, 3][to as usize], units))
        }));
        let mut at = Time::ZERO;
        let others = others.into_iter().map(|(gap, spine, to, units)| {
            at += BYTE * (50 * gap);
            (at, spine, arrival(2, to, units))
        });
        (packets, others.collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// If incrementing a bound changes the behaviour in Rust, the program behaves the same with both values.
    #[test]
    fn what_a_bound_decides_changes_with_the_same_value(
        settings in settings(),
        bound in prop::sample::select(vec![
            Bound::Threshold, Bound::CongestionAfter, Bound::Lifetime, Bound::Timeout, Bound::Detours,
        ]),
        part in 0u32..100,
        (schedule, others) in crowded(),
    ) {
        let settings = Settings { ingress_ns: 40, ..settings };
        let none = BTreeSet::new();
        let (low, high) = bound.range(part);
        let of = |value| {
            let settings = bound.of(settings, value);
            settings.run(&settings.in_rust(), &schedule, &others, &none)
        };
        let Some(last) = boundary(low, high, of) else { return Ok(()) };
        for value in [last, last + 1] {
            let [rust, p4] = bound.of(settings, value).both_beside(&schedule, &others, &none);
            prop_assert_eq!(rust.difference(&p4), None, "{:?} of {}", bound, value);
        }
    }
}

/// A message of another switch overtakes packets that arrived earlier.
#[test]
fn both_pass_on_what_another_switch_tells_itself() {
    let settings = BURST;
    let message = MessageHeader { origin: 7, port: PortId(1), is_repeated: false, depth_segments: 9 };
    let arrival = Arrival { port: PortId(0), flow: 1, to: 2, class: 0, is_capable: true, bytes: 1_000, mark: None };
    let [rust, p4] = [settings.in_rust(), settings.in_p4()].map(|text| {
        let mut fabric = settings.fabric(&text, &BTreeSet::new());
        (0..5).for_each(|_| fabric.arrive(Time::ZERO, PortId(0), arrival.packet()));
        let mut packet = arrival.packet();
        packet.push_shim(message).expect("an empty stack has room");
        fabric.arrive(Time(1), PortId(3), packet);
        assert_eq!(run(&mut fabric, &[]).endless, None);
        fabric.finish();
        fabric.ended()
    });
    assert_eq!(rust, [0, 5, 1, 2, 3, 4].map(|number| (number, DropReason::NoRoute)));
    assert_eq!(rust, p4);
}

/// A queue counts the headers that a packet got in ingress, and repetitions count from the departure of the packets
/// that carried the news: the program used to take their arrival.
#[test]
fn both_see_the_same_depths_and_tell_them_again_at_the_same_times() {
    let settings = Settings {
        threshold_segments: 20,
        congestion_after_ns: 1_000_000,
        lifetime_ns: 5_000,
        timeout_ns: 20_000,
        detours_max: 255,
        ingress_ns: 20,
        spines_are_told: false,
    };
    // Arrival in byte times, port, flow, and bytes.
    let packets = [
        (0, 0, 0, 802),
        (307, 0, 0, 451),
        (594, 0, 0, 1262),
        (1042, 0, 0, 287),
        (1068, 0, 0, 1107),
        (1252, 0, 0, 206),
        (2045, 0, 0, 596),
        (2109, 0, 0, 64),
        (2260, 0, 0, 64),
        (2881, 0, 0, 670),
        (3182, 0, 0, 930),
        (3797, 0, 0, 64),
        (4037, 0, 8, 349),
        (4037, 0, 0, 64),
        (4198, 0, 0, 941),
        (4391, 0, 8, 821),
        (4391, 2, 10, 64),
        (5094, 0, 0, 770),
        (6402, 0, 0, 1284),
        (7492, 0, 8, 811),
        (9002, 0, 8, 639),
    ];
    let place = |(bytes_before, port, flow, bytes)| {
        let arrival = Arrival { port: PortId(port), flow, to: 0, class: 0, is_capable: false, bytes, mark: None };
        (Time::ZERO + BYTE * bytes_before, Happening::Packet(arrival))
    };
    let schedule: Vec<_> = packets.into_iter().map(place).collect();
    let [rust, p4] = settings.both(&schedule, &BTreeSet::new());
    assert_eq!(rust.difference(&p4), None);
    assert_eq!((rust.left.len(), rust.ended.len()), (21, 8));
}

/// Checks that the cases above are not all empty: a burst of ten flows at twice the line rate.
#[test]
fn both_detour_a_burst() {
    let packet = |number: u64| {
        let flow = (number * 7 % 10) as u32;
        let port = PortId(1 + (number % 3) as u16);
        let arrival = Arrival { port, flow, to: 0, class: 0, is_capable: true, bytes: 1_000, mark: None };
        (Time::ZERO + BYTE * (number * 500), Happening::Packet(arrival))
    };
    let schedule: Vec<_> = (0..300).map(packet).collect();
    let settings = BURST;
    let mut fabric = settings.fabric(&settings.in_rust(), &BTreeSet::new());
    let [rust, p4] = settings.both(&schedule, &BTreeSet::new());
    assert_eq!(rust.difference(&p4), None);
    assert_eq!(rust.left.len(), 300);
    run(&mut fabric, &schedule);
    assert!(fabric.counter("detours") > Some(50), "{:?}", fabric.counter("detours"));
}
