//! Links that somebody cuts and mends while the run goes on.
//!
//! For its ends such a failure is one like those of the scenario: they detect it, and do what `[recovery]` says.

use hitless_wire::{Duration, Time};

use super::Simulation;
use super::course::Course;
use crate::scenario::{LinkFailure, LinkState, Scenario};
use crate::topology::{DirectedLink, LinkId};

/// A failure that never comes, for each link: so it may be cut, and what detours need is prepared.
pub(in crate::simulation) fn every_link_may_fail(scenario: &mut Scenario) {
    if scenario.recovery.is_none() {
        return;
    }
    let Ok(topology) = scenario.topology.build() else { return };
    let name = |number: usize| topology.link_name(DirectedLink::from_index(2 * number)).replace("->", "<->");
    let never = |number: usize| LinkFailure {
        link: name(number),
        first: Time::NEVER,
        every: None,
        count: None,
        jitter: Duration::ZERO,
        outage: None,
    };
    scenario.failures.extend((0..topology.links.len()).map(never));
}

impl Simulation {
    /// Whether its ends find out when this link is cut.
    pub(in crate::simulation) fn is_watched(&self, link: LinkId) -> bool {
        self.recovery.settings.is_some() && self.recovery.links.iter().any(|known| known.link == link)
    }

    /// Cuts a link that is watched: until it is mended, or, with the scheme "same-port", until that has replaced it.
    pub(in crate::simulation) fn cut_link(&mut self, now: Time, link: LinkId) {
        if let Some(number) = self.number_of(link) {
            self.cut(now, number, None);
        }
    }

    /// Mends a link that is watched.
    pub(in crate::simulation) fn mend_link(&mut self, now: Time, link: LinkId) {
        let Some(known) = self.number_of(link).map(|number| &self.recovery.links[number]) else { return };
        let (true, Some(failure)) = (known.is_down, known.latest) else {
            // One direction may have been cut by itself.
            for direction in known.directions() {
                self.medium.links[direction.index()].set_state(now, LinkState::Up);
            }
            return;
        };
        let at = now + Duration(1);
        // An end that has not detected the failure yet does so, and hears at the same moment that it is over.
        let down = self.recovery.records[failure as usize].down;
        let returned = [0, 1].map(|end| Some(known.detector.up(end, at).max(known.detector.down(end, down))));
        self.schedule_course(failure, &Course { whole: Some(at), returned, ..Course::default() });
    }

    fn number_of(&self, link: LinkId) -> Option<usize> {
        self.recovery.links.iter().position(|known| known.link == link)
    }
}
