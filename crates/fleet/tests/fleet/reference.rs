//! The incremental year compared with a slow one that recomputes everything at each event and tries all subsets.

use super::slow;
use hitless_core::engine::Progress;
use hitless_fleet::protection::Table;
use hitless_fleet::repair::Repair;
use hitless_fleet::topology::{LinkId, Topology, from_spec, from_text};
use hitless_fleet::trace::{Failure, Hazard, Trace, generate};
use hitless_fleet::{Effects, LossRate, Outcome, Plan, Policy, Share};
use proptest::prelude::*;

/// Small networks of every kind, with little spare capacity so that links must wait.
const SPECS: [&str; 5] = [
    "fabric:pods=2,tors=3,oversubscription=1.5",
    "fabric:pods=1,tors=4,oversubscription=1",
    "fat-tree:ports=4",
    "leaf-spine:leaves=3,spines=4",
    "four tiers",
];

/// Two pods of four tiers, uneven and with parallel links of different speeds.
const FOUR_TIERS: &str = "
    switch t0 0\nswitch t1 0\nswitch t2 0\nswitch a0 1\nswitch a1 1\nswitch b0 2\nswitch b1 2\nswitch s0 3\nswitch s1 3
    switch t3 0\nswitch a2 1\nswitch b2 2
    link t0 a0 100\nlink t0 a1 100\nlink t1 a0 100\nlink t1 a1 40\nlink t1 a1 40\nlink t2 a1 100
    link a0 b0 100\nlink a0 b1 100\nlink a1 b0 100\nlink a1 b1 100\nlink b0 s0 100\nlink b0 s1 100\nlink b1 s0 100
    link b1 s1 400\nlink b1 s1 400\nlink t3 a2 100\nlink t3 a2 100\nlink a2 b2 100\nlink a2 b2 100\nlink b2 s0 100";

fn network(number: usize) -> Topology {
    match SPECS[number] {
        "four tiers" => from_text(FOUR_TIERS, "four tiers").expect("a graph"),
        spec => from_spec(spec).expect("a shape"),
    }
}

/// Failures close together, some at the same second and some of a link that already corrupts.
fn failures(links: u32) -> impl Strategy<Value = Vec<Failure>> {
    let failure = (0u64..1_500_000, 0..links, -8.0f64..-2.0).prop_map(|(time_s, link, exponent)| Failure {
        time_s: 400_000 + time_s / 3_600 * 3_600,
        link: LinkId(link),
        loss: LossRate::new(10f64.powf(exponent)).expect("a rate"),
    });
    prop::collection::vec(failure, 0..45)
}

fn case() -> impl Strategy<Value = (usize, Vec<Failure>)> {
    (0..SPECS.len()).prop_flat_map(|number| {
        failures(network(number).links.len() as u32).prop_map(move |failures| (number, failures))
    })
}

fn policies() -> impl Strategy<Value = Policy> {
    let all: Vec<_> = Policy::names().filter_map(|name| Policy::named(name).ok()).collect();
    prop::sample::select(all)
}

fn trace_of(topology: &Topology, failures: Vec<Failure>) -> Trace {
    let (shape, links) = (topology.shape.clone(), topology.links.len());
    Trace { name: "t".into(), shape, link_gbps: 100.0, links, failures }
}

fn plan<'a>(topology: &'a Topology, trace: &'a Trace, policy: Policy, capacity: f64) -> Plan<'a> {
    let capacity = Share::new(capacity).expect("a share");
    Plan { topology, trace, policy, capacity, deployment: Share::ALL, effects: &IN_ORDER, seed: 1, replay: None }
}

/// Some arithmetic for links of 40 and 400G.
const IN_ORDER: Effects = Effects::Published { in_order: true, other_rates: |_, loss| Some(0.99 - 20.0 * loss) };
const ANY_ORDER: Effects = Effects::Published { in_order: false, other_rates: |_, loss| Some(0.99 - 3.0 * loss) };

