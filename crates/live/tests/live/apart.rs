//! Mechanisms with switches in two processes: their headers cross the link between them, and a frame with headers of a
//! mechanism that does not run there is refused.

use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::{LinkFormat, LinkHeaderSet, PRIORITIES};
use hitless_core::wire::{PortId, PriorityMark, Shim, ShimStack};
use hitless_live::Options;
use hitless_mechanisms::linkguardian::headers::{self, DataHeader, Era, PacketType, SequenceNumber};
use hitless_mechanisms::rimm::headers::{self as of_neighbours, DetourHeader, MessageHeader, TelemetryHeader};

use super::deflected::{BY_DSCP, PREEMPTIVE, RIMM, datagram, leaf_spine};
use super::lab::{Apart, Lab};
use super::replay::counter;

const HOSTS: [&str; 4] = ["h0", "h1", "h2", "slow"];
/// The ends of the leaves (with all hosts), and of the spines.
const OF_LEAVES: [&str; 8] =
    ["h0", "h1", "h2", "slow", "leaf0->spine0", "leaf0->spine1", "leaf1->spine0", "leaf1->spine1"];
const OF_SPINES: [&str; 4] = ["spine0->leaf0", "spine1->leaf0", "spine0->leaf1", "spine1->leaf1"];
const BEHIND_SPINES: [&str; 4] = ["spine0->leaf0", "spine0->leaf0", "spine0->leaf0", "spine0->leaf1"];
const FIRST_LINK: usize = HOSTS.len();

fn leaves(text: &str) -> Lab {
    Lab::build(text, &OF_LEAVES, &HOSTS, Options::default(), (2_048, 4_096))
}

/// Both sides know the stations: a broadcast frame would loop around the two spines forever.
fn apart(text: &str) -> Apart<4> {
    let spines = Lab::build(text, &OF_SPINES, &BEHIND_SPINES, Options::default(), (2_048, 4_096));
    Apart { left: leaves(text), right: spines, wires: [0, 1, 2, 3].map(|wire| (FIRST_LINK + wire, wire)) }
}

/// The number in the payload from [`datagram`].
pub fn number_of(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[42], bytes[43], bytes[44], bytes[45]])
}

#[test]
fn rimm_brings_a_microburst_whole_and_in_order_although_the_neighbours_run_elsewhere() {
    let burst = |more: &str| {
        let mut apart = apart(&leaf_spine("90 KB", "300 KB", more));
        for number in 0..160 {
            apart.left.send(1, &datagram(1, 3, 0, number, false));
            apart.run(1);
        }
        apart.run(10_000);
        let received = apart.left.far_end(3).receive();
        for bytes in &received {
            assert_eq!(*bytes, datagram(1, 3, 0, number_of(bytes), false), "what leaves is what came");
        }
        apart.right.finish();
        (received.iter().map(|bytes| number_of(bytes)).collect::<Vec<_>>(), apart.left.finish())
    };
    let (plain, _) = burst("");
    assert!(plain.len() < 130, "a plain switch loses of it: {} of 160 came", plain.len());
    let (numbers, status) = burst(&format!("{RIMM}congestion_after = \"20 ms\"\nflowlet_gap = \"5 ms\"\n"));
    assert_eq!(numbers, (0..160).collect::<Vec<_>>(), "{:?} {:?}", status.drops, status.mechanisms);
    assert!(counter(&status, "rimm", "packets_detoured") > 30, "{:?}", status.mechanisms);
    assert!(counter(&status, "rimm", "messages_returned") > 0, "{:?}", status.mechanisms);
}

#[test]
fn a_packet_deflected_from_process_to_process_ends_when_its_hops_are_used_up() {
    // Neither leaf has room for the packets, so they go to the spines and back repeatedly.
    let text = leaf_spine("4 KB", "300 KB", &format!("{BY_DSCP}{PREEMPTIVE}"));
    let mut apart = apart(&text);
    for number in 0..400 {
        (0..3).for_each(|host| apart.left.send(host as usize, &datagram(host, 3, 46, number, false)));
    }
    apart.run(20_000);
    let received = apart.left.far_end(3).receive();
    let (leaves, spines) = (apart.left.finish(), apart.right.finish());
    assert!(!received.is_empty() && received.iter().all(|bytes| bytes[0..6] == received[0][0..6]));
    assert_eq!((leaves.frames_inside, spines.frames_inside), (0, 0), "nothing circles for ever");
    let used_up = [&leaves, &spines].map(|status| status.drops.get("time to live").copied().unwrap_or(0));
    assert!(used_up[0] + used_up[1] > 0, "{:?} {:?}", leaves.drops, spines.drops);
}

