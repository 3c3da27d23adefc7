//! SQR: without failures, copies go round and end at the same ports and times as with the mechanism in Rust. If the
//! protected link fails, the program keeps new packets in a separate queue, whereas Rust stops the queues that they are
//! in. Then the same packets leave in the same order, at other times.

use hitless_core::wire::{Duration, PortId, Time};
use hitless_switch::{DropReason, PortState};
use proptest::prelude::*;

use super::beside::{Arrival, BYTE, Happening, both, program, schedule};

/// The link to the first spine is protected, and the link to the second is its backup.
const PRIMARY: PortId = PortId(2);
const REROUTED: PortState = PortState::Rerouted { backup: PortId(3) };
/// Steady delay, failure delay, and the hold before the port is used again.
const STEADY_NS: u32 = 12_000;
const FAILURE_NS: u32 = 40_000;
const RETURN_NS: u32 = 20_000;
const WINDOW_NS: u32 = 15_000;

/// `ingress_ns` is also the time of a mirrored packet to its queue.
fn switch(ingress_ns: u32, queue_bytes: u32) -> String {
    format!(
        "[switch]\npreset = \"ideal\"\ningress_latency = \"{ingress_ns} ns\"\nmirror_latency = \"{ingress_ns} ns\"\n\
         buffer = {{ kind = \"static\", per_port = \"{queue_bytes} B\" }}\n"
    )
}

/// Packets of class 1 are protected, or with `all` of every class.
fn texts(ingress_ns: u32, queue_bytes: u32, all: bool) -> [String; 2] {
    let classes = if all { "" } else { "classes = [1]\n" };
    let rust = format!(
        "[[mechanism]]\nkind = \"sqr\"\nlinks = [\"leaf0->spine0\"]\n{classes}steady_delay = \"{STEADY_NS} ns\"\n\
         finds_idle_ports = false\nfailure_delay = \"{FAILURE_NS} ns\"\nutilization_window = \"{WINDOW_NS} ns\"\nreturn_hold = \"{RETURN_NS} ns\"\n"
    );
    // In egress a time is over when it surely is: a tick later. Class 1 is the code point 8.
    let commands = format!(
        "table_add ingress.ways.watched ingress.ways.follow 2 =>\n\
         table_add egress.protected egress.mark 2 {} => 1\n\
         table_set_default ingress.ways.settings.delays ingress.ways.settings.set_delays \
         {STEADY_NS} {FAILURE_NS} {WINDOW_NS} {RETURN_NS}\n\
         table_set_default egress.settings.delays egress.settings.set_delays {} {} {} {RETURN_NS}\n",
        if all { "0&&&0" } else { "8&&&0x3f" },
        STEADY_NS + 1,
        FAILURE_NS + 1,
        WINDOW_NS + 1
    );
    let queues = "[[mechanism.queue]]\nports = [\"leaf0\"]\n[[mechanism.queue]]\nports = [\"leaf0->spine0\"]\n";
    let p4 = program("sqr", &commands, queues);
    [rust, p4].map(|mechanism| format!("{}{mechanism}", switch(ingress_ns, queue_bytes)))
}

/// The program's drops are always copies that are no longer needed. Nothing happens in the first window, which begins
/// at time 0 in the program and with the first packet in Rust.
fn difference(texts: [String; 2], schedule: &[(Time, Happening)]) -> Option<String> {
    let late = |&(at, happening): &(Time, Happening)| (at + Duration::from_ns(u64::from(WINDOW_NS)), happening);
    let [rust, p4] = both(texts, &schedule.iter().map(late).collect::<Vec<_>>());
    rust.difference(&p4.dropped_for(DropReason::CopyRetired))
}

