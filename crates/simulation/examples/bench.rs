//! Runs a benchmark workload: `cargo run --release -p hitless-simulation --example bench -- A 1.0`.

use hitless_simulation::bench::Work;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = arguments.get(1).map_or("A", String::as_str);
    let fraction = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let Some(work) = Work::named(name) else { return eprintln!("no workload {name}") };
    let started = std::time::Instant::now();
    match work.run(hitless_mechanisms::builtin(), fraction, 1) {
        Ok(outcome) => {
            let seconds = started.elapsed().as_secs_f64();
            println!("{:#?}\n{:?}", outcome.summary, outcome.violations);
            println!("{:.3} s, {:.2} M/s", seconds, outcome.summary.transmissions as f64 / seconds / 1e6);
        }
        Err(message) => eprintln!("{message}"),
    }
}
