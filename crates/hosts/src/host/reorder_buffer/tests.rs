use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;

use hitless_core::wire::{TcpHeader, Transport, UdpHeader};
use proptest::prelude::*;

use super::*;

const TIMEOUT: Duration = Duration(360);
const MSS: u32 = 1_000;
/// Length of the test messages in bytes.
const TOTAL: u32 = 20 * MSS;

fn layer(rank: Rank) -> ReorderBuffer {
    ReorderBuffer::new(TIMEOUT, PriorityTagging::honest(rank), Application::one_way(TOTAL.into()))
}

fn rank_of(rank: Rank, number: u32) -> u32 {
    match rank {
        Rank::RemainingBytes => TOTAL - number * MSS,
        Rank::AttainedService => number * MSS,
        Rank::Fixed(rank) => rank,
    }
}

/// Creates packet `number` of a message of 20 packets.
fn packet(rank: Rank, flowlet: u16, number: u32, payload_bytes: u32) -> Packet {
    let sequence = u64::from(u32::from(flowlet) * TOTAL + number * MSS);
    let header = TcpHeader { sequence, payload_bytes: payload_bytes as u16, ..TcpHeader::default() };
    let mut packet = Packet { transport: Transport::Tcp(header), ..Packet::default() };
    let mark = PriorityMark { rank_bytes: rank_of(rank, number), flowlet, is_first: number == 0, retransmissions: 0 };
    packet.push_shim(mark).unwrap();
    packet
}

/// Returns number and time of the packets delivered to the transport, for these arrivals (time, number) of flowlet 0.
fn delivered(rank: Rank, arrivals: &[(u64, u32)]) -> Vec<(u32, u64)> {
    let mut layer = layer(rank);
    let mut delivered = Vec::new();
    // A packet's number, or `None` for the timer; of simultaneous events the timer is first.
    let mut events: BinaryHeap<_> = arrivals.iter().map(|&(at, number)| Reverse((at, Some(number)))).collect();
    while let Some(Reverse((at, event))) = events.pop() {
        let now = Time(at);
        match event.map(|number| (number, layer.arrive(now, PacketHandle(number), &packet(rank, 0, number, MSS)))) {
            None => layer.expire(now),
            Some((number, Arrival::Passes)) => delivered.push((number, at)),
            Some((_, Arrival::IsHeld | Arrival::Releases)) => {}
            Some((number, Arrival::Duplicates(copy))) => assert_eq!(copy, PacketHandle(number)),
        }
        delivered.extend(layer.ready.drain(..).map(|packet| (packet.0, at)));
        events.extend(layer.arm(now).map(|at| Reverse((at.as_ps(), None))));
    }
    delivered
}

const RANKS: [Rank; 3] = [Rank::RemainingBytes, Rank::AttainedService, Rank::Fixed(45)];

