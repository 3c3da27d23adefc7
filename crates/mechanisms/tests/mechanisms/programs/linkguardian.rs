//! LinkGuardian: either end of a link, or both, as the program, with the other in Rust. Every frame on the link is the
//! same at the same time: data, repairs, dummies, acknowledgements and notifications; and so are the departures. Any
//! frame may be lost.
//!
//! A line takes a nanosecond for a byte, and the timer packets of the Rust mechanism come every nanosecond, so that
//! both give up a packet at the same time.
//!
//! The buffer is shared and has room for everything, so that every queue of both is a managed one. With a static buffer
//! the recirculation port of Rust's sender, where no hook looks at queues, has a plain FIFO. A FIFO has a returning
//! copy in front of a copy made at the same time, whereas a managed queue has it behind. Either is right, and decides
//! which of the two is repaired first.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Duration, Packet, PortId, Shim, ShimId, Time};
use hitless_mechanisms::linkguardian::headers::{AckHeader, DataHeader, LossNotification};
use hitless_switch::DropReason;
use hitless_switch::testing::{Fate, Harness};
use proptest::prelude::*;

use super::beside::{Arrival, Happening, Outcome, advance, feed, program_on, route, run, switch_at};

const BYTE: Duration = Duration::from_ns(1);
const RATE: &str = "8 Gbps";
/// Time when the schedule is over and nothing is lost any more.
const CALM_AT: Time = Time(1_000_000_000);
/// The port of the protected link at leaf0; at spine0 it is port 0.
const LINK: PortId = PortId(2);
const TIMEOUT_NS: u32 = 13_500;

const SWITCH: &str = "[switch]\npreset = \"ideal\"\nmirror_latency = \"30 ns\"\nloopback_latency = \"200 ns\"\n\
     buffer = { kind = \"shared\", total = \"4 MB\", alpha = 1.0 }\n";

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
            "{SWITCH}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine0\"\n\
             buffering = \"recirculation\"\nadmission_control = false\ndummy_count = {dummies}\nack_count = {acks}\ncopies = {copies}\nack_no_timeout = \"{TIMEOUT_NS} ns\"\n\
             timer_period = \"1 ns\"\n"
        )
    }

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

#[derive(Clone, Debug, PartialEq)]
struct OnLink {
    last_bit_at: Time,
    is_forward: bool,
    frame_bytes: u32,
    number: u32,
    headers: Vec<(ShimId, Vec<u8>)>,
}

impl OnLink {
    fn data(&self) -> Option<DataHeader> {
        let data = self.headers.iter().find(|(id, _)| *id == DataHeader::ID);
        data.map(|(_, bytes)| DataHeader::parse(bytes))
    }
}

type Frames = Rc<RefCell<Vec<OnLink>>>;

/// The number of the packet. In Rust a frame without a packet is made from nothing, in P4 from the current packet.
fn number_of(packet: &Packet) -> u32 {
    let carries_packet = packet.frame_bytes > MINIMUM_FRAME_BYTES || packet.shims.is_empty();
    if carries_packet { packet.frame } else { 0 }
}

fn on_link(last_bit_at: Time, is_forward: bool, packet: &Packet) -> OnLink {
    let headers = [DataHeader::ID, AckHeader::ID, LossNotification::ID];
    let headers = headers.into_iter().filter_map(|id| {
        let found = packet.shims.iter().find(|(of, _)| *of == id);
        found.map(|(_, bytes)| (id, bytes.to_vec()))
    });
    let (frame_bytes, number, headers) = (packet.frame_bytes, number_of(packet), headers.collect());
    OnLink { last_bit_at, is_forward, frame_bytes, number, headers }
}

