//! Packets that need no order, next to packets in order.

use super::*;

/// A stream at `percent` of 10G for `us` microseconds, every other packet of the class that needs no order.
fn mixed(percent: u64, us: u64) -> Vec<Arrival> {
    let mut arrivals = stream(percent, us);
    arrivals.iter_mut().skip(1).step_by(2).for_each(|arrival| arrival.class = SPRAYED);
    arrivals
}

/// Failures of the link of 10G, repaired 1 ms later; the next port takes over at detection.
fn rerouted() -> Setting {
    let recovery = Recovery::LocalReroute(Duration::from_us(1_000));
    Setting { recovery, sprays: true, ..Setting::same_port(0) }
}

/// Packets of the class that needs no order: those that never arrived.
fn lost_of_sprayed(bench: &Bench, arrivals: &[Arrival]) -> Vec<u64> {
    let sent = arrivals.iter().filter(|arrival| arrival.class == SPRAYED).count();
    let mut seen = vec![false; sent];
    bench.world.sprayed.iter().for_each(|&(number, _)| seen[number as usize] = true);
    (0..sent as u64).filter(|&number| !seen[number as usize]).collect()
}

/// The longest time without an arrival after `from`, in nanoseconds.
fn longest_gap_ns(arrivals: &[(u64, Time)], from: Duration) -> u64 {
    let arrivals: Vec<_> = arrivals.iter().filter(|&&(_, at)| at > Time::ZERO + from).collect();
    let gaps = arrivals.windows(2).map(|pair| (pair[1].1.as_ps() - pair[0].1.as_ps()) / 1_000);
    gaps.max().expect("packets arrive")
}

#[test]
fn packets_that_need_no_order_only_wait_for_detection_and_those_in_order_for_their_order() {
    for caching in [SqrCaching::Ring, SqrCaching::DelayQueue] {
        let arrivals = mixed(60, 3_000);
        let bench = play(&Setting { caching, ..rerouted() }, &arrivals, &[failure(PRIMARY, 500)]);
        assert_hitless(&bench, &arrivals);
        assert_eq!(lost_of_sprayed(&bench, &arrivals), Vec::<u64>::new(), "{caching:?}");
        assert!(bench.world.lost_on_links > 10);
        let gap_ns = |arrivals, from_us| longest_gap_ns(arrivals, Duration::from_us(from_us));
        // Packets sent in the 30 us of detection are lost, one in 4.1 us. Then copies follow at once.
        assert!(gap_ns(&bench.world.sprayed, 0) < 38_500, "{caching:?}");
        // The way back begins at 1,530 us: packets in order wait for those on the backup, for 32 us.
        assert!(gap_ns(&bench.world.sprayed, 1_400) < 10_000, "{caching:?}");
        assert!(gap_ns(&bench.world.delivered[usize::from(PRIMARY.0)], 1_400) > 30_000, "{caching:?}");
    }
}

/// The port comes back 760 us after the failure, 500 us before copies in order may leave.
#[test]
fn copies_that_need_no_order_wait_for_the_port_and_not_for_the_order_of_other_classes() {
    let (failed_us, back_us, slack_us) = (500, 1_260, 500);
    for caching in [SqrCaching::Ring, SqrCaching::DelayQueue] {
        let arrivals = mixed(60, 3_000);
        let setting = Setting {
            caching,
            sprays: true,
            slack: Duration::from_us(slack_us),
            ..Setting::same_port(back_us - failed_us - 30)
        };
        let bench = play(&setting, &arrivals, &[failure(PRIMARY, failed_us)]);
        assert_hitless(&bench, &arrivals);
        assert_eq!(lost_of_sprayed(&bench, &arrivals), Vec::<u64>::new(), "{caching:?}");
        let mut first_at = std::collections::BTreeMap::new();
        bench.world.sprayed.iter().for_each(|&(number, at)| _ = first_at.entry(number).or_insert(at));
        let sprayed = arrivals.iter().filter(|arrival| arrival.class == SPRAYED);
        let late_us = |from_us, to_us| {
            let range = Duration::from_us(from_us)..Duration::from_us(to_us);
            let sent = sprayed.clone().enumerate().filter(|(_, arrival)| range.contains(&arrival.after));
            let arrived = sent.map(|(number, _)| first_at[&(number as u64)].as_ps() / 1_000_000);
            arrived.max().expect("packets are sent").saturating_sub(back_us)
        };
        // Seven packets were lost, and each takes 1.23 us of the line and as much in its pass through egress.
        let copies_us = late_us(failed_us, failed_us + 30);
        assert!(copies_us < 25, "{caching:?}: copies arrive {copies_us} us after the port is back");
        // Behind them originals of 730 us, 0.3 of the line, fill 219 us of it.
        let originals_us = late_us(failed_us + 30, back_us);
        assert!((200..260).contains(&originals_us), "{caching:?}: originals arrive {originals_us} us after it");
        let gap_us = longest_gap_ns(&bench.world.sprayed, Duration::from_us(back_us)) / 1_000;
        assert!(gap_us < 10, "{caching:?}: {gap_us} us without an arrival");
        let in_order = &bench.world.delivered[usize::from(PRIMARY.0)];
        let gap_us = longest_gap_ns(in_order, Duration::from_us(failed_us - 50)) / 1_000;
        assert!(gap_us > back_us - failed_us + slack_us, "{caching:?}: packets in order wait {gap_us} us");
    }
}