#[test]
fn packets_come_out_in_order_or_after_the_timeout_of_the_oldest() {
    type Case = (&'static str, &'static [(u64, u32)], &'static [(u32, u64)]);
    let table: [Case; 6] = [
        ("in order", &[(1, 0), (2, 1), (3, 2)], &[(0, 1), (1, 2), (2, 3)]),
        ("a gap is filled", &[(1, 0), (2, 2), (3, 3), (9, 1), (10, 4)], &[(0, 1), (1, 9), (2, 9), (3, 9), (4, 10)]),
        ("the first comes late", &[(1, 1), (2, 2), (9, 0)], &[(0, 9), (1, 9), (2, 9)]),
        (
            "what is lost is given up, and passes at once when it is sent again",
            &[(1, 0), (10, 2), (20, 3), (500, 1), (501, 4)],
            &[(0, 1), (2, 370), (3, 370), (1, 500), (4, 501)],
        ),
        (
            "after the oldest the next has waited for a part of its time",
            &[(1, 0), (10, 5), (20, 3), (30, 7)],
            &[(0, 1), (3, 370), (5, 370), (7, 390)],
        ),
        ("the first was lost", &[(10, 1), (20, 2), (400, 3), (900, 0)], &[(1, 370), (2, 370), (3, 400), (0, 900)]),
    ];
    for rank in RANKS {
        for (name, arrivals, expected) in table {
            assert_eq!(delivered(rank, arrivals), expected, "{name}, {rank:?}");
        }
    }
}

#[test]
fn what_has_no_payload_or_no_mark_passes() {
    let mut layer = layer(Rank::RemainingBytes);
    assert_eq!(layer.arrive(Time(1), PacketHandle(1), &packet(Rank::RemainingBytes, 0, 4, 0)), Arrival::Passes);
    let unmarked = Packet { transport: packet(Rank::RemainingBytes, 0, 4, 9).transport, ..Packet::default() };
    assert_eq!(layer.arrive(Time(1), PacketHandle(1), &unmarked), Arrival::Passes);
    assert_eq!(layer.statistics(), ReorderBufferStatistics::default());
}

/// A switch has trimmed the packet: the transport is notified at once, and the buffer still waits for the payload.
#[test]
fn a_packet_without_its_payload_passes_and_fills_no_gap() {
    let mut layer = layer(Rank::RemainingBytes);
    let arrive =
        |layer: &mut ReorderBuffer, number, packet: &Packet| layer.arrive(Time(1), PacketHandle(number), packet);
    assert_eq!(arrive(&mut layer, 0, &packet(Rank::RemainingBytes, 0, 0, MSS)), Arrival::Passes);
    let mut header = Packet { frame_bytes: 1_078, ..packet(Rank::RemainingBytes, 0, 1, MSS) };
    assert!(header.trim(70));
    assert_eq!(arrive(&mut layer, 1, &header), Arrival::Passes);
    assert_eq!(arrive(&mut layer, 2, &packet(Rank::RemainingBytes, 0, 2, MSS)), Arrival::IsHeld);
    assert_eq!(arrive(&mut layer, 3, &packet(Rank::RemainingBytes, 0, 1, MSS)), Arrival::Releases);
    assert_eq!(layer.ready, [PacketHandle(3), PacketHandle(2)]);
}

#[test]
fn a_newer_message_ends_the_wait_and_an_older_one_passes() {
    for rank in RANKS {
        let mut layer = layer(rank);
        let mut arrive = |handle, flowlet, number| {
            let arrival = layer.arrive(Time(1), PacketHandle(handle), &packet(rank, flowlet, number, MSS));
            (arrival, std::mem::take(&mut layer.ready))
        };
        assert_eq!(arrive(0, 0, 0), (Arrival::Passes, vec![]));
        assert_eq!(arrive(2, 0, 2), (Arrival::IsHeld, vec![]));
        assert_eq!(arrive(10, 1, 0), (Arrival::Releases, vec![PacketHandle(2), PacketHandle(10)]));
        assert_eq!(arrive(1, 0, 1), (Arrival::Passes, vec![]));
        assert_eq!(arrive(11, 1, 1), (Arrival::Passes, vec![]));
        assert_eq!(arrive(13, 1, 3), (Arrival::IsHeld, vec![]));
        assert_eq!(arrive(22, 2, 2), (Arrival::Releases, vec![PacketHandle(13)]), "{rank:?}");
        assert_eq!(arrive(20, 2, 0), (Arrival::Passes, vec![]), "the second of three is still missing");
    }
}

#[test]
fn of_two_copies_the_longer_is_kept() {
    let rank = Rank::RemainingBytes;
    let mut layer = layer(rank);
    assert_eq!(layer.arrive(Time(1), PacketHandle(2), &packet(rank, 0, 2, 500)), Arrival::IsHeld);
    let longer = layer.arrive(Time(2), PacketHandle(3), &packet(rank, 0, 2, MSS));
    assert_eq!(longer, Arrival::Duplicates(PacketHandle(2)));
    let shorter = layer.arrive(Time(3), PacketHandle(4), &packet(rank, 0, 2, 900));
    assert_eq!(shorter, Arrival::Duplicates(PacketHandle(4)));
    assert_eq!(layer.take_held().collect::<Vec<_>>(), [PacketHandle(3)]);
    assert_eq!((layer.statistics().duplicate_packets, layer.arm(Time(4))), (2, None));
}

#[test]
fn a_rank_that_is_no_position_stalls_nothing() {
    let hundredth =
        PriorityTagging { divisor: NonZeroU32::new(100).unwrap(), ..PriorityTagging::honest(Rank::RemainingBytes) };
    let endless = (PriorityTagging::honest(Rank::RemainingBytes), Application::until(Time(9)));
    for (tagging, application) in [(hundredth, Application::one_way(9)), endless] {
        let mut layer = ReorderBuffer::new(TIMEOUT, tagging, application);
        let mut arrive = |number| {
            let packet = packet(Rank::Fixed(7), 0, number, MSS);
            layer.arrive(Time(1), PacketHandle(number), &packet)
        };
        assert_eq!([0, 2, 3].map(&mut arrive), [Arrival::Passes, Arrival::IsHeld, Arrival::IsHeld]);
        assert_eq!(arrive(1), Arrival::Releases);
        assert_eq!(layer.ready, [1, 2, 3].map(PacketHandle));
    }
}

#[test]
fn datagrams_are_ordered_by_their_numbers_under_a_fixed_rank() {
    let mut layer = layer(Rank::Fixed(3));
    let mut arrive = |number: u64| {
        let header = UdpHeader { number, payload_bytes: 100, ..UdpHeader::default() };
        let mut packet = Packet { transport: Transport::Udp(header), ..Packet::default() };
        packet.push_shim(PriorityMark { rank_bytes: 3, is_first: number == 0, ..PriorityMark::default() }).unwrap();
        layer.arrive(Time(1), PacketHandle(number as u32), &packet)
    };
    let arrivals = [0, 2, 1].map(&mut arrive);
    assert_eq!(arrivals, [Arrival::Passes, Arrival::IsHeld, Arrival::Releases]);
}

/// An oracle for the same rule, which checks every packet at every event.
fn oracle(arrivals: &[(u64, u32)]) -> Vec<(u32, u64)> {
    let (mut expected, mut delivered) = (None, Vec::new());
    let mut held: Vec<(u32, u64)> = Vec::new();
    let give_up = |held: &mut Vec<(u32, u64)>, expected: &mut Option<u32>, delivered: &mut Vec<(u32, u64)>, until| {
        while let Some(due) = held.iter().map(|&(_, at)| at + TIMEOUT.as_ps()).min().filter(|&due| due <= until) {
            let overdue = held.iter().filter(|&&(_, at)| at + TIMEOUT.as_ps() == due).map(|&(number, _)| number);
            let last = overdue.max().expect("the minimum is one of them");
            held.sort_unstable();
            let mut next = expected.unwrap_or(0);
            held.retain(|&(number, _)| {
                let goes = number <= last || number <= next;
                if goes {
                    delivered.push((number, due));
                    next = next.max(number + 1);
                }
                !goes
            });
            *expected = Some(next);
        }
    };
    for &(at, number) in arrivals {
        give_up(&mut held, &mut expected, &mut delivered, at);
        if number != 0 && expected.is_none_or(|expected| number > expected) {
            if !held.iter().any(|&(other, _)| other == number) {
                held.push((number, at));
            }
            continue;
        }
        delivered.push((number, at));
        let mut next = expected.unwrap_or(0).max(number + 1);
        held.sort_unstable();
        held.retain(|&(other, _)| {
            let goes = other <= next;
            if goes {
                delivered.push((other, at));
                next = next.max(other + 1);
            }
            !goes
        });
        expected = Some(next);
    }
    give_up(&mut held, &mut expected, &mut delivered, u64::MAX);
    delivered
}

/// Arrivals in order of time; packets can be lost, repeated and late.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let arrival = (0u64..1_500, 0u32..20);
    proptest::collection::vec(arrival, 0..60).prop_map(|mut arrivals| {
        arrivals.sort_unstable();
        arrivals
    })
}

