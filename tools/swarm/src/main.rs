//! The swarm as a program: draws random worlds, runs and judges them, and writes each failing one as a scenario file.

mod arguments;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use arguments::{Arguments, HELP, Task};
use hitless_core::engine::Progress;
use hitless_mechanisms::builtin;
use hitless_swarm::judge::JUDGES;
use hitless_swarm::{Finding, Hunt, World, draw, run};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let found = Arguments::read(std::env::args().skip(1)).and_then(|arguments| {
        // Panics of worlds are findings and are reported as such, so their default messages are suppressed.
        std::panic::set_hook(Box::new(|_| {}));
        perform(arguments)
    });
    match found {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether a fault was found.
fn perform(arguments: Arguments) -> Result<bool, String> {
    match arguments.task {
        Task::Help => print!("{HELP}"),
        Task::Judges => JUDGES.iter().for_each(|judge| println!("{}: {}", judge.name, judge.promise)),
        Task::Show(seed) => {
            let world = draw::world(seed, builtin()).0;
            print!("{}", world.ok_or(format!("seed {seed} gives no world that is accepted"))?.text());
        }
        Task::Judge(file) => return judge(&file, arguments.json),
        Task::Hunt(hunt) => return search(&hunt, &arguments.out, arguments.json),
    }
    Ok(false)
}

/// Runs one scenario file under all judges.
fn judge(file: &Path, json: bool) -> Result<bool, String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let text = fs::read_to_string(file).map_err(|error| at(&error))?;
    let world = World::new(text.parse().map_err(|error: toml::de::Error| at(&error))?);
    let verdict = run::run(&world, builtin()).map_err(|error| at(&error))?;
    if json {
        let faults = verdict.faults.iter().map(|fault| json!({ "judge": fault.judge, "fault": fault.sentence }));
        let faults: Vec<Value> = faults.collect();
        println!("{}", json!({ "judged": verdict.judged, "faults": faults, "packets": verdict.transmissions }));
    } else {
        verdict.faults.iter().for_each(|fault| println!("{}: {}", fault.judge, fault.sentence));
    }
    eprintln!("{} packets; judged: {}", verdict.transmissions, verdict.judged.join(", "));
    Ok(!verdict.faults.is_empty())
}

/// Goes through worlds; reports a finding as soon as it is minimised.
fn search(hunt: &Hunt, out: &Path, json: bool) -> Result<bool, String> {
    fs::create_dir_all(out).map_err(|error| format!("--out {}: {error}", out.display()))?;
    let tell = |finding: &Finding| {
        eprintln!("seed {}, {}: {}", finding.seed, finding.fault.judge, finding.fault.sentence);
        if !json {
            print!("{}", finding.world.text());
        }
        let path = out.join(format!("swarm-{}-{}.toml", finding.fault.judge, finding.seed));
        match fs::write(&path, finding.world.text()) {
            Ok(()) => eprintln!("hitless-swarm --judge {}", path.display()),
            Err(error) => eprintln!("error: cannot write {}: {error}", path.display()),
        }
    };
    let totals = hunt.run(builtin(), &Progress::default(), &tell);
    if json {
        let findings: Vec<Value> = totals.findings.iter().map(described).collect();
        let counts = json!({
            "worlds": totals.worlds, "refused": totals.refused, "packets": totals.packets, "judged": totals.judged,
            "findings": findings,
        });
        println!("{counts}");
    }
    let (worlds, packets, findings) = (totals.worlds, totals.packets, totals.findings.len());
    eprintln!("{worlds} worlds and {packets} packets from seed {} on; {findings} faults", hunt.first_seed);
    Ok(findings > 0)
}

fn described(finding: &Finding) -> Value {
    json!({
        "seed": finding.seed,
        "judge": finding.fault.judge,
        "fault": finding.fault.sentence,
        "times": finding.times,
        "scenario": finding.world.text(),
    })
}
