//! Runs a benchmark workload: `cargo run --release -p hitless-simulation --example bench -- A 1.0`.

use std::time::Instant;

use hitless_core::engine::Progress;
use hitless_simulation::bench::Work;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let name = arguments.get(1).map_or("A", String::as_str);
    let fraction = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let Some(work) = Work::named(name) else { return eprintln!("no workload {name}") };
    let (started, before) = (Instant::now(), resident_bytes());
    match work.build(hitless_mechanisms::builtin(), fraction, 1) {
        Ok(simulation) => {
            let (built_s, hosts) = (started.elapsed().as_secs_f64(), simulation.hosts() as u64);
            let rest = resident_bytes().saturating_sub(before);
            let outcome = simulation.run(&Progress::default());
            let run_s = started.elapsed().as_secs_f64() - built_s;
            let sent = outcome.summary.transmissions as f64;
            println!("{:#?}\n{:?}", outcome.summary, outcome.violations);
            println!("at rest {} bytes a host, {:.3} s to build", rest / hosts, built_s);
            println!("{run_s:.3} s, {:.2} M/s, {:.1} ns each", sent / run_s / 1e6, run_s / sent * 1e9);
        }
        Err(message) => eprintln!("{message}"),
    }
}

/// Resident memory of this process on Linux, 0 elsewhere.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}
