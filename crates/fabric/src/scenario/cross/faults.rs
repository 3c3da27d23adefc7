//! Links and their faults, mechanisms, measurements.

use std::collections::BTreeSet;

use hitless_mechanisms::linkguardian::REQUEST_REGISTERS_MAX;
use hitless_wire::{Bytes, Duration, Time};

use super::Check;
use super::deflection::Chooser;
use super::fabric::Taken;
use crate::scenario::error::Problem;
use crate::scenario::guarded;
use crate::scenario::suggest::closest;
use crate::scenario::{
    Buffering, LinkGuardianMode, LinkGuardianSettings, LinkImpairment, LinkState, LossModel, MechanismSettings,
};
use crate::topology::select::{select_links, select_switch_ports};
use crate::topology::{DirectedLink, Topology};

impl Check<'_> {
    /// The links that `name` means; what is wrong with the name is reported on `field`.
    pub(super) fn links_named(&mut self, topology: &Topology, name: &str, field: &str) -> Vec<DirectedLink> {
        select_links(topology, name).unwrap_or_else(|rule| {
            let words = name.split(['-', '>', '<', '#']).map(str::trim).filter(|word| !word.is_empty());
            let unknown = words.filter(|word| topology.node(word).is_none());
            let guess = unknown.filter_map(|word| closest(word, topology.names())).next();
            let hint = guess.map(|name| format!("did you mean '{name}'?"));
            self.problems.push(Problem::new(field, "", rule).maybe_hint(hint));
            Vec::new()
        })
    }

    pub(super) fn one_link(&mut self, topology: &Topology, name: &str, field: &str) -> Option<DirectedLink> {
        let links = self.links_named(topology, name, field);
        self.require(links.len() < 2, field, "must be one direction: \"a->b\"");
        links.first().copied().filter(|_| links.len() == 1)
    }

    fn times_rise(&mut self, times: impl Iterator<Item = Time>, field: &str) {
        let mut previous = None;
        for (index, time) in times.enumerate() {
            let at = format!("{field}[{index}].at");
            self.require(previous.is_none_or(|previous| time > previous), &at, "must be later than the one before");
            self.require(self.is_within_run(time), &at, "must be before the run ends (duration)");
            previous = Some(time);
        }
    }

    pub(super) fn links(&mut self, topology: &Topology) {
        let mut taken = Vec::new();
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
        self.problems.extend(loss.fault().map(problem));
    }

    pub(super) fn mechanisms(&mut self, topology: &Topology) {
        let mut protected = Vec::new();
        let mut with_sqr = Taken::new();
        let mut with_afq = Vec::new();
        let mut with_rimm = Taken::new();
        let mut chosen = Taken::new();
        let mut guarded = Taken::new();
        let mut with_trimming = Taken::new();
        let mut with_bolt = Taken::new();
        for (index, mechanism) in self.scenario.mechanisms.iter().enumerate() {
            let section = format!("mechanism[{index}]");
            match mechanism {
                MechanismSettings::LinkGuardian(settings) => {
                    let field = format!("{section}.link");
                    let link = self.link_between_switches(topology, &settings.link, "LinkGuardian", &field);
                    let fresh = link.is_none_or(|link| !protected.contains(&link));
                    self.require(fresh, &format!("{section}.link"), "LinkGuardian protects this direction already");
                    protected.extend(link);
                    self.linkguardian(settings, &section);
                }
                MechanismSettings::LinkLayerRetry(settings) => self.link_layer_retry(topology, settings, &section),
                MechanismSettings::Wharf(settings) => self.wharf(topology, settings, &section),
                MechanismSettings::Sqr(settings) => self.sqr(topology, settings, &section, &mut with_sqr),
                MechanismSettings::Afq(settings) => self.afq(topology, settings, &section, &mut with_afq),
                MechanismSettings::Rimm(settings) => self.rimm(topology, settings, &section, &mut with_rimm),
                MechanismSettings::PreemptiveDeflection(settings) => self.preemptive_deflection(settings, &section),
                MechanismSettings::SimpleDeflection(settings) => self.simple_deflection(settings, &section),
                MechanismSettings::Aifo(settings) => self.capacity(settings.capacity, &section),
                MechanismSettings::Pabo(settings) => self.capacity(settings.capacity, &section),
                MechanismSettings::RankGuard(settings) => self.rank_guard(topology, settings, &section, &mut guarded),
                MechanismSettings::Trimming(settings) => {
                    self.trimming(topology, settings, &section, &mut with_trimming);
                }
                MechanismSettings::Bolt(settings) => self.bolt(topology, settings, &section, &mut with_bolt),
                MechanismSettings::Dibs(_) | MechanismSettings::Vertigo(_) => {}
            }
            if let Some(chooser) = Chooser::of(mechanism) {
                self.chooser(topology, chooser, &section, &mut chosen);
            }
        }
    }

    /// The recirculation ports that protected links share can serve them all.
    pub(super) fn admission(&mut self, topology: &Topology) {
        let Some(overload) = guarded::overload(self.scenario, topology) else { return };
        let (switch, number) = (&topology.switch(overload.switch).name, overload.recirculation);
        let from = if overload.at == Time::ZERO { String::new() } else { format!(" from {} on", overload.at) };
        let rule = format!("recirculation{number} of {switch} has no room for it{from}: {}", overload.reason);
        let hint = "more recirculation ports (switch.recirculation_ports) or faster ones (recirculation_rate); \
                    admission_control = false lets it be tried";
        let field = format!("mechanism[{}].link", overload.mechanism);
        self.problems.push(Problem::new(field, "", rule).hint(hint));
    }

    fn linkguardian(&mut self, settings: &LinkGuardianSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let both = settings.copies.is_some() && settings.actual_loss_rate.is_some();
        self.require(!both, &field("actual_loss_rate"), "has no effect when copies are given");
        self.require(settings.timer_period > Duration::ZERO, &field("timer_period"), "must be above zero");
        let waits = settings.ack_no_timeout.is_none_or(|timeout| timeout >= settings.timer_period);
        self.require(waits, &field("ack_no_timeout"), "must be at least one timer_period");
        let pause = settings.pause_threshold;
        let rises = pause.zip(settings.resume_threshold).is_none_or(|(pause, resume)| pause > resume);
        self.require(rises, &field("pause_threshold"), "must be above resume_threshold");
        let holds = pause.is_none_or(|pause| settings.reordering_buffer >= pause) || !settings.backpressure;
        self.require(holds, &field("reordering_buffer"), "must not be below pause_threshold");
        self.require(settings.sender_buffer > Bytes::ZERO, &field("sender_buffer"), "must be above zero");
        self.times_rise(settings.activation.iter().map(|change| change.at), &field("activation"));
        let mut active = false;
        for (index, change) in settings.activation.iter().enumerate() {
            let field = field(&format!("activation[{index}].active"));
            let changes = change.active != active || index == 0;
            self.require(changes, &field, "it is in this state already");
            active = change.active;
        }
        let begins_known = settings.handshake || settings.first_number == 0;
        self.require(begins_known, &field("first_number"), "needs handshake = true: else the receiver expects 0");
        self.second_channel(settings, section);
        self.fallback(settings, section);
        let registers = settings.consecutive_losses_max as usize <= REQUEST_REGISTERS_MAX;
        self.require_else(registers, || {
            let rule = format!("must be at most {REQUEST_REGISTERS_MAX}: so many registers the model has");
            Problem::new(field("consecutive_losses_max"), "", rule)
        });
        let has_ports = settings.buffering != Buffering::Recirculation || self.scenario.switch.recirculation_ports > 0;
        self.require(has_ports, &field("buffering"), "needs a recirculation port: switch.recirculation_ports is 0");
    }

    fn second_channel(&mut self, settings: &LinkGuardianSettings, section: &str) {
        let (classes, field) = (&settings.non_blocking_classes, format!("{section}.non_blocking_classes"));
        self.require(classes.iter().all(|&class| class < 8), &field, "a traffic class is a number from 0 to 7");
        let distinct: BTreeSet<_> = classes.iter().collect();
        self.require(distinct.len() == classes.len(), &field, "names a class twice");
        self.require(distinct.len() < 8, &field, "must leave a class: mode = \"non-blocking\" is for all of them");
        let is_needed = classes.is_empty() || settings.mode == LinkGuardianMode::Blocking;
        self.require(is_needed, &field, "has no effect with mode = \"non-blocking\": no class is kept in order");
    }

    fn fallback(&mut self, settings: &LinkGuardianSettings, section: &str) {
        let Some(fallback) = &settings.fallback else { return };
        let field = |name: &str| format!("{section}.fallback.{name}");
        self.require(fallback.period > Duration::ZERO, &field("period"), "must be above zero");
        self.require(fallback.hold > Duration::ZERO, &field("hold"), "must be above zero");
        self.require(fallback.hold_max >= fallback.hold, &field("hold_max"), "must not be below hold");
        let rises = fallback.off_above >= fallback.non_blocking_above;
        self.require(rises, &field("off_above"), "must not be below non_blocking_above");
    }

    pub(super) fn measure(&mut self, topology: &Topology) {
        for (index, sampling) in self.scenario.measure.queue.iter().enumerate() {
            let section = format!("measure.queue[{index}]");
            self.require(sampling.period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
            for (number, port) in sampling.ports.iter().enumerate() {
                let found = select_switch_ports(topology, port, self.scenario.switch.recirculation_ports);
                let problem = |rule| Problem::new(format!("{section}.ports[{number}]"), "", rule);
                self.problems.extend(found.err().map(problem));
            }
        }
        for (index, sampling) in self.scenario.measure.throughput.iter().enumerate() {
            let section = format!("measure.throughput[{index}]");
            self.require(sampling.period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
            for (number, link) in sampling.links.iter().enumerate() {
                self.one_link(topology, link, &format!("{section}.links[{number}]"));
            }
        }
        let measure = &self.scenario.measure;
        let flows = measure.flow.iter().map(|sampling| (&sampling.group, sampling.period));
        flows.enumerate().for_each(|(index, of)| self.sampled_group(of, &format!("measure.flow[{index}]")));
        let goodput = measure.goodput.iter().map(|sampling| (&sampling.group, sampling.period));
        goodput.enumerate().for_each(|(index, of)| self.sampled_group(of, &format!("measure.goodput[{index}]")));
    }

    fn sampled_group(&mut self, (group, period): (&String, Duration), section: &str) {
        self.require(period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
        let names = || self.scenario.flows.iter().map(|group| group.name.as_str());
        let guess = closest(group, names()).map(|name| format!("did you mean \"{name}\"?"));
        self.require_else(names().any(|name| name == group), || {
            Problem::new(format!("{section}.group"), "", "no [[flows]] has this name").maybe_hint(guess)
        });
    }
}