#[test]
fn a_rank_that_a_guard_has_raised_counts_in_the_next_process_too() {
    let guard = "[[mechanism]]\nkind = \"rank-guard\"\nallowance = \"10 KB\"\n";
    for of_hosts in [BY_DSCP, ""] {
        let text = leaf_spine("300 KB", "300 KB", &format!("{of_hosts}{guard}"));
        let mut leaves = leaves(&text);
        (0..40).for_each(|number| leaves.send(0, &datagram(0, 3, 56, number, false)));
        leaves.run_for(5_000_000);
        let frames: Vec<_> = (FIRST_LINK..OF_LEAVES.len()).flat_map(|wire| leaves.far_end(wire).receive()).collect();
        let shims = |bytes: &Vec<u8>| link_format().decode(&all(), bytes).expect("a frame of the link").shims;
        let marks = frames.iter().map(|bytes| shims(bytes).get::<PriorityMark>());
        let (marked, unmarked): (Vec<_>, Vec<_>) = marks.partition(Option::is_some);
        assert!(!unmarked.is_empty(), "what no guard has changed is read in the bytes again");
        assert!(!marked.is_empty() && marked.iter().flatten().all(|mark| mark.rank_bytes > 0), "{marked:?}");
    }
}

/// The headers of all links together.
fn all() -> LinkHeaderSet {
    let mut spoken = LinkHeaderSet::default();
    for headers in [&headers::ON_LINKS, &of_neighbours::ON_LINKS, &PRIORITIES] {
        spoken.add(headers).expect("each header has a number of its own");
    }
    spoken
}

fn link_format() -> LinkFormat {
    let anybody = MacAddress::BROADCAST;
    LinkFormat { ether_type: EtherType::EXPERIMENTAL_1, local: anybody, remote: anybody }
}

/// A frame as a switch elsewhere sends it.
pub fn on_link(shims: &ShimStack, inner: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 2_000];
    let length = link_format().encode(&all(), shims, Some(inner), &mut bytes).expect("a legal frame");
    bytes.truncate(length);
    bytes
}

fn with<S: Shim>(shim: S) -> Vec<u8> {
    let mut shims = ShimStack::default();
    shims.push(shim).expect("an empty stack has room");
    on_link(&shims, &datagram(0, 3, 0, 1, false))
}

/// Such a frame used to end the run when its header reached the edge of the fabric.
#[test]
fn a_forged_frame_at_a_point_without_the_mechanism_is_refused_and_counted() {
    let text = leaf_spine("90 KB", "300 KB", "");
    let number = SequenceNumber::new(7, Era::default());
    let frames = [
        with(DataHeader::new(PacketType::Data, number)),
        with(DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 }),
        with(TelemetryHeader { depth_segments: 4 }),
        with(MessageHeader { origin: 0, port: PortId(1), is_repeated: false, depth_segments: 9 }),
        with(PriorityMark { rank_bytes: 1, ..PriorityMark::default() }),
    ];
    let mut leaves = leaves(&text);
    for wire in FIRST_LINK..OF_LEAVES.len() {
        frames.iter().for_each(|bytes| leaves.send(wire, bytes));
    }
    leaves.run_for(5_000_000);
    let received: usize = leaves.received().iter().map(Vec::len).sum();
    let status = leaves.finish();
    assert_eq!((received, status.drops["no frame of the link"]), (0, 20), "{:?}", status.drops);
}

#[test]
fn forged_headers_of_a_mechanism_that_runs_there_end_no_run() {
    for more in [RIMM.to_owned(), format!("{BY_DSCP}{PREEMPTIVE}")] {
        let text = leaf_spine("90 KB", "300 KB", &more);
        let mut leaves = leaves(&text);
        for (turn, wire) in (FIRST_LINK..OF_LEAVES.len()).cycle().take(400).enumerate() {
            let some = turn as u8;
            let bytes = match turn % 4 {
                0 => with(DetourHeader { sequence: u32::MAX, origin: some, detours: some, depth_segments: u16::MAX }),
                1 => with(TelemetryHeader { depth_segments: u16::from(some) }),
                2 => with(MessageHeader {
                    origin: some,
                    port: PortId(u16::from(some) * 128 % MessageHeader::PORTS),
                    is_repeated: turn % 8 == 2,
                    depth_segments: u16::MAX,
                }),
                _ => with(PriorityMark { rank_bytes: u32::MAX, retransmissions: 31, ..PriorityMark::default() }),
            };
            leaves.send(wire, &bytes);
            leaves.run_for(20_000);
        }
        leaves.run_for(50_000_000);
        // `finish` asserts that the fabric's invariants hold.
        leaves.finish();
    }
}
