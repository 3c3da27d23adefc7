//! Runs a world in all ways, and judges the results.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration as WallTime, Instant};

use hitless_core::engine::Progress;
use hitless_core::wire::{Duration, Time};
use hitless_scenario::Scenario;
use hitless_scenario::kind::Registry;
use hitless_simulation::{Outcome, Session, Simulation};

use crate::dice::Dice;
use crate::judge::{self, Evidence, Fault};
use crate::parts::Parts;
use crate::resume;
use crate::symmetry::Alike;
use crate::world::World;

/// Number of stops of a run, to check for idle queues.
const STOPS: u64 = 24;
/// Latest stop, in picoseconds: faults happen before.
const STOPS_WITHIN_PS: u64 = 600_000_000;

#[derive(Clone, Debug)]
pub struct Verdict {
    pub faults: Vec<Fault>,
    /// Packets put on a link in its first run.
    pub transmissions: u64,
    /// Judges that applied to the world.
    pub judged: Vec<&'static str>,
}

/// Runs an accepted world, and judges it.
pub fn run(world: &World, registry: &Registry) -> Result<Verdict, String> {
    let scenario = world.check(registry).map_err(|error| error.to_string())?;
    let whole = catch_unwind(AssertUnwindSafe(|| run_all(world, &scenario, registry)));
    Ok(whole.unwrap_or_else(|panic| Verdict {
        faults: vec![Fault { judge: "runs", sentence: format!("the run panicked: {}", said(&*panic)) }],
        transmissions: 0,
        judged: Vec::new(),
    }))
}

fn run_all(world: &World, scenario: &Scenario, registry: &Registry) -> Verdict {
    let (outcome, idle) = match in_steps(scenario) {
        Ok(ran) => ran,
        Err(sentence) => {
            let faults = vec![Fault { judge: "runs", sentence }];
            return Verdict { faults, transmissions: 0, judged: Vec::new() };
        }
    };
    let replay = from_recording(scenario, registry);
    let parts = Parts::of(scenario);
    let divided = parts.as_ref().map(|parts| (parts, parts.run()));
    let divided = divided.as_ref();
    let resumed = resume::run(scenario);
    let unequal = Alike::draw(scenario.seed).map(|alike| alike.unequal(registry));
    let evidence = Evidence {
        world,
        scenario,
        outcome: &outcome,
        replay: &replay,
        divided,
        resumed: resumed.as_ref(),
        idle: &idle,
        unequal: unequal.as_ref().map(Option::as_deref),
        registry,
    };
    let (faults, judged) = judge::all(&evidence);
    Verdict { faults, transmissions: outcome.summary.transmissions, judged }
}

/// Runs with stops; returns also the ports that had packets to send but no event to send them.
fn in_steps(scenario: &Scenario) -> Result<(Outcome, Vec<String>), String> {
    let mut dice = Dice::new(scenario.seed, "stops");
    let mut stops: Vec<u64> = (0..STOPS).map(|_| dice.between(1, STOPS_WITHIN_PS)).collect();
    stops.sort_unstable();
    let mut session = Session::new(scenario.clone())?;
    let progress = Progress::default();
    let mut idle = Vec::new();
    for stop in stops {
        if !session.advance(Time(Duration::from_ps(stop).as_ps()), &progress) {
            break;
        }
        idle.extend(session.idle_queues().into_iter().map(|queue| format!("{queue} at {stop} ps")));
    }
    Ok((session.finish(&progress), idle))
}

/// Runs again without stops, from the recorded configuration with all defaults written out.
fn from_recording(scenario: &Scenario, registry: &Registry) -> Result<Outcome, String> {
    let recorded = hitless_scenario::check(&scenario.effective_toml(), "recorded.toml", registry)
        .map_err(|error| format!("the recorded configuration is refused: {error}"))?;
    Ok(Simulation::new(recorded)?.run(&Progress::default()))
}

/// Returns the message of a panic.
pub fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "nothing".into())
}

/// The end of a hunt on the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Until(Option<Instant>);

impl Until {
    /// Ends after `wall_time` from now; `None` never ends.
    pub fn from_now(wall_time: Option<WallTime>) -> Self {
        Self(wall_time.map(|time| Instant::now() + time))
    }

    /// Returns whether it has passed.
    pub fn has_come(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}