proptest! {
    #[test]
    fn the_layer_does_what_its_rule_says(arrivals in arrivals()) {
        for rank in RANKS {
            prop_assert_eq!(delivered(rank, &arrivals), oracle(&arrivals), "{:?}", rank);
        }
    }

    #[test]
    fn nothing_is_lost_made_up_or_held_for_longer_than_the_timeout(arrivals in arrivals()) {
        let delivered = delivered(Rank::RemainingBytes, &arrivals);
        let first_arrival = |number| arrivals.iter().find(|&&(_, other)| other == number).map(|&(at, _)| at);
        for &(number, at) in &delivered {
            let of_number = |&&(arrived, other): &&(u64, u32)| other == number && arrived <= at;
            prop_assert!(arrivals.iter().filter(of_number).any(|&(arrived, _)| at <= arrived + TIMEOUT.as_ps()));
        }
        for (_, number) in &arrivals {
            let at = delivered.iter().find(|(other, _)| other == number).map(|&(_, at)| at);
            let arrived = first_arrival(*number).expect("it is one of them");
            prop_assert!(at.is_some_and(|at| at <= arrived + TIMEOUT.as_ps()), "{number}");
        }
    }

    #[test]
    fn without_losses_and_with_delays_below_the_timeout_order_is_perfect(
        delays in proptest::collection::vec(0u64..360, 20),
        gap in 1u64..100,
    ) {
        let sent = (0u32..).zip(delays).map(|(number, delay)| (u64::from(number) * gap + delay, number));
        let mut arrivals: Vec<_> = sent.collect();
        arrivals.sort_unstable();
        for rank in RANKS {
            let numbers: Vec<_> = delivered(rank, &arrivals).into_iter().map(|(number, _)| number).collect();
            prop_assert_eq!(&numbers, &(0..20).collect::<Vec<_>>(), "{:?}", rank);
        }
    }
}
