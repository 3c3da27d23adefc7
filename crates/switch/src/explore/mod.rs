//! Exhaustive exploration of a small world: for tests of state machines; the world asks here for every decision.
//!
//! Each path is a new run of the world. With the same answers it asks the same questions in the same order, so a path
//! is the list of its answers. The search is depth first: the last answer with an alternative is changed, and the
//! answers after it are dropped. Faults are counted, and a path has at most its budget of faults. A world that reports
//! its [state](Choices::visit) is not followed beyond a state seen before.

mod digest;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub use digest::{Digest, State};

/// An answer, and the number of possible answers.
#[derive(Clone, Copy, Debug)]
struct Answer {
    chosen: usize,
    of: usize,
}

#[derive(Debug, Default)]
struct Way {
    answers: Vec<Answer>,
    /// Answers given so far in this run.
    given: usize,
    faults_left: usize,
    /// Length of the path when the run began; everything up to there was seen before.
    known: usize,
    /// States visited by the path: before which answer, the state, and the faults left.
    path: Vec<(usize, u64, usize)>,
    /// All states, with the maximum number of faults left on any visit.
    states: HashMap<u64, usize>,
    /// Events so far; `None` unless the path is recorded.
    told: Option<Vec<String>>,
}

/// Whether a world has been in a state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Never, or with fewer faults left: the path goes on.
    First,
    /// Yes, on another path: every continuation has been explored.
    Known,
    /// Yes, on this path: it can loop forever.
    Again,
}

/// The decisions during a run of a world.
#[derive(Clone, Debug)]
pub struct Choices(Rc<RefCell<Way>>);

impl Choices {
    /// Chooses one of `count` equivalent alternatives.
    pub fn any(&self, count: usize) -> usize {
        let mut way = self.0.borrow_mut();
        let place = way.given;
        way.given += 1;
        if place == way.answers.len() {
            way.answers.push(Answer { chosen: 0, of: count });
        }
        let answer = way.answers[place];
        assert_eq!(answer.of, count, "a world that is answered the same must ask the same");
        answer.chosen
    }

    /// Chooses whether a fault happens: 0 means none; another number below `count` is a fault, as long as the budget
    /// lasts.
    pub fn fault(&self, count: usize) -> usize {
        let may_fail = self.0.borrow().faults_left > 0;
        let chosen = if may_fail { self.any(count) } else { self.any(1) };
        self.0.borrow_mut().faults_left -= usize::from(chosen > 0);
        chosen
    }

    /// Returns the answers so far; a failing test prints them to make the path reproducible.
    pub fn answers(&self) -> Vec<usize> {
        let way = self.0.borrow();
        way.answers[..way.given].iter().map(|answer| answer.chosen).collect()
    }

    /// Returns whether the world has been in this state before with as many faults left. `digest` must cover everything
    /// that affects the rest of the path, except the faults left.
    pub fn visit(&self, digest: impl FnOnce() -> u64) -> Visit {
        let (given, faults_left) = {
            let way = self.0.borrow();
            // An earlier run has recorded this part of the path.
            if way.given < way.known {
                return Visit::First;
            }
            (way.given, way.faults_left)
        };
        let digest = digest();
        let mut way = self.0.borrow_mut();
        let is_same = |&(_, state, left): &(usize, u64, usize)| (state, left) == (digest, faults_left);
        if way.path.iter().any(is_same) {
            return Visit::Again;
        }
        // With more faults left, every continuation with fewer was possible too.
        if way.states.get(&digest).is_some_and(|&left| left >= faults_left) {
            return Visit::Known;
        }
        way.states.insert(digest, faults_left);
        way.path.push((given, digest, faults_left));
        Visit::First
    }

    /// Records an event if the path is recorded.
    pub fn tell(&self, event: impl FnOnce() -> String) {
        if let Some(told) = &mut self.0.borrow_mut().told {
            told.push(event());
        }
    }
}

/// The extent of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Number of paths.
    pub ways: u64,
    /// Number of decisions in all paths together.
    pub decisions: u64,
    /// Maximum number of decisions in a path.
    pub depth: usize,
    /// Number of different states, if the world reports them.
    pub states: usize,
}

/// Runs a world on every path with at most `faults` faults.
///
/// # Panics
/// If `run` returns an error: with its message, the path, and the events that the world [recorded](Choices::tell).
pub fn explore(faults: usize, mut run: impl FnMut(&Choices) -> Result<(), String>) -> Explored {
    let mut explored = Explored::default();
    let choices = Choices(Rc::new(RefCell::new(Way::default())));
    loop {
        {
            let mut way = choices.0.borrow_mut();
            (way.given, way.faults_left, way.known) = (0, faults, way.answers.len());
            let known = way.known;
            way.path.retain(|&(given, ..)| given < known);
        }
        if let Err(broken) = run(&choices) {
            panic!("{}", told(&choices, &broken, faults, run));
        }
        let mut way = choices.0.borrow_mut();
        explored.ways += 1;
        explored.decisions += way.given as u64;
        explored.depth = explored.depth.max(way.given);
        explored.states = way.states.len();
        // Depth first: drops answers without an alternative, then takes the next alternative.
        while way.answers.last().is_some_and(|last| last.chosen + 1 == last.of) {
            way.answers.pop();
        }
        match way.answers.last_mut() {
            Some(last) => last.chosen += 1,
            None => return explored,
        }
    }
}

/// Repeats the last path and records its events.
fn told(choices: &Choices, broken: &str, faults: usize, mut run: impl FnMut(&Choices) -> Result<(), String>) -> String {
    let answers = choices.answers();
    {
        let mut way = choices.0.borrow_mut();
        way.answers.truncate(answers.len());
        // The states that the failing path added must not end its repetition.
        let known = way.known;
        let own: Vec<_> = way.path.iter().filter(|&&(given, ..)| given >= known).map(|&(_, state, _)| state).collect();
        own.iter().for_each(|state| {
            way.states.remove(state);
        });
        way.path.retain(|&(given, ..)| given < known);
        (way.given, way.faults_left, way.told) = (0, faults, Some(Vec::new()));
    }
    let _ = run(choices);
    let events = choices.0.borrow_mut().told.take().unwrap_or_default();
    let events: String = events.iter().map(|event| format!("\n  {event}")).collect();
    format!("{broken}, when it went {answers:?}{events}")
}

#[cfg(test)]
mod tests;
