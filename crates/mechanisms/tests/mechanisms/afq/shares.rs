//! Shares of the flows.

use hitless_core::wire::{Duration, Time};
use hitless_mechanisms::afq::{AfqPort, AfqSettings, AfqSketch, FlowKey, UpdateRule};
use hitless_switch::BufferPolicy;

use super::world::{Arrival, BYTE, PORT, Run, arrival, ideal, run_at, run_ideal, settings};

pub const LENGTH_BYTES: u64 = 2_000_000;

/// Flows that send packets of 1,000 bytes at a percentage of the line, `(flow, percent)`.
pub fn load(flows: &[(u32, u64)]) -> Vec<Arrival> {
    let packets = |&(flow, percent): &(u32, u64)| {
        let gap = 100_000 / percent;
        (0..LENGTH_BYTES / gap).map(move |packet| arrival(packet * gap + u64::from(flow), flow, 1_000))
    };
    let mut schedule: Vec<_> = flows.iter().flat_map(packets).collect();
    schedule.sort_by_key(|arrival| (arrival.at, arrival.flow));
    schedule
}

/// The share of each flow while the line was loaded, in percent.
fn shares(run: &Run, flows: usize) -> Vec<u64> {
    let until = Time::ZERO + BYTE * LENGTH_BYTES;
    run.sent_bytes(flows, until).iter().map(|bytes| (bytes * 100 + LENGTH_BYTES / 2) / LENGTH_BYTES).collect()
}

#[test]
fn shares_are_max_min_fair_whatever_is_sent() {
    type Row = (&'static [(u32, u64)], &'static [u64]);
    let table: [Row; 3] = [
        (&[(0, 100), (1, 100)], &[50, 50]),
        (&[(0, 10), (1, 100), (2, 60)], &[10, 45, 45]),
        (&[(0, 20), (1, 20), (2, 90), (3, 30)], &[20, 20, 30, 30]),
    ];
    for (flows, expected) in table {
        let run = run_ideal(settings(32, 1_518), &load(flows));
        for (share, expected) in shares(&run, flows.len()).into_iter().zip(expected) {
            assert!(share.abs_diff(*expected) <= 1, "{flows:?}: {share} instead of {expected} %");
        }
    }
}

#[test]
fn shares_follow_weights() {
    let settings = AfqSettings { class_weights: vec![1.0, 2.0, 0.5], ..settings(32, 1_518) };
    let run = run_ideal(settings, &load(&[(0, 100), (1, 100), (2, 100)]));
    for (share, expected) in shares(&run, 3).into_iter().zip([28.6, 57.1, 14.3]) {
        assert!((share as f64 - expected).abs() <= 1.0, "{share} instead of {expected} %");
    }
}

/// The class of a flow is its number modulo 256, so that 0 and 256 are one tenant.
#[test]
fn a_tenant_gets_one_share_however_many_flows_it_has() {
    let flows = [(0, 50), (256, 50), (512, 50), (1, 100)];
    let tenants = AfqSettings { flow_key: FlowKey::Class, ..settings(32, 1_518) };
    let by_tenant = run_ideal(tenants, &load(&flows)).sent_bytes(513, Time::ZERO + BYTE * LENGTH_BYTES);
    let of_first: u64 = [0, 256, 512].iter().map(|&flow| by_tenant[flow]).sum();
    assert!((of_first as f64 / by_tenant[1] as f64 - 1.0).abs() < 0.02, "{of_first} {}", by_tenant[1]);
    let by_flow = run_ideal(settings(32, 1_518), &load(&flows)).sent_bytes(513, Time::ZERO + BYTE * LENGTH_BYTES);
    assert!((by_flow[0] as f64 / by_flow[1] as f64 - 1.0).abs() < 0.04, "{} {}", by_flow[0], by_flow[1]);
}

fn run_updating(update: UpdateRule, idle: Option<Duration>, settings: AfqSettings, schedule: &[Arrival]) -> Run {
    let port = AfqPort { idle_round_time: idle, ..PORT };
    let settings = AfqSettings { sketch: AfqSketch { update, ..settings.sketch }, ..settings };
    run_at(port, ideal(), settings, BufferPolicy::Static, schedule)
}

/// Why the plain increment is not the default: it charges dropped packets, so that an unresponsive flow gets less and
/// less.
#[test]
fn a_plain_increment_starves_a_flow_that_does_not_yield() {
    let load = load(&[(0, 100), (1, 60)]);
    let shares_with = |update| shares(&run_updating(update, Some(BYTE * 1_518), settings(32, 1_518), &load), 2);
    let starved = shares_with(UpdateRule::Increment);
    assert!(starved[0] < 42 && starved[1] > 55, "{starved:?}");
    for update in [UpdateRule::PredicatedIncrement, UpdateRule::Figure3] {
        assert_eq!(shares_with(update), [50, 50], "{update:?}");
    }
}

/// With the plain increment a single flow is too far ahead after a burst; an idle port takes its packets nevertheless.
#[test]
fn on_an_idle_port_a_flow_that_was_charged_for_drops_is_served_whether_the_round_goes_on_or_not() {
    let burst = vec![arrival(0, 0, 1_000); 100];
    let later = (0..50).map(|packet| arrival(200_000 + packet * 5_000, 0, 1_000));
    let schedule: Vec<_> = burst.into_iter().chain(later).collect();
    for idle_round_time in [None, Some(BYTE * 1_000)] {
        let run = run_updating(UpdateRule::Increment, idle_round_time, settings(8, 1_000), &schedule);
        assert_eq!(run.departures.len(), 8 + 50);
    }
}
