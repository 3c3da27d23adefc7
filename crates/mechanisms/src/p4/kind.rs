//! A P4 program as a kind of mechanism.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_scenario::Check;
use hitless_scenario::kind::{Built, Claim, Claimed, Kind, Stage, Surroundings, built};
use hitless_scenario::network::topology::select::{select_ports, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};

use super::P4;
use super::load::Loaded;
use super::queues::{Queues, most};
use super::settings::P4Settings;

impl Kind for P4 {
    const NAME: &'static str = "p4";
    const TITLE: &'static str = "a P4 program";
    const SUMMARY: &'static str = "A program in P4, as p4c compiles it for BMv2 (v1model), on switches.";
    const STAGE: Stage = Stage::QueueChoice;
    const PLACES_FIELD: &'static str = "switches";
    const COUNTERS: hitless_switch::Declared = &[super::Counters::ALL, super::TallyCounters::ALL];
    type Settings = P4Settings;

    /// Fills in the digest of its files; the check reports unreadable files.
    fn resolve(settings: &mut P4Settings, around: Surroundings<'_>) {
        if settings.digest.is_none() {
            let loaded = Loaded::read(settings, &around.scenario.folder, around);
            settings.digest = loaded.ok().map(|loaded| loaded.digest);
        }
    }

    fn switches(settings: &P4Settings, topology: &Topology) -> BTreeSet<SwitchId> {
        select_ports_by_switch(topology, &settings.switches).into_keys().collect()
    }

    /// The program decides the destination of all packets of its switches.
    fn claims(settings: &P4Settings, topology: &Topology) -> Vec<Claimed> {
        let switches = Self::switches(settings, topology);
        vec![Claim::ChoosesPort.on_switches(&switches), Claim::ChoosesQueue.on_switches(&switches)]
    }

    /// True, because the files that would tell are not read yet.
    fn marks(_: &P4Settings) -> bool {
        true
    }

    fn queues(settings: &P4Settings) -> u16 {
        most(settings)
    }

    fn check(settings: &P4Settings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
        let topology = around.topology;
        for (number, name) in settings.switches.iter().enumerate() {
            let is_switch = topology.node(name).is_some_and(|node| node.is_switch());
            check.require(is_switch, &format!("{section}.switches[{number}]"), "is no switch");
        }
        let switches = Self::switches(settings, topology);
        let own = settings.queue.iter().enumerate().map(|(number, entry)| (format!("queue[{number}]"), &entry.ports));
        let turning = settings.rounds.iter().enumerate();
        let turning = turning.map(|(number, entry)| (format!("rounds[{number}]"), &entry.ports));
        for (field, name) in
            own.chain(turning).flat_map(|(field, names)| names.iter().map(move |name| (field.clone(), name)))
        {
            let rule = match select_ports(topology, name) {
                Ok(ports) if ports.iter().all(|port| switches.contains(&port.switch)) => continue,
                Ok(_) => format!("'{name}' is of a switch that does not run the program"),
                Err(rule) => rule,
            };
            check.report(Problem::new(format!("{section}.{field}.ports"), "", rule));
        }
        let found = Loaded::read(settings, &check.scenario.folder, around).and_then(|loaded| {
            switches.iter().try_for_each(|&id| loaded.pipeline(settings, id, topology, 0).map(drop))
        });
        if let Err((field, rule)) = found {
            check.report(Problem::new(format!("{section}.{field}"), "", rule));
        }
    }

    fn build(entries: &[&P4Settings], around: Surroundings<'_>) -> Result<Built, String> {
        let mut all = Built::new();
        for settings in entries {
            let text = |(field, rule)| format!("{field}: {rule}");
            let loaded = Loaded::read(settings, &around.scenario.folder, around).map_err(text)?;
            for id in Self::switches(settings, around.topology) {
                let seed = around.scenario.seed ^ (u64::from(id.0) << 32);
                let pipeline = loaded.pipeline(settings, id, around.topology, seed).map_err(text)?;
                let queues = Queues::new(settings, id, around);
                let has_recirculation = around.scenario.switch.recirculation_ports > 0;
                let recirculation = has_recirculation.then(|| around.topology.recirculation_port(id, 0));
                let hosts = around.topology.hosts.len() as u32;
                let stream = around.stream(id, &settings.random_stream);
                all.push(built((id, Self::new(pipeline, queues, recirculation, hosts, stream))));
            }
        }
        Ok(all)
    }
}