/// leaf0 and spine0, the frames on their link, and whether frames are lost: in each direction (there and back) those
/// with numbers in `lost`.
fn fabric(texts: [&str; 2], lost: &[BTreeSet<usize>; 2]) -> (Harness, Frames, Rc<Cell<bool>>) {
    let switches = [switch_at(RATE, texts[0], "leaf0"), switch_at(RATE, texts[1], "spine0")].into();
    let route = |switch: usize, packet: &Packet| match (switch, route(packet.destination)) {
        (0, port) => Some(port),
        (_, PortId(0..=1)) => Some(PortId(0)),
        _ => Some(PortId(1)),
    };
    let (frames, is_lossy) = (Rc::new(RefCell::new(Vec::new())), Rc::new(Cell::new(true)));
    let mut fabric = Harness::new(switches, route);
    let ends = [(0, LINK), (1, PortId(0))];
    for ((from, to), lost) in [(ends[0], ends[1]), (ends[1], ends[0])].into_iter().zip(lost.clone()) {
        let (frames, is_lossy) = (frames.clone(), is_lossy.clone());
        let mut number = 0;
        let fate = move |last_bit_at: Time, packet: &Packet| {
            frames.borrow_mut().push(on_link(last_bit_at, from.0 == 0, packet));
            number += 1;
            if is_lossy.get() && lost.contains(&number) { Fate::Corrupted } else { Fate::Arrives }
        };
        fabric.connect_in_time(from, to, Duration::from_us(1), fate, |_| false);
    }
    fabric.start();
    (fabric, frames, is_lossy)
}

/// Packets over the link, packets in the reverse direction, and the lost frames in each direction.
#[derive(Clone, Debug)]
struct Schedule {
    forward: Vec<(Time, Happening)>,
    back: Vec<(Time, Arrival)>,
    lost: [BTreeSet<usize>; 2],
}

fn packet_to(to: u32) -> Arrival {
    Arrival { port: PortId(0), flow: 1, to, class: 0, is_capable: true, bytes: 1_000, mark: None }
}

fn run_with(texts: [&str; 2], schedule: &Schedule) -> (Outcome, Vec<OnLink>) {
    let (mut fabric, frames, is_lossy) = fabric(texts, &schedule.lost);
    for (number, (at, arrival)) in (1_000_000..).zip(&schedule.back) {
        fabric.enter(*at, 1, PortId(1), Packet { frame: number, ..arrival.packet() });
    }
    if let Some(endless) = feed(&mut fabric, &schedule.forward).or_else(|| advance(&mut fabric, CALM_AT)) {
        return (Outcome { endless: Some(endless), ..Outcome::default() }, Vec::new());
    }
    is_lossy.set(false);
    // A copy whose acknowledgement was lost goes round until the next one.
    let mut outcome = run(&mut fabric, &[(CALM_AT, Happening::Packet(packet_to(2)))]);
    assert_eq!(fabric.violated_invariants(), Vec::<String>::new());
    // A program's drop has no specific reason. A finished copy ends at a recirculation port, at the same time as drops
    // elsewhere: their order is not guaranteed.
    let ended = fabric.world.ended.iter().map(|ended| (number_of(&ended.packet), DropReason::Mechanism));
    outcome.ended = ended.collect();
    outcome.ended.sort_by_key(|(number, _)| *number);
    let mut frames = frames.borrow().clone();
    // Of two frames in opposite directions at the same time neither is first.
    frames.sort_by_key(|frame| (frame.last_bit_at, frame.is_forward));
    (outcome, frames)
}

/// The texts for the two ends: Rust, the program at either end, and the program at both.
fn all_ends(settings: Settings) -> [[String; 2]; 4] {
    let rust = || settings.in_rust();
    let (sender, receiver) = (|| settings.in_p4("leaf0", (2, 4), true), || settings.in_p4("spine0", (0, 2), false));
    [[rust(), rust()], [sender(), rust()], [rust(), receiver()], [sender(), receiver()]]
}

