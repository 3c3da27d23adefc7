//! No scheduler leaves a port with packets idle, and an idle port accepts any packet, regardless of its past.

use hitless_core::wire::{Duration, Packet, PortId, Time};
use hitless_mechanisms::Afq;
use hitless_mechanisms::afq::{
    AfqLate, AfqPort, AfqRotating, AfqScheduler, AfqSettings, AfqSketch, DropAhead, UpdateRule,
};
use hitless_switch::{BufferPolicy, Mechanism, PortConfig, QueueConfig, QueueLimit, Switch};
use proptest::prelude::*;

use super::schedulers::{DEFICIT, architecture, deficit, schedules, stepping, two_groups};
use super::world::{
    Arrival, BYTE, OUT, PORT, RATE, Run, arrival, ideal, inferred_round, packet, rotating, run_at, run_ideal, settings,
};
use crate::one_switch::OneSwitch;

const FRAME_BYTES: u32 = 1_518;

fn schedulers() -> impl Strategy<Value = AfqScheduler> {
    prop_oneof![
        Just(rotating(AfqLate::ServedQueue)),
        Just(rotating(AfqLate::NamedQueue)),
        (1u64..50).prop_map(stepping),
        Just(DEFICIT),
        (1_518u64..6_000).prop_map(deficit),
        (prop_oneof![Just(0), 1u64..20_000], 0u64..2_000)
            .prop_map(|(period_ns, delay_ns)| two_groups(period_ns, delay_ns)),
    ]
}

prop_compose! {
    /// Any settings of a port, whether a scenario may combine them or not.
    fn configs()(
        half in 1u8..16,
        bytes_per_round in 500u32..3_000,
        scheduler in schedulers(),
        update in prop_oneof![
            Just(UpdateRule::Increment), Just(UpdateRule::PredicatedIncrement), Just(UpdateRule::Figure3)
        ],
        inferred in prop::option::of((1u64..4_000, 0u64..3_000)),
        columns in 1u32..200,
        limit in prop_oneof![Just(QueueLimit::Unlimited), (2_000u64..40_000).prop_map(QueueLimit::Bytes)],
        idle_ns in prop::option::of(1u64..2_000),
        drop_ahead in prop_oneof![Just(DropAhead::AtQueues), Just(DropAhead::BeyondQueues)],
        charge_refused in any::<bool>(),
    ) -> (AfqPort, AfqSettings) {
        let mut settings = AfqSettings {
            sketch: AfqSketch { update, columns, bid_bits: 64, ..AfqSketch::default() },
            scheduler,
            drop_ahead,
            charge_refused: charge_refused || inferred.is_some() || update == UpdateRule::Figure3,
            ..settings(2 * half, bytes_per_round)
        };
        let goes_on = !matches!(scheduler, AfqScheduler::DeficitRoundRobin(_)) && inferred.is_none();
        let idle_round_time = idle_ns.filter(|_| goes_on).map(Duration::from_ns);
        if let Some((granularity_bytes, refresh_ns)) = inferred {
            settings = inferred_round(granularity_bytes, Duration::from_ns(refresh_ns), settings);
        }
        (AfqPort { limit, idle_round_time, ..PORT }, settings)
    }
}

/// The maximum time before a scheduler sends a waiting packet: it passes each queue once.
fn may_wait(settings: &AfqSettings) -> Duration {
    match settings.scheduler {
        AfqScheduler::RotatingStrictPriority(AfqRotating { step, .. }) => step * (u64::from(settings.queues) + 1),
        _ => Duration::ZERO,
    }
}

/// Packets of the schedule that waited in a queue while the line was idle.
fn kept_waiting(run: &Run, schedule: &[Arrival], ingress: Duration, may_wait: Duration) -> Vec<usize> {
    let queued_at = |arrival: usize| schedule[arrival].at + ingress;
    let mut first_queued = vec![Time::NEVER; run.departures.len() + 1];
    for (index, departure) in run.departures.iter().enumerate().rev() {
        first_queued[index] = first_queued[index + 1].min(queued_at(departure.arrival));
    }
    let mut free_at = Time::ZERO;
    let mut waited = Vec::new();
    for (index, departure) in run.departures.iter().enumerate() {
        let sending = BYTE * u64::from(departure.bytes);
        if departure.ends_at > free_at.max(first_queued[index]) + sending + may_wait {
            waited.push(departure.arrival);
        }
        free_at = departure.ends_at;
    }
    waited
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_scheduler_idles_a_port_that_has_packets(
        schedule in schedules(),
        (port, settings) in configs(),
        ingress_ns in 0u64..400,
    ) {
        let may_wait = may_wait(&settings);
        let run = run_at(port, architecture(ingress_ns), settings, BufferPolicy::Static, &schedule);
        let waited = kept_waiting(&run, &schedule, Duration::from_ns(ingress_ns), may_wait);
        prop_assert!(waited.is_empty(), "idle while these waited: {waited:?}");
    }

    /// The round of an idle port may stand still: then only a packet can advance it.
    #[test]
    fn an_idle_port_takes_a_packet_of_any_flow_whatever_was_before(
        schedule in schedules(),
        (port, settings) in configs(),
        ingress_ns in 0u64..400,
        flows in Just((0..8).collect::<Vec<u32>>()).prop_shuffle(),
    ) {
        let at_bytes = |number: usize| 40_000_000 + 100_000 * number as u64;
        let later: Vec<_> = (0..8).map(|number| arrival(at_bytes(number), flows[number], FRAME_BYTES)).collect();
        let all: Vec<_> = schedule.iter().chain(&later).copied().collect();
        let run = run_at(port, architecture(ingress_ns), settings, BufferPolicy::Static, &all);
        let sent = run.departures.iter().filter(|departure| departure.arrival >= schedule.len());
        prop_assert_eq!(sent.count(), later.len());
    }
}

