//! The scoreboard in small exchanges, segment by segment.

use super::*;

const SEGMENT: u64 = 1_000;

/// Creates ten segments, sent a microsecond apart.
fn ten() -> Scoreboard {
    let mut scoreboard = Scoreboard::default();
    (0..10).for_each(|number| scoreboard.push(SEGMENT as u16, at(number)));
    scoreboard
}

fn at(time_us: u64) -> Time {
    Time(time_us * 1_000_000)
}

fn delivery() -> Delivery {
    Delivery::new(at(50), Duration::from_us(10), 0)
}

/// Applies SACK blocks, given in segments, of an acknowledgement of `acknowledged` segments.
fn sack(scoreboard: &mut Scoreboard, acknowledged: u64, blocks: &[(u64, u64)]) -> Delivery {
    let mut delivery = delivery();
    let mut sack = SackBlocks::default();
    for (slot, (start, end)) in sack.0.iter_mut().zip(blocks) {
        let offset = |segment: u64| ((segment - acknowledged) * SEGMENT) as u32;
        *slot = (offset(*start), offset(*end));
    }
    scoreboard.acknowledge(acknowledged * SEGMENT, &mut delivery);
    scoreboard.sack(&sack, acknowledged * SEGMENT, &mut delivery);
    delivery
}

#[test]
fn a_growing_block_delivers_only_its_growth() {
    let mut scoreboard = ten();
    // (acknowledged, blocks, newly delivered, segments in the network)
    let table = [
        (0, vec![(2, 3)], 1, 9),
        (0, vec![(2, 5)], 2, 7),
        (0, vec![(7, 8), (2, 5)], 1, 6),
        (0, vec![(6, 8), (2, 5)], 1, 5),
        (5, vec![(6, 8)], 2, 3),
    ];
    for (acknowledged, blocks, delivered, pipe) in table {
        let delivery = sack(&mut scoreboard, acknowledged, &blocks);
        assert_eq!(delivery.bytes, delivered * SEGMENT, "{blocks:?}");
        assert_eq!(scoreboard.pipe_bytes(), pipe * SEGMENT, "{blocks:?}");
    }
}

#[test]
fn the_pipe_counts_losses_out_and_retransmissions_in() {
    let mut scoreboard = ten();
    sack(&mut scoreboard, 1, &[(4, 7)]);
    scoreboard.detect_by_count(3);
    assert_eq!(scoreboard.pipe_bytes(), 3 * SEGMENT);
    let (number, segment) = scoreboard.next_retransmission().unwrap();
    assert_eq!((number, segment.start()), (1, SEGMENT));
    scoreboard.retransmitted(number, at(60));
    assert_eq!(scoreboard.pipe_bytes(), 4 * SEGMENT);
    assert_eq!(scoreboard.next_retransmission().unwrap().0, 2);
    scoreboard.forget_losses();
    assert_eq!((scoreboard.pipe_bytes(), scoreboard.next_retransmission().is_none()), (7 * SEGMENT, true));
    scoreboard.mark_lost_on_timeout(None, at(70));
    assert_eq!(scoreboard.pipe_bytes(), 0);
    sack(&mut scoreboard, 10, &[]);
    assert!(scoreboard.is_in_order() && !scoreboard.has_pending_retransmissions());
    assert_eq!((scoreboard.pipe_bytes(), scoreboard.outstanding_bytes()), (0, 0));
}

/// RFC 8985, section 6.2, step 2: an acknowledgement sooner than any round trip belongs to the original.
#[test]
fn a_retransmission_answered_too_soon_does_not_count_as_newest() {
    for (sent_us, newest) in [(45, 0), (30, SEGMENT)] {
        let mut scoreboard = ten();
        scoreboard.mark_lost_on_timeout(None, at(20));
        scoreboard.retransmitted(0, at(sent_us));
        let mut delivery = Delivery::new(at(50), Duration::from_us(10), u32::MAX >> 1);
        scoreboard.acknowledge(SEGMENT, &mut delivery);
        assert_eq!((delivery.newest_end, delivery.retransmitted), (newest, true), "sent at {sent_us} us");
    }
}

#[test]
fn without_sack_duplicates_stand_for_segments_above_the_gap() {
    let mut scoreboard = ten();
    (0..3).for_each(|_| assert_eq!(scoreboard.count_dupack(SEGMENT), SEGMENT));
    scoreboard.mark_first_original_lost();
    assert_eq!(scoreboard.pipe_bytes(), 6 * SEGMENT);
    // The repaired gap and the three counted duplicates: only the gap is newly delivered.
    let mut delivery = delivery();
    scoreboard.acknowledge_without_sack(4 * SEGMENT, &mut delivery);
    assert_eq!((delivery.bytes, scoreboard.pipe_bytes()), (SEGMENT, 6 * SEGMENT));
}