fn effects() -> impl Strategy<Value = Effects> {
    let rows = |gbps| format!("{gbps},1e-5,1e-10,99\n{gbps},1e-3,1e-3,95\n{gbps},1e-2,1e-9,50\n");
    let text = format!("gbps,loss_rate,effective_loss_rate,speed_percent\n{}{}{}", rows(40), rows(100), rows(400));
    let table = Effects::Measured(Table::from_text(&text, "table").expect("a table"));
    prop::sample::select(vec![IN_ORDER, ANY_ORDER, table])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_year_is_that_of_the_slow_reference(
        (number, failures) in case(),
        policy in policies(),
        capacity in prop::sample::select(vec![0.0, 0.3, 0.5, 0.6, 0.75, 0.9]),
        deployment in prop::sample::select(vec![1.0, 1.0, 0.5, 0.0]),
        effects in effects(),
        seed in 0u64..4,
    ) {
        let topology = network(number);
        let trace = trace_of(&topology, failures);
        let deployment = Share::new(deployment).unwrap();
        let plan = Plan { deployment, effects: &effects, seed, ..plan(&topology, &trace, policy, capacity) };
        let found = plan.run(&Progress::default()).unwrap();
        let expected = slow::run(&plan);
        slow::check(&found, &expected)?;
    }

    #[test]
    fn protection_adds_no_penalty_and_keeps_more_capacity_in_any_order((number, failures) in case(), effects in effects()) {
        let topology = network(number);
        let trace = trace_of(&topology, failures);
        let run = |policy, effects| {
            let plan = Plan { effects, ..plan(&topology, &trace, policy, 0.6) };
            plan.run(&Progress::default()).unwrap().series
        };
        for (bare, protected) in
            [(Policy::DoNothing, Policy::LinkGuardian), (Policy::CorrOpt, Policy::LinkGuardianCorrOpt)]
        {
            let (bare, with_it) = (run(bare, &effects), run(protected, &effects));
            prop_assert_eq!(&bare.times_s, &with_it.times_s);
            let (slower, faster) = (run(protected, &IN_ORDER).states, run(protected, &ANY_ORDER).states);
            for at in 0..bare.states.len() {
                let (bare, with_it) = (bare.states[at], with_it.states[at]);
                prop_assert_eq!(bare.total_penalty, with_it.total_penalty);
                prop_assert!(with_it.total_effective_penalty <= bare.total_effective_penalty);
                prop_assert_eq!(slower[at].total_effective_penalty, faster[at].total_effective_penalty);
                prop_assert!(slower[at].min_per_pod_capacity <= faster[at].min_per_pod_capacity);
                prop_assert!(slower[at].avg_per_pod_capacity <= faster[at].avg_per_pod_capacity);
            }
        }
    }

    #[test]
    fn replaying_the_repairs_of_a_year_repeats_it((number, failures) in case(), policy in policies()) {
        let topology = network(number);
        let trace = trace_of(&topology, failures);
        let plan = plan(&topology, &trace, policy, 0.6);
        let first = plan.run(&Progress::default()).unwrap();
        let replay = Plan { replay: Some((&first.repairs, "f")), seed: 2, ..plan };
        prop_assert_eq!(replay.run(&Progress::default()).unwrap(), first);
    }

    #[test]
    fn repairs_that_a_run_leaves_over_are_an_error((number, failures) in case(), policy in policies()) {
        let topology = network(number);
        let trace = trace_of(&topology, failures);
        let plan = plan(&topology, &trace, policy, 0.6);
        let mut repairs = plan.run(&Progress::default()).unwrap().repairs;
        repairs.push(Repair { disable_time_s: 2_000_000, link: LinkId(0), delay_s: 1 });
        let problem = Plan { replay: Some((&repairs, "f")), ..plan }.run(&Progress::default()).unwrap_err();
        prop_assert_eq!(problem.place, format!("f:{}", repairs.len() + 1));
    }
}

/// Runs a whole year at a capacity of 75 %, with LinkGuardian everywhere.
fn run_named(policy: &str, topology: &Topology, trace: &Trace) -> Outcome {
    let policy = Policy::named(policy).expect("a policy");
    plan(topology, trace, policy, 0.75).run(&Progress::default()).expect("a year")
}

#[test]
fn every_tor_keeps_its_share_and_the_published_rows_are_two_for_each_event() {
    let topology = from_spec("fabric:pods=12").unwrap();
    let trace = generate(&topology, &Hazard::default(), 5, "t").unwrap();
    for name in ["corropt", "lg+corropt", "lg+drain"] {
        let outcome = run_named(name, &topology, &trace);
        let series = &outcome.series;
        assert_eq!(series.states.iter().map(|state| state.min_per_tor_paths).min(), Some(144), "{name}");
        assert_eq!(series.times_s.len(), 1 + trace.failures.len() + outcome.repairs.len(), "{name}");
        let rows: Vec<_> = series.published_rows().collect();
        assert_eq!(rows.len(), 2 * series.times_s.len(), "{name}");
        assert_eq!(rows[0].0, series.times_s[1] - 345_600, "{name}");
        assert_eq!(rows[rows.len() - 1].0, series.times_s[series.times_s.len() - 1] + 345_600, "{name}");
        let last = series.states[series.states.len() - 1];
        assert_eq!(last.curr_disabled_links, 0, "{name}: every repair ends");
    }
}

#[test]
fn corropt_with_and_without_linkguardian_decides_alike() {
    let topology = from_spec("fabric:pods=12").unwrap();
    let trace = generate(&topology, &Hazard::default(), 5, "t").unwrap();
    let run = |name| run_named(name, &topology, &trace);
    let (bare, protected) = (run("corropt"), run("lg+corropt"));
    assert_eq!(bare.repairs, protected.repairs);
    assert_eq!(bare.series.times_s, protected.series.times_s);
}

#[test]
fn an_idle_fabric_has_the_published_penalty() {
    let topology = from_spec("fabric").unwrap();
    let failures = vec![Failure { time_s: 345_600, link: LinkId(0), loss: LossRate::new(1e-3).unwrap() }];
    let trace = trace_of(&topology, failures);
    let outcome = plan(&topology, &trace, Policy::CorrOpt, 1.0).run(&Progress::default()).unwrap();
    let first = outcome.series.states[0];
    assert!((first.total_penalty / 1.00224e-13 - 1.0).abs() < 1e-12);
    assert_eq!((first.min_per_tor_paths, first.min_per_pod_capacity), (192, 19_200.0));
    assert_eq!(outcome.series.states[1].total_penalty, 1e-3 + 100_223.0 * 1e-18);
}