/// The first difference between runs with the program at one end or both, and a run in Rust.
fn difference(settings: Settings, schedule: &Schedule) -> Option<String> {
    let [rust, others @ ..] = all_ends(settings);
    let (expected, frames) = run_with([&rust[0], &rust[1]], schedule);
    for (name, ends) in ["sender", "receiver", "both"].into_iter().zip(&others) {
        let (found, found_frames) = run_with([&ends[0], &ends[1]], schedule);
        if let Some(endless) = &found.endless {
            return Some(format!("{name}: {endless}"));
        }
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
    /// Half of the schedules are on a grid of 20 ns, so that many events coincide: packets arrive at multiples of it,
    /// and their copies take 240, 280 or 320 ns to go round.
    fn schedules()(
        is_on_grid in any::<bool>(),
        forward in prop::collection::vec((0u64..3_000, 0u32..6, 64u32..1_519), 1..120),
        back in prop::collection::vec((0u64..6_000, 0u32..6, 64u32..1_519), 0..40),
        lost_there in prop::collection::btree_set(1usize..300, 0..12),
        lost_back in prop_oneof![Just(BTreeSet::new()), prop::collection::btree_set(1usize..300, 0..40)],
    ) -> Schedule {
        let gap = |bytes: u64| BYTE * if is_on_grid { bytes / 20 * 20 } else { bytes };
        let length = |bytes: u32| if is_on_grid { bytes.max(500) / 500 * 500 - 23 } else { bytes };
        let mut at = Time::ZERO;
        let arrival = |flow: u32, to, bytes| {
            let port = PortId((flow % 2) as u16);
            let (class, bytes) = ((flow % 8) as u8, length(bytes));
            Arrival { port, flow, to, class, is_capable: true, bytes, mark: None }
        };
        let forward = forward.into_iter().map(|(gap_bytes, flow, bytes)| {
            at += gap(gap_bytes);
            (at, Happening::Packet(arrival(flow, 2, bytes)))
        });
        let forward = forward.collect();
        let mut at = Time::ZERO;
        let back = back.into_iter().map(|(gap_bytes, flow, bytes)| {
            at += gap(gap_bytes);
            (at, arrival(flow, flow % 2, bytes))
        });
        Schedule { forward, back: back.collect(), lost: [lost_there, lost_back] }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20,
        failure_persistence: None,
        // A program that never ends takes long to detect.
        max_shrink_time: 20_000,
        ..ProptestConfig::default() })]

    #[test]
    fn frames_on_the_link_are_those_of_linkguardian_in_rust(
        dummies in 1u8..4,
        acks in 1u8..4,
        copies in 1u8..3,
        schedule in schedules(),
    ) {
        prop_assert_eq!(difference(Settings { dummies, acks, copies }, &schedule), None);
    }
}

fn repairs(frames: &[OnLink]) -> Vec<u16> {
    let repairs = frames.iter().filter_map(OnLink::data).filter(|header| header.retransmitted);
    repairs.map(|header| header.sequence.value()).collect()
}

/// A copy takes 280 ns to go round: 200 ns, and 80 ns for 1,000 bytes at 100 Gbps. At its fourth round it meets the
/// copy of another packet. The first of the two is repaired first.
#[test]
fn a_copy_that_comes_round_as_another_is_made_has_the_same_place_in_both() {
    let packet = |at: Time| (at, Happening::Packet(Arrival { bytes: 977, ..packet_to(2) }));
    let settings = Settings { dummies: 1, acks: 1, copies: 1 };
    let repaired_after = |gap_ns: u64| {
        let forward = vec![packet(Time::ZERO), packet(Time::ZERO + Duration::from_ns(gap_ns))];
        // Both packets, and the dummy between them.
        let schedule = Schedule { forward, back: Vec::new(), lost: [BTreeSet::from([1, 2, 3]), BTreeSet::new()] };
        assert_eq!(difference(settings, &schedule), None, "{gap_ns} ns");
        let rust = settings.in_rust();
        repairs(&run_with([&rust, &rust], &schedule).1)
    };
    let moment = 4 * 280;
    assert_eq!([moment - 1, moment + 1].map(repaired_after), [[0, 1], [1, 0]], "the moment is between these");
    repaired_after(moment);
}

/// Checks that the cases above are not all empty.
#[test]
fn both_repair_what_is_lost_in_its_order() {
    let at = |number: u64| Time::ZERO + BYTE * (number * 1_500);
    let forward = (0..100).map(|number| (at(number), Happening::Packet(packet_to(2)))).collect();
    let back = (0..30).map(|number| (at(3 * number), packet_to(0))).collect();
    let lost = [BTreeSet::from([5, 7, 31, 41, 61, 63, 81]), BTreeSet::new()];
    let schedule = Schedule { forward, back, lost };
    let settings = Settings { dummies: 1, acks: 1, copies: 1 };
    assert_eq!(difference(settings, &schedule), None);
    let rust = settings.in_rust();
    let (outcome, frames) = run_with([&rust, &rust], &schedule);
    assert_eq!(outcome.left.len(), 131, "nothing is lost");
    let is_notice = |frame: &&OnLink| frame.headers.iter().any(|(id, _)| *id == LossNotification::ID);
    assert!(frames.iter().filter(is_notice).count() >= 3, "{frames:?}");
}

