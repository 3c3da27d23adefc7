//! One year of a fleet without Python: `year TOPOLOGY POLICY CAPACITY SEED`. For profiles and measurements.

use std::time::Instant;

use hitless_core::engine::Progress;
use hitless_fleet::{Effects, Plan, Policy, Share, topology, trace};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [spec, policy, capacity, seed] = &arguments[..] else {
        panic!("year TOPOLOGY POLICY CAPACITY SEED");
    };
    let began = Instant::now();
    let topology = topology::from_spec(spec).expect("a topology");
    let seed = seed.parse().expect("a seed");
    let trace = trace::generate(&topology, &trace::Hazard::default(), seed, "year").expect("a trace");
    let prepared = began.elapsed();
    let policy = Policy::named(policy).expect("a policy");
    let capacity = Share::new(capacity.parse().expect("a number")).expect("a share");
    let (deployment, effects) = (Share::ALL, &Effects::AT_100G);
    let plan = Plan { topology: &topology, trace: &trace, policy, capacity, deployment, effects, seed, replay: None };
    let outcome = plan.run(&Progress::default()).expect("a year");
    let (mut area, mut span) = (0.0, 0.0);
    let (times, states) = (&outcome.series.times_s, &outcome.series.states);
    for at in 1..times.len() {
        let length = (times[at] - times[at - 1]) as f64;
        area += states[at - 1].total_effective_penalty * length;
        span += length;
    }
    let least = states.iter().map(|state| state.min_per_tor_paths).min();
    println!(
        "failures {} skipped {} repairs {}",
        trace.failures.len(),
        outcome.skipped_failures,
        outcome.repairs.len()
    );
    println!("mean effective penalty {:e}, least paths {least:?}", area / span);
    println!("prepared {prepared:?}, all {:?}", began.elapsed());
}
