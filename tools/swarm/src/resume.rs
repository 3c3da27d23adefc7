//! A world once more, killed at random moments: each time it goes on from a checkpoint in a simulation that is built
//! anew.

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::Scenario;
use hitless_simulation::{Outcome, Resumable, Simulation};

use crate::dice::Dice;
use crate::same;

/// How often a run is killed.
const KILLS: u64 = 3;
/// When: in the part in which things go wrong.
const KILLED_WITHIN_PS: u64 = 600_000_000;

fn resumable(scenario: &Scenario) -> Result<Resumable, String> {
    Resumable::new(Simulation::new(scenario.clone())?, "this build")
}

/// Runs it so; none where something in it has no checkpoints.
///
/// # Errors
/// A checkpoint that is refused, or that does not come back as it was written.
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
            // It has ended: from the checkpoint before it goes there in one go.
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

/// The first thing in which a run in one go and this one differ, whose outcomes these are.
pub fn difference(whole: &Outcome, resumed: &Outcome) -> Option<String> {
    let found = same::difference(whole, resumed, false)?;
    Some(format!("restored from checkpoints the run differs {found}"))
}