/// Failures of the link, with or without a backup, and repairs, each after a number of byte times.
fn failures(at_bytes: &[(u64, bool, u64, u64)]) -> Vec<(Time, Happening)> {
    let mut at = Time::ZERO;
    let mut all = Vec::new();
    for &(fails_after, has_backup, rerouted_after, up_after) in at_bytes {
        let states = [
            (fails_after, Some(PortState::Down)),
            (rerouted_after, has_backup.then_some(REROUTED)),
            (up_after, Some(PortState::Up)),
        ];
        for (after, state) in states {
            at += BYTE * after;
            all.extend(state.map(|state| (at, Happening::State(PRIMARY, state))));
        }
    }
    all
}

fn merged(packets: Vec<(Time, Happening)>, failures: Vec<(Time, Happening)>) -> Vec<(Time, Happening)> {
    let mut all: Vec<_> = packets.into_iter().chain(failures).collect();
    all.sort_by_key(|&(at, _)| at);
    all
}

prop_compose! {
    fn schedules()(
        packets in prop::collection::vec(
            (0u64..1_800, 0u32..8, prop_oneof![4 => Just(2u32), 1 => 0u32..4], 0u8..3, 64u32..1_519), 1..150,
        ),
        at_bytes in prop::collection::vec(
            (1u64..60_000, any::<bool>(), 1u64..40_000, 1u64..90_000), 0..4,
        ),
    ) -> Vec<(Time, Happening)> {
        let packets = schedule(packets.into_iter().map(|(gap_bytes, flow, to, class, bytes)| {
            let port = PortId((flow % 2) as u16);
            (gap_bytes, Arrival { port, flow, to, class, is_capable: true, bytes, mark: None })
        }));
        merged(packets, failures(&at_bytes))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_program_copies_and_sends_again_as_sqr_in_rust(
        schedule in schedules(),
        ingress_ns in prop_oneof![Just(20u32), 20u32..400],
        queue_bytes in prop_oneof![Just(1_000_000u32), 5_000u32..20_000],
        all in any::<bool>(),
    ) {
        let is_packet = |happening: &Happening| matches!(happening, Happening::Packet(_));
        let schedule: Vec<_> = schedule.into_iter().filter(|(_, happening)| is_packet(happening)).collect();
        prop_assert_eq!(difference(texts(ingress_ns, queue_bytes, all), &schedule), None);
    }

    #[test]
    fn whatever_becomes_of_the_link_every_packet_leaves(schedule in schedules(), all in any::<bool>()) {
        let packets = schedule.iter().filter(|(_, happening)| matches!(happening, Happening::Packet(_))).count() as u32;
        for outcome in both(texts(100, 1_000_000, all), &schedule) {
            let mut left: Vec<u32> = outcome.left.iter().map(|(.., packet)| packet.frame).collect();
            left.sort_unstable();
            left.dedup();
            prop_assert_eq!(left, (0..packets).collect::<Vec<_>>());
        }
    }
}

/// Checks that the cases above are not all empty.
#[test]
fn both_send_again_what_was_on_the_link() {
    let packet = |number: u64| {
        let arrival = Arrival { port: PortId(0), flow: 1, to: 2, class: 1, is_capable: true, bytes: 1_000, mark: None };
        (Time::ZERO + BYTE * (number * 1_500), Happening::Packet(arrival))
    };
    let packets = (0..200).map(packet).collect();
    let schedule = merged(packets, failures(&[(100_000, true, 20_000, 60_000)]));
    for outcome in both(texts(100, 1_000_000, true), &schedule) {
        assert!(outcome.left.len() > 205, "{} left: nothing was sent again", outcome.left.len());
        assert!(outcome.left_by(3) > 20, "{}", outcome.left_by(3));
        let mut highest = None;
        for (.., packet) in &outcome.left {
            assert!(
                Some(packet.frame) <= highest.map_or(Some(0), |highest: u32| Some(highest + 1)),
                "{}",
                packet.frame
            );
            highest = highest.max(Some(packet.frame));
        }
        assert_eq!(highest, Some(199));
    }
}
