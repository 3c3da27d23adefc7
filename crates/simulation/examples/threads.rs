//! Compares threads with one undivided run: `cargo run --release -p hitless-simulation --example threads -- 2 9 FILE...`
//! runs each scenario in 9 rounds on one and on 2 threads, in turn. Prints the fastest times, their ratio, and the
//! median ratio of the rounds; fails if a trace differs.

use std::time::Instant;

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_simulation::Simulation;

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [threads, rounds, files @ ..] = &arguments[..] else { return Err("threads, rounds and files".into()) };
    let [threads, rounds] = [threads, rounds].map(|text| text.parse::<usize>().unwrap_or(2).max(1));
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let scenario = hitless_scenario::check(&text, file, hitless_mechanisms::builtin());
        let scenario = scenario.map_err(|error| error.to_string())?;
        let [mut one, mut many, mut ratios] = [const { Vec::new() }; 3];
        for _ in 0..rounds {
            let (alone, trace) = run(&scenario, 1)?;
            let (together, same) = run(&scenario, threads)?;
            if trace != same {
                return Err(format!("{file}: another trace on {threads} threads"));
            }
            one.push(alone);
            many.push(together);
            ratios.push(alone / together);
        }
        [&mut one, &mut many, &mut ratios].into_iter().for_each(|times| times.sort_by(f64::total_cmp));
        let (best, median) = (one[0] / many[0], ratios[rounds / 2]);
        println!("{file:<44} {:>8.4} s {:>8.4} s  best {best:.3}  median {median:.3}", one[0], many[0]);
    }
    Ok(())
}

/// Runs a scenario, and returns its wall time in seconds and its trace hash.
fn run(scenario: &Scenario, threads: usize) -> Result<(f64, String), String> {
    let simulation = Simulation::new(scenario.clone())?;
    let began = Instant::now();
    let outcome = simulation.run_on(threads, &Progress::default());
    Ok((began.elapsed().as_secs_f64(), format!("{:?}", outcome.summary.trace_hash)))
}
