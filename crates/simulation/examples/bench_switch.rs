//! Runs a benchmark of a single switch: `cargo run --release -p hitless-simulation --example bench_switch -- ideal-fq
//! high 1.0`.

use hitless_simulation::bench::switch::{Load, SwitchWork, packets_sent};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = arguments.get(1).map_or("fifo", String::as_str);
    let load = arguments.get(2).map_or("high", String::as_str);
    let fraction = arguments.get(3).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let Some(work) = SwitchWork::named(name) else { return eprintln!("nothing is called {name}") };
    let Some(load) = Load::named(load) else { return eprintln!("no load {load}: \"high\" or \"over\"") };
    let started = std::time::Instant::now();
    match work.run(hitless_mechanisms::builtin(), load, fraction, 1) {
        Ok(outcome) => {
            let (seconds, packets) = (started.elapsed().as_secs_f64(), packets_sent(&outcome));
            println!("{name}: {packets} packets, {:?}, {:?}", outcome.summary.drops, outcome.violations);
            println!("{seconds:.3} s, {:.2} M/s", packets as f64 / seconds / 1e6);
        }
        Err(message) => eprintln!("{message}"),
    }
}
