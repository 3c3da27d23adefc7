//! The swarm without Python, and with canaries:
//! `cargo run -p hitless-swarm --example swarm -- --seed 1 --minutes 10 --canary lost-turn`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use hitless_engine::Progress;
use hitless_mechanisms::builtin;
use hitless_swarm::{Finding, Hunt};
use hitless_switch::canary::Canary;

const OPTIONS: [&str; 7] = ["--seed", "--worlds", "--minutes", "--threads", "--canary", "--replay", "--show"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(other) = arguments.iter().find(|argument| argument.starts_with('-') && !OPTIONS.contains(&&***argument))
    {
        eprintln!("{other} is no option; there are {}, each followed by its value", OPTIONS.join(", "));
        return ExitCode::from(2);
    }
    let given = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let number = |name: &str| given(name).map(|text| text.parse::<u64>().expect("a whole number"));
    if let Some(file) = given("--replay") {
        replay(&file);
        return ExitCode::SUCCESS;
    }
    if let Some(seed) = number("--show") {
        println!("{}", hitless_swarm::draw::world(seed, builtin()).0.map_or_else(String::new, |world| world.text()));
        return ExitCode::SUCCESS;
    }
    let canary = given("--canary").map(|name| Canary::named(&name).expect("a canary of this name"));
    let hunt = Hunt {
        first_seed: number("--seed").unwrap_or(1),
        worlds: number("--worlds"),
        wall_time: number("--minutes").map(|minutes| Duration::from_secs(60 * minutes)),
        threads: number("--threads").unwrap_or(1) as usize,
        canary,
        first_only: canary.is_some(),
        shrink_for: Hunt::SHRINK_FOR,
    };
    std::panic::set_hook(Box::new(|_| {}));
    let began = Instant::now();
    let tell = |finding: &Finding| {
        println!("seed {}: {}: {}", finding.seed, finding.fault.judge, finding.fault.sentence);
        println!("{}", finding.world.text());
    };
    let totals = hunt.run(builtin(), &Progress::default(), &tell);
    println!("{} worlds, {} refused, {} packets, {:?}", totals.worlds, totals.refused, totals.packets, began.elapsed());
    println!("{:?}", totals.judged);
    for finding in totals.findings {
        println!("{} times, first seed {}: {}", finding.times, finding.seed, finding.fault.sentence);
    }
    ExitCode::SUCCESS
}

fn replay(file: &str) {
    let text = std::fs::read_to_string(file).expect("a file that can be read");
    let world = hitless_swarm::World::new(text.parse().expect("TOML"));
    match hitless_swarm::run::run(&world, builtin()) {
        Ok(verdict) => println!("{verdict:#?}"),
        Err(error) => println!("{error}"),
    }
}
