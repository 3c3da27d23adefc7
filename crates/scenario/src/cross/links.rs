//! Links and their faults.

use std::collections::BTreeSet;

use crate::network::link::{LinkImpairment, LinkState};
use crate::network::loss::LossModel;
use crate::network::topology::Topology;
use hitless_core::settings::Problem;

use super::check::Check;

impl Check<'_> {
    pub(super) fn links(&mut self, topology: &Topology) {
        let mut taken = BTreeSet::new();
        for (index, link) in self.scenario.links.iter().enumerate() {
            let section = format!("link[{index}]");
            let field = format!("{section}.name");
            let links = self.links_named(topology, &link.name, &field);
            let fresh = links.iter().all(|link| !taken.contains(link));
            self.require(fresh, &field, "this direction has a [[link]] entry already");
            taken.extend(links);
            self.impairment(link, &section);
        }
    }

    fn impairment(&mut self, link: &LinkImpairment, section: &str) {
        self.times_rise(link.changes.iter().map(|change| change.at), &format!("{section}.changes"));
        self.loss(&link.loss, &format!("{section}.loss"));
        for (index, change) in link.changes.iter().enumerate() {
            self.loss(&change.loss, &format!("{section}.changes[{index}].loss"));
        }
        self.times_rise(link.schedule.iter().map(|change| change.at), &format!("{section}.schedule"));
        let mut state = LinkState::Up;
        for (index, change) in link.schedule.iter().enumerate() {
            let field = format!("{section}.schedule[{index}].state");
            self.require(change.state != state, &field, "the link is in this state already (it is up at the start)");
            state = change.state;
        }
    }

    fn loss(&mut self, model: &LossModel, section: &str) {
        let LossModel::GilbertElliott(loss) = model else { return };
        let problem = |(field, rule): (&str, String)| Problem::new(format!("{section}.{field}"), "", rule);
        self.report_all(loss.fault().map(problem));
    }
}
