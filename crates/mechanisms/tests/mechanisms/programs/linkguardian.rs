//! LinkGuardian: either end of a link, or both, as the program, with the other in Rust. Every frame on the link is the
//! same in its turn: data, repairs, dummies, acknowledgements and notifications; and so is what leaves behind it.

use std::cell::RefCell;
use std::rc::Rc;

use hitless_switch::DropReason;
use hitless_switch::testing::{Fate, Harness};
use hitless_wire::linkguardian::{AckHeader, DataHeader, LossNotification};
use hitless_wire::packet::MINIMUM_FRAME_BYTES;
use hitless_wire::{Duration, Packet, PortId, Shim, ShimId, Time};
use proptest::prelude::*;

use super::beside::{Arrival, Happening, Outcome, program_on, route, run, switch_of};

/// One byte on the line.
const BYTE: Duration = Duration::from_ps(800);
/// The port of the protected link at leaf0; at spine0 it is port 0.
const LINK: PortId = PortId(2);
const TIMEOUT_NS: u32 = 13_500;

const SWITCH: &str = "[switch]\npreset = \"ideal\"\nmirror_latency = \"30 ns\"\nloopback_latency = \"200 ns\"\n\
     buffer = { kind = \"static\", per_port = \"1 MB\" }\n";

/// What both are set to.
#[derive(Clone, Copy, Debug)]
struct Settings {
    dummies: u8,
    acks: u8,
    copies: u8,
}

impl Settings {
    fn in_rust(self) -> String {
        let Self { dummies, acks, copies } = self;
        format!(
            "{SWITCH}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine0\"\ndummy_count = {dummies}\n\
             ack_count = {acks}\ncopies = {copies}\nack_no_timeout = \"{TIMEOUT_NS} ns\"\n"
        )
    }

    /// The end at a switch: its port of the link, that which recirculates, and whether it sends.
    fn in_p4(self, switch: &str, (port, recirculation): (u16, u16), sends: bool) -> String {
        let Self { dummies, acks, copies } = self;
        let (sender, receiver) = (u8::from(sends), u8::from(!sends));
        let mut commands = String::new();
        for half in ["ingress", "egress"] {
            commands += &format!(
                "table_set_default {half}.settings.link {half}.settings.set_link {port} {recirculation} {sender} {receiver}\n\
                 table_set_default {half}.settings.protection {half}.settings.set_protection {dummies} {acks} {copies} \
                 {TIMEOUT_NS} 1000000 1000000\n"
            );
        }
        let peer = if switch == "leaf0" { "spine0" } else { "leaf0" };
        let queues: String = [200, 1, 1]
            .map(|priority| format!("[[mechanism.queue]]\nports = [\"{switch}->{peer}\"]\npriority = {priority}\n"))
            .concat();
        format!("{SWITCH}{}", program_on(switch, "linkguardian", &commands, &queues))
    }
}

/// A frame on the link: which way it goes, its length, the packet in it, and its headers of the link.
type OnLink = (bool, u32, u32, Vec<(ShimId, Vec<u8>)>);

/// The number of the packet. A frame that carries none is made of nothing in Rust, and of the packet at hand in P4.
fn number_of(packet: &Packet) -> u32 {
    let carries_packet = packet.frame_bytes > MINIMUM_FRAME_BYTES || packet.shims.is_empty();
    if carries_packet { packet.frame } else { 0 }
}

fn on_link(is_forward: bool, packet: &Packet) -> OnLink {
    let headers = [DataHeader::ID, AckHeader::ID, LossNotification::ID];
    let headers = headers.into_iter().filter_map(|id| {
        let found = packet.shims.iter().find(|(of, _)| *of == id);
        found.map(|(_, bytes)| (id, bytes.to_vec()))
    });
    (is_forward, packet.frame_bytes, number_of(packet), headers.collect())
}

/// leaf0 and spine0, and the frames on their link. `is_lost` tells by the number of the frame that carries a number of
/// the sender whether it is lost.
fn fabric(texts: [&str; 2], is_lost: impl Fn(usize) -> bool + 'static) -> (Harness, Rc<RefCell<Vec<OnLink>>>) {
    let switches = [switch_of(texts[0], "leaf0"), switch_of(texts[1], "spine0")].into();
    let route = |switch: usize, packet: &Packet| match (switch, route(packet.destination)) {
        (0, port) => Some(port),
        (_, PortId(0..=1)) => Some(PortId(0)),
        _ => Some(PortId(1)),
    };
    let frames = Rc::new(RefCell::new(Vec::new()));
    let mut fabric = Harness::new(switches, route);
    let (forward, back) = (frames.clone(), frames.clone());
    let mut numbered = 0;
    let fate = move |packet: &Packet| {
        forward.borrow_mut().push(on_link(true, packet));
        // A packet whose repair is lost is given up by another clock: up to 100 ns later.
        let is_repair = packet.shims.get::<DataHeader>().is_some_and(|data| data.retransmitted);
        numbered += usize::from(!is_repair);
        if !is_repair && is_lost(numbered) { Fate::Corrupted } else { Fate::Arrives }
    };
    fabric.connect((0, LINK), (1, PortId(0)), Duration::from_us(1), fate, |_| false);
    let fate = move |packet: &Packet| {
        back.borrow_mut().push(on_link(false, packet));
        Fate::Arrives
    };
    fabric.connect((1, PortId(0)), (0, LINK), Duration::from_us(1), fate, |_| false);
    fabric.start();
    (fabric, frames)
}