/// Two groups whose swap was forgotten at an empty port used to stand still for ever, and dropped every packet.
#[test]
fn a_flow_alone_gets_all_of_its_packets_through_under_every_scheduler() {
    let rotations = [rotating(AfqLate::ServedQueue), rotating(AfqLate::NamedQueue), stepping(10)];
    let deficits = [DEFICIT, deficit(FRAME_BYTES.into())];
    let groups = [
        two_groups(0, 1_000),
        two_groups(10_000, 1_000),
        two_groups(10_000, 0),
        two_groups(100_000, 1_000),
        two_groups(500, 0),
    ];
    let schedulers = rotations.into_iter().chain(deficits).chain(groups);
    // The round is shared, or inferred with a granularity and an age.
    let sources = [None, Some((1, 0)), Some((2_000, 1_000))];
    // Nine tenths of the line, and all of it: when a packet arrives, the previous one is on the line or has just left.
    for (scheduler, gap_bytes) in schedulers.flat_map(|scheduler| [(scheduler, 1_687), (scheduler, 1_518)]) {
        let steps =
            matches!(scheduler, AfqScheduler::RotatingStrictPriority(rotating) if rotating.step > Duration::ZERO);
        let is_halved = matches!(scheduler, AfqScheduler::TwoGroups(_));
        for source in sources.into_iter().take(if is_halved { 1 } else { sources.len() }) {
            let looks_empty = source == Some((2_000, 1_000));
            // The line is not full while the scheduler takes its steps.
            if steps && (gap_bytes == 1_518 || looks_empty) {
                continue;
            }
            let schedule: Vec<_> = (0..1_000).map(|packet| arrival(packet * gap_bytes, 0, FRAME_BYTES)).collect();
            let mut settings = AfqSettings { scheduler, ..settings(32, FRAME_BYTES) };
            if let Some((granularity_bytes, refresh_ns)) = source {
                settings = inferred_round(granularity_bytes, Duration::from_ns(refresh_ns), settings);
            }
            let run = run_ideal(settings, &schedule);
            let got = (run.departures.len(), run.order().is_sorted());
            assert_eq!(got, (1_000, true), "{scheduler:?} {source:?} every {gap_bytes} bytes");
        }
    }
}

/// Packets that the traffic manager refused stay charged, and at a port that has sent nothing since, no round follows.
#[test]
fn a_flow_that_was_charged_while_others_filled_the_buffer_is_served_when_they_are_gone() {
    const OTHER: PortId = PortId(2);
    const OF_OTHER: u8 = 7;
    let port = PortConfig::fifo(RATE, 0, QueueConfig::normal(QueueLimit::Unlimited));
    let buffer = BufferPolicy::Shared { capacity_bytes: 100_000, alpha: 100.0 };
    let afq: Vec<Box<dyn Mechanism>> = vec![Box::new(Afq::new(vec![PORT], settings(8, FRAME_BYTES), 1))];
    let switch = Switch::new(ideal(), vec![port.clone(), port.clone(), port], buffer, afq);
    let mut one = OneSwitch::new(switch, |packet| if packet.class == OF_OTHER { OTHER } else { OUT });
    let frames = |count: u64, from: u64, gap: u64| (0..count).map(move |number| (from + number * gap, FRAME_BYTES));
    let others = frames(80, 0, 0).map(|(at, bytes)| (arrival(at, 9, bytes), OF_OTHER));
    let refused = frames(20, 10, 1).map(|(at, bytes)| (arrival(at, 1, bytes), 1));
    let later = frames(20, 1_000_000, 2_000).map(|(at, bytes)| (arrival(at, 1, bytes), 1));
    for (arrival, class) in others.chain(refused).chain(later) {
        one.arrive(arrival.at, PortId(0), Packet { class, ..packet(&arrival) });
    }
    one.finish();
    assert!(one.count_sent_by(&[OTHER]) > 60);
    assert_eq!(one.left_by(OUT), (100..120).collect::<Vec<_>>(), "those of the time before found no room");
}
