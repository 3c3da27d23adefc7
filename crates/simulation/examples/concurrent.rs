//! Memory and time per flow: many simultaneous flows on AFQ's leaf-spine network of 288 hosts.
//!
//! `cargo run --release -p hitless-simulation --example concurrent -- packet-pair 100000 5` runs 100,000 flows until 5
//! ms after the first start; the transport is "packet-pair" or "dctcp".

use hitless_core::engine::Progress;
use hitless_scenario::check;
use hitless_simulation::Simulation;

/// Flows start at random within the first millisecond and never end.
fn scenario(transport: &str, flows: u64, span_ms: u64) -> String {
    let kind = match transport {
        "packet-pair" => "kind = \"packet-pair\"".to_owned(),
        other => format!("kind = \"tcp\"\ncongestion = \"{other}\""),
    };
    format!(
        "name = \"concurrent\"\nduration = \"{span_ms} ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 9\nspines = 4\nhosts_per_leaf = 32\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"40 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"1 MB\" }}\n\
         ecn = {{ threshold = \"65 packets\" }}\n\
         [[transport]]\nname = \"t\"\n{kind}\nrto_min = \"200 us\"\nrto_initial = \"10 ms\"\n\
         [[flows]]\nname = \"all\"\nkind = \"poisson\"\ntransport = \"t\"\n\
         flows_per_second = {}.0\ncount = {flows}\nsizes = {{ kind = \"fixed\", bytes = \"1 GB\" }}\n",
        flows * 1_000
    )
}

/// Peak resident memory of this process in KB; 0 if the system does not report it.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |index: usize, otherwise| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let transport = arguments.get(1).map_or("packet-pair", String::as_str);
    let (flows, span_ms) = (number(2, 100_000), number(3, 5));
    let built = check(&scenario(transport, flows, span_ms), "concurrent", hitless_mechanisms::builtin())
        .map_err(|error| error.to_string());
    let simulation = match built.and_then(Simulation::new) {
        Ok(simulation) => simulation,
        Err(message) => return eprintln!("{message}"),
    };
    let started = std::time::Instant::now();
    let outcome = simulation.run(&Progress::default());
    let (seconds, transmissions) = (started.elapsed().as_secs_f64(), outcome.summary.transmissions);
    println!("{transmissions} transmissions in {seconds:.2} s: {:.2} M/s", transmissions as f64 / seconds / 1e6);
    println!("{} flows, peak {} MB; {:?}", outcome.summary.flows.started, peak_kilobytes() / 1_000, outcome.violations);
}