/// Holds without another acknowledgement, which the next packet brings, and without `tail_probes` of the mechanism in
/// Rust, which are not in the paper.
#[test]
fn a_copy_goes_round_until_it_is_acknowledged_however_long_that_is() {
    let settings = Settings { dummies: 2, acks: 2, copies: 1 };
    let going_round = |texts: [&str; 2]| {
        let (mut fabric, _, is_lossy) = fabric(texts, &[BTreeSet::new(), (1..=20).collect()]);
        assert_eq!(feed(&mut fabric, &[(Time::ZERO, Happening::Packet(packet_to(2)))]), None);
        assert_eq!(advance(&mut fabric, CALM_AT), None);
        is_lossy.set(false);
        let before = fabric.world.packets.alive();
        let outcome = run(&mut fabric, &[(CALM_AT, Happening::Packet(packet_to(2)))]);
        assert_eq!(outcome.endless, None);
        // The remaining packets are dummies and acknowledgements, which wait in their queues.
        (before - fabric.world.packets.alive(), fabric.world.left.len())
    };
    for ends in all_ends(settings) {
        assert_eq!(going_round([&ends[0], &ends[1]]), (1, 2), "{ends:?}");
    }
    let probing = settings.in_rust() + "tail_probes = true\n";
    assert_eq!(going_round([&probing, &probing]), (0, 2));
}

/// Checks that the cases above are not all empty: a repair is lost, and the packets that wait for it continue without
/// it.
#[test]
fn both_give_up_what_no_repair_brings() {
    let forward = (0..50).map(|number| (Time::ZERO + BYTE * (number * 1_500), Happening::Packet(packet_to(2))));
    let schedule = |lost: &[usize]| {
        let lost = [lost.iter().copied().collect(), BTreeSet::new()];
        Schedule { forward: forward.clone().collect(), back: Vec::new(), lost }
    };
    let settings = Settings { dummies: 1, acks: 1, copies: 1 };
    let rust = settings.in_rust();
    let (_, frames) = run_with([&rust, &rust], &schedule(&[9]));
    let is_repair = |frame: &OnLink| frame.data().is_some_and(|header| header.retransmitted);
    let repair = frames.iter().filter(|frame| frame.is_forward).position(is_repair).expect("one is repaired");
    let schedule = schedule(&[9, repair + 1]);
    assert_eq!(difference(settings, &schedule), None);
    assert_eq!(run_with([&rust, &rust], &schedule).0.left.len(), 50, "51 were sent, and one is given up");
}

/// A program that ignores all acknowledgements: its copies went round for ever, and the test used to hang.
#[test]
fn a_program_that_never_ends_is_told_of_and_not_waited_for() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/linkguardian");
    let program = folder.join("linkguardian.json");
    let text = std::fs::read_to_string(&program).expect("the program is there");
    let place = "progress <= next - before\"";
    let (before, after) = text.split_once(place).expect("the comparison is there");
    let broken = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("endless-linkguardian.json");
    let after = after.replacen("\"op\":\"<=\"", "\"op\":\"<\"", 1);
    std::fs::write(&broken, format!("{before}{place}{after}")).expect("the folder for tests takes a file");
    let settings = Settings { dummies: 1, acks: 1, copies: 1 };
    let sender = settings.in_p4("leaf0", (2, 4), true);
    let endless = sender.replace(&program.display().to_string(), &broken.display().to_string());
    assert_ne!(sender, endless);
    let schedule = Schedule {
        forward: vec![(Time::ZERO, Happening::Packet(packet_to(2)))],
        back: Vec::new(),
        lost: [BTreeSet::new(), BTreeSet::new()],
    };
    let (rust, _) = run_with([&settings.in_rust(), &settings.in_rust()], &schedule);
    let (outcome, _) = run_with([&endless, &settings.in_rust()], &schedule);
    let why = rust.difference(&outcome).expect("it does not end");
    assert!(why.starts_with("it never ends: at ") && why.ends_with("packets are still there"), "{why}");
}