#[test]
fn only_packets_that_can_be_lost_are_repeated() {
    let mut arrivals = stream(60, 2_000);
    arrivals.iter_mut().for_each(|arrival| arrival.class = SPRAYED);
    for caching in [SqrCaching::Ring, SqrCaching::DelayQueue] {
        let setting = Setting { caching, ..rerouted() };
        let bench = play(&setting, &arrivals, &[failure(PRIMARY, 500)]);
        assert_eq!(lost_of_sprayed(&bench, &arrivals), Vec::<u64>::new());
        let lost = bench.world.lost_on_links;
        let repeated = bench.counter("packets_sent_from_cache");
        // The steady delay covers the longest flight, a full frame's, and the failure begins within a packet.
        assert!((lost..=lost + 2).contains(&repeated), "{caching:?}: {repeated} repeated, {lost} lost");
        assert_eq!(bench.counter("packets_kept_back"), 0);
    }
}

/// The link fails at 500 us, and 30 us later copies are 0 to 33 us old: the packets lost in that time, one in 2.05 us.
#[test]
fn copies_that_are_too_old_for_their_senders_are_not_sent() {
    let mut arrivals = stream(60, 2_000);
    arrivals.iter_mut().for_each(|arrival| arrival.class = SPRAYED);
    for (age_us, sent) in [(1, 0..2), (10, 3..6), (20, 8..11), (40, 15..18)] {
        let setting = Setting { any_order_age: Some(Duration::from_us(age_us)), ..rerouted() };
        let bench = play(&setting, &arrivals, &[failure(PRIMARY, 500)]);
        let lost = lost_of_sprayed(&bench, &arrivals).len() as u64;
        let repeated = bench.counter("packets_sent_from_cache");
        assert!(sent.contains(&repeated), "{age_us} us: {repeated} repeated");
        assert!(
            (bench.world.lost_on_links..=bench.world.lost_on_links + 2).contains(&(lost + repeated)),
            "{age_us} us"
        );
    }
}

#[test]
fn a_second_failure_during_the_way_back_loses_nothing() {
    let arrivals = mixed(60, 3_000);
    // The link is back at 1,500 us, known 30 us later; packets in order wait until 1,564 us or longer.
    for second_after_us in [1_531, 1_540, 1_555, 1_570, 1_600] {
        let failures = [failure(PRIMARY, 500), failure(PRIMARY, second_after_us)];
        let bench = play(&rerouted(), &arrivals, &failures);
        assert_eq!(lost_of_sprayed(&bench, &arrivals), Vec::<u64>::new(), "{second_after_us}");
        assert_hitless(&bench, &arrivals);
    }
}

#[test]
fn without_a_failure_copies_are_retired_and_the_ring_uses_all_its_ports() {
    let mut arrivals = stream(50, 300);
    arrivals.iter_mut().for_each(|arrival| arrival.class = SPRAYED);
    let bench = play(&rerouted(), &arrivals, &[]);
    let packets = arrivals.len() as u64;
    assert_eq!((bench.counter("copies_made"), bench.counter("copies_retired")), (packets, packets));
    assert_eq!((bench.counter("packets_sent_from_cache"), bench.world.sprayed.len() as u64), (0, packets));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_fails_no_packet_is_lost_and_packets_in_order_keep_it(
        setting in settings(),
        arrivals in arrivals(),
        failures in failures(),
        sprayed_share in 1_usize..5,
    ) {
        let setting = Setting { sprays: true, ..setting };
        let mut arrivals = arrivals;
        let marked = arrivals.iter_mut().filter(|arrival| arrival.class == MARKED);
        marked.enumerate().filter(|(index, _)| index % 4 < sprayed_share).for_each(|(_, arrival)| arrival.class = SPRAYED);
        let bench = play(&setting, &arrivals, &failures);
        prop_assert_eq!(lost_of_sprayed(&bench, &arrivals), Vec::<u64>::new());
        for port in [PRIMARY, BACKUP] {
            let (lost, reordered) = bench.lost_and_reordered(port, marked_towards(port, &arrivals));
            prop_assert_eq!(lost, Vec::<u64>::new(), "lost towards {:?}", port);
            if !are_rerouted_together(&setting, &failures) {
                prop_assert_eq!(reordered, Vec::<u64>::new(), "reordered towards {:?}", port);
            }
        }
    }
}