/// Packets that go over the link, those that come back over it, and which of the frames on it are lost.
#[derive(Clone, Debug)]
struct Schedule {
    forward: Vec<(Time, Happening)>,
    back: Vec<(Time, Arrival)>,
    lost: Vec<usize>,
}

/// What leaves, and what is on the link.
fn run_with(texts: [&str; 2], schedule: &Schedule) -> (Outcome, Vec<OnLink>) {
    let lost = schedule.lost.clone();
    let (mut fabric, frames) = fabric(texts, move |number| lost.contains(&number));
    for (number, (at, arrival)) in (1_000_000..).zip(&schedule.back) {
        fabric.enter(*at, 1, PortId(1), Packet { frame: number, ..arrival.packet() });
    }
    let mut outcome = run(&mut fabric, &schedule.forward);
    assert_eq!(fabric.violated_invariants(), Vec::<String>::new());
    // What a program drops has no reason of its own. A copy that has done its work ends at a recirculation port, beside
    // what ends elsewhere at the same moment: which of them is first is no promise.
    let ended = fabric.world.ended.iter().map(|ended| (number_of(&ended.packet), DropReason::Mechanism));
    outcome.ended = ended.collect();
    outcome.ended.sort_by_key(|(number, _)| *number);
    let frames = frames.borrow().clone();
    (outcome, frames)
}

/// Where a run with the program at one end or both differs from one in Rust.
fn difference(settings: Settings, schedule: &Schedule) -> Option<String> {
    let rust = settings.in_rust();
    let sender = settings.in_p4("leaf0", (2, 4), true);
    let receiver = settings.in_p4("spine0", (0, 2), false);
    let (expected, frames) = run_with([&rust, &rust], schedule);
    for (name, ends) in [("sender", [&sender, &rust]), ("receiver", [&rust, &receiver]), ("both", [&sender, &receiver])]
    {
        let (found, found_frames) = run_with([ends[0].as_str(), ends[1].as_str()], schedule);
        let differs = frames.iter().zip(&found_frames).position(|(one, other)| one != other);
        if let Some(at) = differs {
            return Some(format!("{name}: frame {at}: {:?}\nand {:?}", frames[at], found_frames[at]));
        }
        if frames.len() != found_frames.len() {
            return Some(format!("{name}: {} and {} frames", frames.len(), found_frames.len()));
        }
        if let Some(difference) = expected.difference(&found) {
            return Some(format!("{name}: {difference}"));
        }
    }
    None
}

prop_compose! {
    fn schedules()(
        forward in prop::collection::vec((0u64..3_000, 0u32..6, 64u32..1_519), 1..120),
        back in prop::collection::vec((0u64..6_000, 0u32..6, 64u32..1_519), 0..40),
        lost in prop::collection::btree_set(1usize..150, 0..8),
    ) -> Schedule {
        let mut at = Time::ZERO;
        let arrival = |flow: u32, to, bytes| {
            let port = PortId((flow % 2) as u16);
            Arrival { port, flow, to, class: (flow % 8) as u8, is_capable: true, bytes, mark: None }
        };
        let forward = forward.into_iter().map(|(gap_bytes, flow, bytes)| {
            at += BYTE * gap_bytes;
            (at, Happening::Packet(arrival(flow, 2, bytes)))
        });
        let forward = forward.collect();
        let mut at = Time::ZERO;
        let back = back.into_iter().map(|(gap_bytes, flow, bytes)| {
            at += BYTE * gap_bytes;
            (at, arrival(flow, flow % 2, bytes))
        });
        Schedule { forward, back: back.collect(), lost: lost.into_iter().collect() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_on_the_link_are_those_of_linkguardian_in_rust(
        dummies in 1u8..4,
        acks in 1u8..4,
        schedule in schedules(),
    ) {
        prop_assert_eq!(difference(Settings { dummies, acks, copies: 1 }, &schedule), None);
    }
}

/// That the cases above are not all empty.
#[test]
fn both_repair_what_is_lost_in_its_order() {
    let arrival =
        |to: u32| Arrival { port: PortId(0), flow: 1, to, class: 0, is_capable: true, bytes: 1_000, mark: None };
    let at = |number: u64| Time::ZERO + BYTE * (number * 1_500);
    let forward = (0..100).map(|number| (at(number), Happening::Packet(arrival(2)))).collect();
    let back = (0..30).map(|number| (at(3 * number), arrival(0))).collect();
    let schedule = Schedule { forward, back, lost: vec![5, 7, 31, 41, 61, 63, 81] };
    let settings = Settings { dummies: 1, acks: 1, copies: 1 };
    assert_eq!(difference(settings, &schedule), None);
    let rust = settings.in_rust();
    let (outcome, frames) = run_with([&rust, &rust], &schedule);
    assert_eq!(outcome.left.len(), 130, "nothing is lost");
    let is_notice = |frame: &&OnLink| frame.3.iter().any(|(id, _)| *id == LossNotification::ID);
    assert!(frames.iter().filter(is_notice).count() >= 3, "{frames:?}");
}
