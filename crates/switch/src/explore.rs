//! Every way in which a small world can go: for tests of state machines, whose worlds ask here what happens next.
//!
//! A world is run anew for each way; it asks at the same places in the same order as long as it is answered the same,
//! so a way is the list of its answers. Ways are gone through depth first: the last answer that can be another becomes
//! the next, and what came after it is forgotten. What goes wrong is counted, and no way has more of it than its
//! budget.

use std::cell::RefCell;
use std::rc::Rc;

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
}

/// Runs a world in every way in which at most `faults` things go wrong.
///
/// # Panics
/// When `run` answers what is broken: with the way, and what it says.
pub fn explore(faults: usize, mut run: impl FnMut(&Choices) -> Result<(), String>) -> Explored {
    let mut explored = Explored::default();
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        let choices = Choices(Rc::new(RefCell::new(Way { answers, given: 0, faults_left: faults })));
        if let Err(broken) = run(&choices) {
            panic!("{broken}, when it went {:?}", choices.answers());
        }
        let mut way = choices.0.borrow_mut();
        explored.ways += 1;
        explored.decisions += way.given as u64;
        explored.depth = explored.depth.max(way.given);
        answers = std::mem::take(&mut way.answers);
        drop(way);
        while answers.last().is_some_and(|last| last.chosen + 1 == last.of) {
            answers.pop();
        }
        match answers.last_mut() {
            Some(last) => last.chosen += 1,
            None => return explored,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of five things at most two go wrong, each in two ways: 1 + 5 x 2 + 10 x 4.
    #[test]
    fn every_way_is_gone_once() {
        let mut seen = std::collections::BTreeSet::new();
        let explored = explore(2, |choices| {
            for _ in 0..5 {
                choices.fault(3);
            }
            if seen.insert(choices.answers()) { Ok(()) } else { Err("twice".into()) }
        });
        assert_eq!(explored, Explored { ways: 51, decisions: 255, depth: 5 });
    }

    #[test]
    #[should_panic(expected = "broken, when it went [0, 1, 0]")]
    fn what_is_broken_is_told_with_its_way() {
        explore(1, |choices| {
            let wrong: Vec<usize> = (0..3).map(|_| choices.fault(2)).collect();
            if wrong[1] == 1 { Err("broken".into()) } else { Ok(()) }
        });
    }
}
