//! The cost per packet of a discipline or a mechanism: many constant-rate flows through one busy port.
//!
//! Eight hosts with eight flows each send to one host through one switch. Link mechanisms need a second switch in a
//! row; compare them with FIFO queues on two switches. The figures include senders, links and receiver, which cost the
//! same in every run, so the difference between two figures is the difference between two disciplines.

use hitless_core::engine::Progress;
use hitless_core::settings::SettingsError;
use hitless_core::wire::Time;
use hitless_scenario::kind::Registry;
use hitless_scenario::{Scenario, check};

use crate::results::{Column, Outcome};
use crate::run::Simulation;

const SENDERS: u64 = 8;
const FLOWS_PER_SENDER: u64 = 8;
const LINE_KBPS: u64 = 10_000_000;
/// Simulated duration of a full run, 400 ms.
const DURATION_PS: u64 = 400_000_000_000;

/// A discipline or mechanism to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchWork {
    /// The name on the command line.
    pub name: &'static str,
    /// The workload to compare it with.
    pub base: &'static str,
    /// Number of switches in a row.
    switches: usize,
    /// Lines of the `[switch]` section.
    switch: &'static str,
    /// Further sections.
    more: &'static str,
    /// Lines of AFQ's section; `None` without AFQ.
    afq: Option<&'static str>,
}

/// Offered load as a percentage of the busy port's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// 90 %: no packet is dropped.
    High,
    /// 150 %: the buffer is always full.
    Over,
}

impl Load {
    /// The load called "high" or "over".
    pub fn named(name: &str) -> Option<Self> {
        [("high", Self::High), ("over", Self::Over)].into_iter().find(|(known, _)| *known == name).map(|(_, load)| load)
    }

    const fn percent(self) -> u64 {
        match self {
            Self::High => 90,
            Self::Over => 150,
        }
    }
}

const fn one(name: &'static str, switch: &'static str) -> SwitchWork {
    SwitchWork { name, base: "fifo", switches: 1, switch, more: "", afq: None }
}

const fn afq(name: &'static str, settings: &'static str) -> SwitchWork {
    SwitchWork { afq: Some(settings), ..one(name, "") }
}

const fn two(name: &'static str, more: &'static str) -> SwitchWork {
    SwitchWork { name, base: "fifo-of-two", switches: 2, switch: "", more, afq: None }
}

/// All workloads.
pub const SWITCH_WORKS: [SwitchWork; 14] = [
    one("fifo", ""),
    one("strict", "scheduler = \"strict\"\nqueues_per_port = 2"),
    one("drr", "scheduler = \"drr\"\nqueues_per_port = 2"),
    one("drr-per-flow", "flow_queueing = { kind = \"drr\" }"),
    one("sfq", "flow_queueing = { kind = \"sfq\" }"),
    one("fq-codel", "flow_queueing = { kind = \"fq-codel\", target = \"10 us\", interval = \"100 us\" }"),
    one("ideal-fq", "flow_queueing = { kind = \"ideal-fq\" }"),
    afq("afq", ""),
    afq("afq-drr", "scheduler = { kind = \"deficit-round-robin\" }"),
    afq("afq-two-groups", "scheduler = { kind = \"two-groups\" }"),
    afq("afq-occupancy", "round = \"from-occupancy\""),
    two("fifo-of-two", ""),
    // SQR keeps its copies in a loop of recirculations, so mirroring needs a latency above 0.
    SwitchWork {
        switch: "mirror_latency = \"200 ns\"",
        ..two("sqr", "[[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw0->sw1\"]\n")
    },
    two("linkguardian", "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw0->sw1\"\n"),
];

impl SwitchWork {
    /// The workload with this name.
    pub fn named(name: &str) -> Option<Self> {
        SWITCH_WORKS.into_iter().find(|work| work.name == name)
    }

    /// Parses and checks the scenario.
    ///
    /// # Errors
    /// If the scenario does not pass the check, which is a bug in this module.
    pub fn scenario(&self, registry: &Registry, load: Load) -> Result<Scenario, SettingsError> {
        check(&self.text(load), &format!("bench switch {}", self.name), registry)
    }

    fn text(&self, load: Load) -> String {
        let quoted = |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let senders = quoted((0..SENDERS).map(|host| format!("s{host}")).collect());
        let switches = quoted((0..self.switches).map(|switch| format!("sw{switch}")).collect());
        let sources = quoted((0..SENDERS * FLOWS_PER_SENDER).map(|flow| format!("s{}", flow % SENDERS)).collect());
        let destinations = quoted((0..SENDERS * FLOWS_PER_SENDER).map(|_| "r".to_owned()).collect());
        let rate_kbps = LINE_KBPS * load.percent() / 100 / (SENDERS * FLOWS_PER_SENDER);
        let Self { switch, more, .. } = self;
        let afq = self.afq.map_or_else(String::new, |lines| format!("[[mechanism]]\nkind = \"afq\"\n{lines}\n"));
        format!(
            "name = \"bench-switch\"\nduration = \"400 ms\"\n\
             [topology]\nkind = \"chain\"\nhosts_left = [{senders}]\nswitches = [{switches}]\nhosts_right = [\"r\"]\n\
             host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
             switch_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
             [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"250 packets\" }}\n{switch}\n\
             [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"{rate_kbps} Kbps\"\n\
             [[flows]]\nname = \"many\"\nkind = \"constant-rate\"\ntransport = \"udp\"\n\
             sources = [{sources}]\ndestinations = [{destinations}]\n{more}{afq}"
        )
    }

    /// Runs a fraction of the simulated duration.
    ///
    /// # Errors
    /// If the scenario cannot be built; the message is a sentence.
    pub fn run(&self, registry: &Registry, load: Load, fraction: f64, seed: u64) -> Result<Outcome, String> {
        let scenario = self.scenario(registry, load).map_err(|error| error.to_string())?;
        let duration = Some(Time((DURATION_PS as f64 * fraction) as u64));
        Ok(Simulation::new(Scenario { seed, duration, ..scenario })?.run(&Progress::default()))
    }
}

/// Number of packets that hosts sent in a run.
pub fn packets_sent(outcome: &Outcome) -> u64 {
    let flows = outcome.tables.iter().filter(|table| table.name == "flows");
    let columns = flows.flat_map(|table| table.columns.iter().filter(|(name, _)| *name == "packets_sent"));
    let sum = |column: &Column| if let Column::Unsigned(values) = column { values.iter().sum() } else { 0 };
    columns.map(|(_, column)| sum(column)).sum()
}

#[cfg(test)]
mod tests {
    use hitless_mechanisms::builtin;

    use super::*;

    #[test]
    fn at_high_load_nothing_is_lost_and_at_overload_a_third() {
        for work in SWITCH_WORKS {
            assert!(SwitchWork::named(work.base).is_some_and(|base| base.base == base.name), "{}", work.name);
            for (load, least, most) in [(Load::High, 0.0, 0.0), (Load::Over, 0.30, 0.36)] {
                let outcome = work.run(builtin(), load, 0.05, 1).expect("the scenario is sound");
                assert_eq!(outcome.violations, Vec::<String>::new(), "{}", work.name);
                let lost: u64 = outcome.summary.drops.values().sum();
                let share = lost as f64 / packets_sent(&outcome) as f64;
                assert!((least..=most).contains(&share), "{} {load:?}: {share}", work.name);
            }
        }
    }
}
