//! Runs a world again and kills it at random times: each time it continues from a checkpoint in a new simulation.

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::Scenario;
use hitless_simulation::{Outcome, Resumable, Simulation};

use crate::dice::Dice;
use crate::same;

/// Number of kills of a run.
const KILLS: u64 = 3;
/// Latest kill, in picoseconds: faults happen before.
const KILLED_WITHIN_PS: u64 = 600_000_000;

fn resumable(scenario: &Scenario) -> Result<Resumable, String> {
    Resumable::new(Simulation::new(scenario.clone())?, "this build")
}

/// Runs a scenario with kills; `None` if a part of it does not support checkpoints.
pub fn run(scenario: &Scenario) -> Option<Result<Outcome, String>> {
    let mut run = resumable(scenario).ok()?;
    run.start();
    Some(killed_now_and_then(run, scenario))
}

fn killed_now_and_then(mut run: Resumable, scenario: &Scenario) -> Result<Outcome, String> {
    let mut dice = Dice::new(scenario.seed, "kills");
    let mut kills: Vec<u64> = (0..KILLS).map(|_| dice.between(1, KILLED_WITHIN_PS)).collect();
    kills.sort_unstable();
    kills.dedup();
    for at in kills {
        let before = run.checkpoint();
        if !run.advance(Time(at)) {
            // The run has ended: continue from the previous checkpoint to the end without a stop.
            run = resumable(scenario)?;
            run.restore(&before).map_err(|refusal| refusal.to_string())?;
            break;
        }
        let bytes = run.checkpoint();
        run = resumable(scenario)?;
        run.restore(&bytes).map_err(|refusal| format!("at {at} ps: {refusal}"))?;
        if run.checkpoint() != bytes {
            return Err(format!("what was restored at {at} ps is not what was saved"));
        }
    }
    run.run(None, &Progress::default(), |_| Ok(()))
}

/// Returns the first difference between the outcomes of an uninterrupted and a restored run.
pub fn difference(whole: &Outcome, resumed: &Outcome) -> Option<String> {
    let found = same::difference(whole, resumed, false)?;
    Some(format!("restored from checkpoints the run differs {found}"))
}
