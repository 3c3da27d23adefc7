use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use hitless_swarm::Hunt;
use hitless_switch::canary::{ARE_COMPILED_IN, Canary};

pub const HELP: &str = "\
Fuzz the simulator: draw random worlds and check the invariants of every run.

A world is a whole scenario: fabric, transports, flows, faults, mechanisms with random settings. A world that breaks an
invariant is minimised and written as a scenario file. Exit code 1: a fault was found.

  hitless-swarm --worlds 1000
  hitless-swarm --seed 7 --minutes 60 --threads 2 --out found
  hitless-swarm --judge found/swarm-progress-1234.toml

  --seed N        first seed; each world has the next one (default 1)
  --worlds N      number of worlds
  --minutes N     maximum wall time
  --with SETTING  run only worlds with this setting, such as switch.pfc; the others count as worlds
  --threads N     worlds at a time (default 1)
  --out FOLDER    folder for scenarios of failing worlds (default: the current folder)
  --canary NAME   sow this bug first and stop at the first fault; needs debug assertions
  --json          print one JSON document on stdout
  --judge FILE    check one scenario file
  --show SEED     print the world of a seed
  --judges        print the invariants
  --help          print this text
";
const THREADS_MAX: usize = 1024;
const MINUTES_MAX: f64 = 1e7;

pub struct Arguments {
    pub task: Task,
    pub out: PathBuf,
    pub json: bool,
}

pub enum Task {
    Hunt(Hunt),
    Judge(PathBuf),
    Show(u64),
    Judges,
    Help,
}

impl Arguments {
    /// Reads the arguments after the program's name.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut words = words;
        let (mut task, mut out, mut json) = (None, PathBuf::new(), false);
        let mut hunt = Hunt {
            first_seed: 1,
            worlds: None,
            wall_time: None,
            threads: 1,
            canary: None,
            first_only: false,
            with: None,
            shrink_for: Hunt::SHRINK_FOR,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => task = Some(Task::Help),
                "--judges" => task = Some(Task::Judges),
                "--json" => json = true,
                "--judge" => task = Some(Task::Judge(value()?.into())),
                "--show" => task = Some(Task::Show(number(&word, &value()?)?)),
                "--out" => out = value()?.into(),
                "--seed" => hunt.first_seed = number(&word, &value()?)?,
                "--worlds" => hunt.worlds = Some(number(&word, &value()?)?),
                "--minutes" => hunt.wall_time = Some(minutes(&value()?)?),
                "--with" => hunt.with = Some(value()?),
                "--threads" => hunt.threads = threads(&value()?)?,
                "--canary" => {
                    hunt.canary = Some(canary(&value()?)?);
                    hunt.first_only = true;
                }
                other => return Err(format!("there is no option {other}; --help lists all of them")),
            }
        }
        let task = match task {
            Some(task) => task,
            None if hunt.worlds.is_none() && hunt.wall_time.is_none() => {
                return Err("say when to end: --worlds 1000, or --minutes 10".to_owned());
            }
            None => Task::Hunt(hunt),
        };
        Ok(Self { task, out, json })
    }
}

fn number<T: FromStr>(option: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{option} {text}: a number is needed"))
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: f64 = number("--minutes", text)?;
    if !(0.0..=MINUTES_MAX).contains(&minutes) {
        return Err(format!("--minutes {text}: it is from 0 to {MINUTES_MAX}"));
    }
    Ok(Duration::from_secs_f64(60.0 * minutes))
}

fn threads(text: &str) -> Result<usize, String> {
    let threads = number("--threads", text)?;
    if !(1..=THREADS_MAX).contains(&threads) {
        return Err(format!("--threads {text}: it is from 1 to {THREADS_MAX}"));
    }
    Ok(threads)
}

fn canary(name: &str) -> Result<Canary, String> {
    if !ARE_COMPILED_IN {
        return Err("--canary: canaries are compiled in with debug assertions only: cargo run has them".to_owned());
    }
    let known: Vec<&str> = Canary::ALL.iter().map(|canary| canary.name()).collect();
    Canary::named(name).ok_or_else(|| format!("--canary {name}: the canaries are {}", known.join(", ")))
}
