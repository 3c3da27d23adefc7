use hitless_core::engine::PacketHandle;

use super::super::FlowKey;
use super::*;
use crate::queueing::Entry;

const CONFIG: CodelConfig = CodelConfig {
    target: Duration::from_ms(5),
    interval: Duration::from_ms(100),
    small_queue_bytes: 1_514,
    marks: true,
};

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

/// Takes from a queue with an endless supply of packets that have waited `delay_ms`; returns the number of drops and
/// whether the sent packet is marked.
fn take(codel: &mut Codel, now: Time, delay_ms: u64, bytes_left: u64, can_mark: bool) -> (u32, Option<bool>) {
    let enqueued_at = Time(now.as_ps() - Duration::from_ms(delay_ms).as_ps());
    let entry = Entry::new(PacketHandle(0), 1_500, enqueued_at);
    let packet = Waiting { entry, flow: FlowKey::default(), can_mark };
    let mut dropped = 0;
    let taken = codel.take(&CONFIG, now, || Some(Head { packet, bytes_left }), |_| dropped += 1);
    (dropped, taken.map(|(_, mark)| mark))
}

#[test]
fn an_interval_is_divided_by_the_root_of_the_count() {
    let table =
        [(1, 100_000_000_000), (2, 70_711_000_000), (3, 57_736_000_000), (4, 50_000_000_000), (100, 10_000_000_000)];
    for (count, expected_ps) in table {
        let found_ps = interval_by_root(CONFIG.interval, count).as_ps();
        assert!(found_ps.abs_diff(expected_ps) <= 1_000_000, "{count}: {found_ps} ps");
    }
    assert_eq!(interval_by_root(CONFIG.interval, 4), Duration::from_ms(50));
    assert!(interval_by_root(CONFIG.interval, u32::MAX) >= Duration::from_us(1));
}

#[test]
fn the_first_drop_comes_an_interval_after_the_delay_rose_and_the_next_by_the_root_of_their_number() {
    let mut codel = Codel::default();
    let drops_at: Vec<u64> = (1_000..1_400).filter(|&ms| take(&mut codel, at_ms(ms), 6, 10_000, false).0 > 0).collect();
    // 1100, then 100 / sqrt(1) later, then 100 / sqrt(2), / sqrt(3), ..., sampled every millisecond.
    assert_eq!(drops_at, [1_100, 1_200, 1_271, 1_329, 1_379]);
}

#[test]
fn a_queue_is_left_alone_while_it_is_short_or_quick() {
    for (delay_ms, bytes_left) in [(4, 10_000), (6, 1_514), (60, 0)] {
        let mut codel = Codel::default();
        for ms in 1_000..2_000 {
            assert_eq!(take(&mut codel, at_ms(ms), delay_ms, bytes_left, false), (0, Some(false)));
        }
    }
}

#[test]
fn one_quick_packet_begins_the_interval_again() {
    let mut codel = Codel::default();
    for ms in 1_000..1_099 {
        take(&mut codel, at_ms(ms), 6, 10_000, false);
    }
    take(&mut codel, at_ms(1_099), 1, 10_000, false);
    assert!((1_100..1_200).all(|ms| take(&mut codel, at_ms(ms), 6, 10_000, false).0 == 0));
    assert_eq!(take(&mut codel, at_ms(1_200), 6, 10_000, false).0, 1);
}

#[test]
fn what_can_be_marked_is_marked_and_sent() {
    let mut codel = Codel::default();
    let marked_at: Vec<u64> =
        (1_000..1_300).filter(|&ms| take(&mut codel, at_ms(ms), 6, 10_000, true) == (0, Some(true))).collect();
    assert_eq!(marked_at, [1_100, 1_200, 1_271]);
}

#[test]
fn a_queue_that_was_late_a_short_time_ago_goes_on_with_the_rate_that_it_had() {
    let mut codel = Codel::default();
    (1_000..1_400).for_each(|ms| {
        take(&mut codel, at_ms(ms), 6, 10_000, false);
    });
    take(&mut codel, at_ms(1_400), 1, 10_000, false);
    let drops_at: Vec<u64> = (1_401..1_600).filter(|&ms| take(&mut codel, at_ms(ms), 6, 10_000, false).0 > 0).collect();
    // Five drops minus the first of the last period: the next one comes after 100 / sqrt(4).
    assert_eq!(drops_at, [1_501, 1_551, 1_596]);
}

#[test]
fn an_empty_queue_gives_nothing_and_forgets_its_delay() {
    let mut codel = Codel::default();
    take(&mut codel, at_ms(1_000), 6, 10_000, false);
    assert_eq!(codel.take(&CONFIG, at_ms(1_050), || None, |_| {}), None);
    assert!((1_051..1_151).all(|ms| take(&mut codel, at_ms(ms), 6, 10_000, false).0 == 0));
}

/// RFC 8289, section 5.5: a delay equal to the target is not below it.
#[test]
fn a_delay_of_just_the_target_is_late() {
    let dropped = |delay_ms| {
        let mut codel = Codel::default();
        (1_000..1_200).map(|ms| take(&mut codel, at_ms(ms), delay_ms, 10_000, false).0).sum::<u32>()
    };
    assert_eq!(dropped(4), 0);
    assert!(dropped(5) > 0);
}
