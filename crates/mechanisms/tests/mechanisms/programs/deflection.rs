//! Simple and Preemptive Deflection: every packet goes to the port chosen by the mechanism in Rust, with the same
//! random draws, and the same packets are dropped.

use hitless_core::wire::{PortId, Time};
use hitless_switch::PortState;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::beside::{Arrival, BYTE, Happening, Outcome, both, program};

/// Packets for the hosts' ports are deflected to the spines: bits 2 and 3.
const ENTRIES: &str = "table_add ingress.relieved ingress.relieve 0 =>\n\
     table_add ingress.relieved ingress.relieve 1 =>\n";

/// Ports with two queues: with a single queue, the depth that a program sees would not include the frame on the line.
fn switch(queue_bytes: u32, ingress_ns: u32) -> String {
    format!(
        "[switch]\npreset = \"ideal\"\ningress_latency = \"{ingress_ns} ns\"\nscheduler = \"strict\"\n\
         queues_per_port = 2\nbuffer = {{ kind = \"static\", per_port = \"{} B\" }}\n",
        2 * queue_bytes
    )
}

fn simple(queue_bytes: u32, ingress_ns: u32, to_arrival_port: bool) -> [String; 2] {
    let switch = switch(queue_bytes, ingress_ns);
    let rust = format!(
        "[[mechanism]]\nkind = \"simple-deflection\"\nports = [\"leaf0->h0\", \"leaf0->h1\"]\n\
         to_arrival_port = {to_arrival_port}\n"
    );
    let circle = "table_set_default ingress.towards_switches ingress.set_switches 0xc 2\n\
         table_add ingress.circle ingress.start_at 0 => 2\ntable_add ingress.circle ingress.start_at 1 => 3\n";
    // The position of the arrival port stays in the circle, and is never free.
    let not_back = "table_add ingress.towards_switches ingress.set_switches 2 => 0x8 2\n\
         table_add ingress.towards_switches ingress.set_switches 3 => 0x4 2\n";
    let not_back = if to_arrival_port { "" } else { not_back };
    let commands = format!("{ENTRIES}{circle}{not_back}");
    let p4 = program("simple-deflection", &commands, "random_stream = \"simple deflection\"\n");
    [rust, p4].map(|mechanism| format!("{switch}{mechanism}"))
}

fn preemptive(queue_bytes: u32, ingress_ns: u32, alpha_thousandths: u32) -> [String; 2] {
    let switch = switch(queue_bytes, ingress_ns);
    let rust = format!(
        "[[mechanism]]\nkind = \"preemptive-deflection\"\nports = [\"leaf0->h0\", \"leaf0->h1\"]\nalpha = {:?}\n",
        f64::from(alpha_thousandths) / 1_000.0
    );
    let commands = format!(
        "{ENTRIES}table_set_default ingress.draw.towards_switches ingress.draw.set_switches 0xc\n\
         table_set_default ingress.settings ingress.set_test {queue_bytes} {alpha_thousandths}\n"
    );
    let p4 = program("preemptive-deflection", &commands, "random_stream = \"preemptive deflection\"\n");
    [rust, p4].map(|mechanism| format!("{switch}{mechanism}"))
}

prop_compose! {
    /// Packets to both hosts and to the spines, in both queues, with and without marks, and links that fail and return.
    fn schedules()(
        happenings in prop::collection::vec(
            (
                0u64..700,
                prop_oneof![12 => Just(None), 1 => (2u16..4, any::<bool>()).prop_map(Some)],
                (0u32..40, 0u32..4, 0u8..8, any::<bool>(), 64u32..1_500),
                prop::option::of((0u32..200_000, 0u8..4)),
            ),
            1..300,
        ),
    ) -> Vec<(Time, Happening)> {
        let mut at = Time::ZERO;
        let place = |(gap_bytes, state, packet, mark): (u64, Option<(u16, bool)>, _, _)| {
            at += BYTE * gap_bytes;
            let (flow, to, class, is_capable, bytes): (u32, u32, u8, bool, u32) = packet;
            let port = PortId((flow % 4) as u16);
            let arrival = Arrival { port, flow, to: to / 2, class, is_capable, bytes, mark };
            let happening = match state {
                Some((port, true)) => Happening::State(PortId(port), PortState::Up),
                Some((port, false)) => Happening::State(PortId(port), PortState::Down),
                None => Happening::Packet(arrival),
            };
            (at, happening)
        };
        happenings.into_iter().map(place).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_deflects_as_simple_deflection_in_rust(
        schedule in schedules(),
        queue_bytes in 3_000u32..12_000,
        ingress_ns in prop_oneof![Just(0u32), 1u32..400],
        to_arrival_port in any::<bool>(),
    ) {
        let [rust, p4] = both(simple(queue_bytes, ingress_ns, to_arrival_port), &schedule);
        prop_assert_eq!(rust.difference(&p4), None);
    }
}

proptest! {
    // The same cases each time: Rust judges a queue that is exactly at its threshold with rounding.
    #![proptest_config(ProptestConfig {
        cases: 60,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_program_deflects_as_preemptive_deflection_in_rust(
        schedule in schedules(),
        queue_bytes in 3_000u32..12_000,
        ingress_ns in prop_oneof![Just(0u32), 1u32..400],
        alpha in 50u32..1_000,
    ) {
        let [rust, p4] = both(preemptive(queue_bytes, ingress_ns, alpha), &schedule);
        prop_assert_eq!(rust.difference(&p4), None);
    }
}

/// Twice the capacity of the hosts' lines, for long enough to fill windows.
fn overload() -> Vec<(Time, Happening)> {
    let packet = |number: u64| {
        let flow = (number * 7 % 40) as u32;
        let mark = Some((1_500 * (number as u32 * 13 % 97), (number % 3) as u8));
        let (port, to, class) = (PortId(2 + (number % 2) as u16), (number % 2) as u32, (flow % 8) as u8);
        let arrival = Arrival { port, flow, to, class, is_capable: true, bytes: 700 + flow, mark };
        (Time::ZERO + BYTE * (number * 180), Happening::Packet(arrival))
    };
    (0..6_000).map(packet).collect()
}

fn assert_same(texts: [String; 2]) -> Outcome {
    let [rust, p4] = both(texts, &overload());
    assert_eq!(rust.difference(&p4), None);
    rust
}

#[test]
fn full_queues_are_relieved_by_both_spines_until_they_are_full() {
    let found = assert_same(simple(10_000, 100, true));
    let counts = [found.left_by(0), found.left_by(2), found.left_by(3), found.ended.len()];
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}

#[test]
fn packets_of_low_priority_are_deflected_before_queues_are_full() {
    let found = assert_same(preemptive(10_000, 100, 500));
    let counts = [found.left_by(0), found.left_by(2), found.left_by(3), found.ended.len()];
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
}
