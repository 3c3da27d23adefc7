//! AFQ: every packet gets the same queue and mark as from the mechanism in Rust, and the same packets are dropped.

use std::fmt::Write;

use hitless_core::wire::{PortId, Time};
use proptest::prelude::*;

use super::beside::{Arrival, BYTE, Happening, Outcome, both, program, schedule};

#[derive(Clone, Copy, Debug)]
struct Settings {
    queues: u8,
    bytes_per_round: u32,
    ecn_rounds: u8,
    buffer_bytes: u32,
    ingress_ns: u32,
}

impl Settings {
    fn switch(self) -> String {
        let Self { buffer_bytes, ingress_ns, .. } = self;
        format!(
            "[switch]\npreset = \"ideal\"\ningress_latency = \"{ingress_ns} ns\"\n\
             buffer = {{ kind = \"static\", per_port = \"{buffer_bytes} B\" }}\n"
        )
    }

    /// Only features of the program: two rows of checksums. Class 1 has weight 4.
    fn in_rust(self) -> String {
        let Self { queues, bytes_per_round, ecn_rounds, .. } = self;
        format!(
            "{}[[mechanism]]\nkind = \"afq\"\nports = [\"leaf0->h0\"]\nqueues = {queues}\n\
             bytes_per_round = \"{bytes_per_round} B\"\necn_rounds = {ecn_rounds}\nclass_weights = [1.0, 4.0]\n\
             sketch = {{ rows = 2, hash = \"checksums\" }}\n",
            self.switch()
        )
    }

    /// Class 1 is the code point 8.
    fn in_p4(self) -> String {
        let Self { queues, bytes_per_round, ecn_rounds, .. } = self;
        let mut commands = format!(
            "table_add ingress.fair_ports ingress.queue_fairly 0 => 0 {bytes_per_round} {ecn_rounds} 0xffffff\n\
             table_add ingress.weights ingress.charge 8 => 16384\n"
        );
        for round in 0..u32::from(queues) {
            let (first, last) = (round * bytes_per_round, (round + 1) * bytes_per_round - 1);
            writeln!(commands, "table_add ingress.rounds_ahead ingress.set_rounds {first}->{last} => {round} 1")
                .expect("a string takes text");
        }
        let rounds = format!("[[mechanism.rounds]]\nports = [\"leaf0->h0\"]\nqueues = {queues}\n");
        format!("{}{}", self.switch(), program("afq", &commands, &rounds))
    }

    fn both(self, schedule: &[(Time, Happening)]) -> [Outcome; 2] {
        both([self.in_rust(), self.in_p4()], schedule)
    }
}

prop_compose! {
    fn settings()(
        queues in prop_oneof![Just(4u8), Just(8), Just(32)],
        bytes_per_round in prop_oneof![Just(1_518u32), 600u32..4_000],
        ecn_rounds in 1u8..6,
        // The minimum is what a flow of weight 4 may have in all queues: less is refused.
        buffer_flows in 1u32..3,
        ingress_ns in prop_oneof![Just(0u32), 1u32..400],
    ) -> Settings {
        let buffer_bytes = buffer_flows * 4 * u32::from(queues) * bytes_per_round;
        Settings { queues, bytes_per_round, ecn_rounds, buffer_bytes, ingress_ns }
    }
}

prop_compose! {
    /// Packets from three ports, most of them to h0 through the fair port; some go elsewhere.
    fn schedules()(
        packets in prop::collection::vec(
            (0u64..2_000, 0u32..9, prop_oneof![8 => Just(0u32), 1 => 1u32..4], 0u8..3, any::<bool>(), 64u32..1_519),
            1..200,
        ),
    ) -> Vec<(Time, Happening)> {
        schedule(packets.into_iter().map(|(gap_bytes, flow, to, class, is_capable, bytes)| {
            let port = PortId([1, 2, 3][flow as usize % 3]);
            (gap_bytes, Arrival { port, flow, to, class, is_capable, bytes, mark: None })
        }))
    }
}

/// The same schedule eight times as fast, with frames that are fractions of a flow's bytes per round, so that their
/// sums exactly fill all rounds.
fn with_parts_of_a_round(schedule: &[(Time, Happening)], bytes_per_round: u32) -> Vec<(Time, Happening)> {
    let place = |(at, happening): &(Time, Happening)| match happening {
        Happening::Packet(arrival) => {
            let parts = [1, 2, 3, 6].map(|part| bytes_per_round / part);
            let fitting: Vec<_> = parts.into_iter().filter(|bytes| (64..=1_518).contains(bytes)).collect();
            let bytes = fitting[arrival.bytes as usize % fitting.len()];
            // Two flows at a port are soon ahead by all rounds.
            let flow = arrival.flow % 2;
            (Time(at.0 / 8), Happening::Packet(Arrival { bytes, flow, port: PortId(1), class: 0, ..*arrival }))
        }
        other => (Time(at.0 / 8), *other),
    };
    schedule.iter().map(place).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_queues_marks_and_drops_as_afq_in_rust(settings in settings(), schedule in schedules()) {
        let [rust, p4] = settings.both(&schedule);
        prop_assert_eq!(rust.difference(&p4), None);
    }

    #[test]
    fn what_fits_into_all_rounds_to_the_byte_is_judged_alike(
        settings in settings(),
        rounds in 100u32..600,
        schedule in schedules(),
    ) {
        let settings = Settings { bytes_per_round: 6 * rounds, queues: 4, buffer_bytes: 16 * 6 * rounds, ..settings };
        let schedule = with_parts_of_a_round(&schedule, settings.bytes_per_round);
        let [rust, p4] = settings.both(&schedule);
        prop_assert_eq!(rust.difference(&p4), None);
    }
}

/// Checks that the cases above are not all empty: packets of ten flows at three times the line rate.
#[test]
fn both_drop_mark_and_reorder() {
    let packet = |number: u64| {
        let flow = (number * 7 % 10) as u32;
        let arrival = Arrival {
            port: PortId(1 + (number % 3) as u16),
            flow,
            to: 0,
            class: (flow % 2) as u8,
            is_capable: !flow.is_multiple_of(3),
            bytes: 300 + 100 * flow,
            mark: None,
        };
        (Time::ZERO + BYTE * (number * 250), Happening::Packet(arrival))
    };
    let schedule: Vec<_> = (0..2_000).map(packet).collect();
    let settings = Settings { queues: 8, bytes_per_round: 1_518, ecn_rounds: 4, buffer_bytes: 60_000, ingress_ns: 0 };
    let [rust, p4] = settings.both(&schedule);
    assert_eq!(rust.difference(&p4), None);
    assert!(rust.marked() > 100 && rust.ended.len() > 100, "{} {}", rust.marked(), rust.ended.len());
    assert!(!rust.left.iter().map(|(.., packet)| packet.frame).is_sorted(), "nothing was reordered");
}
