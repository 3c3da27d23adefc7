//! Every way in which a small world can go: for tests of state machines, whose worlds ask here what happens next.
//!
//! A world is run anew for each way; it asks at the same places in the same order as long as it is answered the same,
//! so a way is the list of its answers. Ways are gone through depth first: the last answer that can be another becomes
//! the next, and what came after it is forgotten. What goes wrong is counted, and no way has more of it than its
//! budget. A world that tells its [state](Choices::visit) need not be followed beyond one that it has been in before.

mod digest;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

pub use digest::{Digest, State};

/// What was answered at a place, and how many answers there were.
#[derive(Clone, Copy, Debug)]
struct Answer {
    chosen: usize,
    of: usize,
}

#[derive(Debug, Default)]
struct Way {
    answers: Vec<Answer>,
    /// How many of them have been given in this run.
    given: usize,
    faults_left: usize,
    /// How many answers the way had when it began: up to there all has been seen.
    known: usize,
    /// The states that the way has been in: before which answer, which, and with how many faults left.
    path: Vec<(usize, u64, usize)>,
    /// All states, with the most faults left that any way had there.
    states: HashMap<u64, usize>,
    /// What happened; none unless the way is to be told.
    told: Option<Vec<String>>,
}

/// When a world has been in a state before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Never, or with fewer faults left: it goes on.
    First,
    /// In another way: all that can come has been gone through.
    Known,
    /// In this way: it can go round for ever.
    Again,
}

/// Where one run of a world asks.
#[derive(Clone, Debug)]
pub struct Choices(Rc<RefCell<Way>>);

impl Choices {
    /// One of `count` things, each as good as the others.
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

    /// 0: all goes well. Another number below `count` is something that goes wrong, for as long as that may be.
    pub fn fault(&self, count: usize) -> usize {
        let may_fail = self.0.borrow().faults_left > 0;
        let chosen = if may_fail { self.any(count) } else { self.any(1) };
        self.0.borrow_mut().faults_left -= usize::from(chosen > 0);
        chosen
    }

    /// The answers so far: what a failing test prints, so that the way can be gone again.
    pub fn answers(&self) -> Vec<usize> {
        let way = self.0.borrow();
        way.answers[..way.given].iter().map(|answer| answer.chosen).collect()
    }

    /// When the world has been in this state before, with as much left to go wrong. `digest` is that of all on which
    /// the rest of the way depends, but for the faults that are left.
    pub fn visit(&self, digest: impl FnOnce() -> u64) -> Visit {
        let (given, faults_left) = {
            let way = self.0.borrow();
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
        if way.states.get(&digest).is_some_and(|&left| left >= faults_left) {
            return Visit::Known;
        }
        way.states.insert(digest, faults_left);
        way.path.push((given, digest, faults_left));
        Visit::First
    }

    /// Something happens: kept when the way is to be told.
    pub fn tell(&self, event: impl FnOnce() -> String) {
        if let Some(told) = &mut self.0.borrow_mut().told {
            told.push(event());
        }
    }
}

/// What was gone through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Ways.
    pub ways: u64,
    /// Places at which something was decided, in all ways together.
    pub decisions: u64,
    /// The most places of one way.
    pub depth: usize,
    /// Different states, if the world tells them.
    pub states: usize,
}

/// Runs a world in every way in which at most `faults` things go wrong.
///
/// # Panics
/// When `run` returns what is broken: with what it says, the way, and what the world [told](Choices::tell) of it.
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
        while way.answers.last().is_some_and(|last| last.chosen + 1 == last.of) {
            way.answers.pop();
        }
        match way.answers.last_mut() {
            Some(last) => last.chosen += 1,
            None => return explored,
        }
    }
}

/// The last way once more, told.
fn told(choices: &Choices, broken: &str, faults: usize, mut run: impl FnMut(&Choices) -> Result<(), String>) -> String {
    let answers = choices.answers();
    {
        let mut way = choices.0.borrow_mut();
        way.answers.truncate(answers.len());
        // Of what the way itself has added nothing is known any more.
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
