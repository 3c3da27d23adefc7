//! Which switch runs which mechanisms, and what the control plane tells them when.

mod afq;
mod bolt;
mod deflection;
mod link_layer_retry;
mod linkguardian;
mod rimm;
mod sqr;
mod trimming;
mod vertigo;
mod wharf;

use hitless_mechanisms::afq::config::AfqConfig;
use hitless_mechanisms::rimm::RimmConfig;
use hitless_mechanisms::sqr::SqrConfig;
use hitless_mechanisms::{
    Afq, AnyMechanism, Bolt, LinkGuardian, LinkLayerRetry, RankGuard, Rimm, Sqr, Trimming, Wharf,
};
use hitless_wire::{Bytes, PortId, Time};

use super::changes::Change;
use crate::scenario::{MechanismSettings, Scenario};
use crate::topology::select::select_links;
use crate::topology::{Endpoint, Node, SwitchId, Topology};

/// What mechanisms need of a fabric.
pub(super) struct Plan {
    /// By switch.
    pub mechanisms: Vec<Vec<AnyMechanism>>,
    /// By switch and recirculation port: what its queue may hold.
    pub recirculation_limits: Vec<Vec<Option<Bytes>>>,
    /// Commands of the control plane.
    pub commands: Vec<(Time, Change)>,
    /// A mechanism asks which neighbours send packets back.
    pub asks_for_returns: bool,
}

impl Plan {
    /// Leaves out what concerns switches that are not here.
    pub fn keep(&mut self, is_here: &[bool]) {
        let of_others = self.mechanisms.iter_mut().zip(is_here).filter(|(_, is_here)| !**is_here);
        of_others.for_each(|(mechanisms, _)| mechanisms.clear());
        let is_here = |change: &Change| match change {
            Change::Command { switch, .. } => is_here[*switch as usize],
            Change::Loss { .. } | Change::State { .. } | Change::Cut { .. } | Change::Mend { .. } => true,
        };
        self.commands.retain(|(_, change)| is_here(change));
    }
}

/// A mechanism, whatever its place among those of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sqr,
    LinkGuardian,
}

/// The mechanisms of one switch, as far as they are known.
#[derive(Default)]
struct Draft {
    sqr: Option<SqrConfig>,
    linkguardian: Option<LinkGuardian>,
    link_layer_retry: Option<LinkLayerRetry>,
    wharf: Option<Wharf>,
    /// The one that chooses where a packet goes.
    deflection: Option<AnyMechanism>,
    rank_guard: Option<RankGuard>,
    trimming: Option<Trimming>,
    bolt: Option<Bolt>,
    rimm: Option<RimmConfig>,
    /// One for each entry that names ports of the switch.
    afq: Vec<AfqConfig>,
}

impl Draft {
    /// The kinds in the order in which their hooks run: SQR copies a packet when it leaves its queue, before
    /// LinkGuardian numbers it for the link. LinkGuardian's rivals stand in its place. RIMM comes behind them: it writes the
    /// depth of the port that a packet leaves by in the end, and nothing into copies that are kept. Bolt comes before whoever may
    /// send a packet elsewhere: it looks at the queue that routing chose, and gives its notices a queue that nobody changes. A
    /// rank guard comes before whoever goes by ranks, and trimming before whoever would deflect its headers. AFQ comes last: whoever changes the port of a packet in ingress does so
    /// before AFQ gives it a queue there. Only those of [`Kind`] are commanded.
    fn kinds(&self) -> impl Iterator<Item = Kind> {
        let sqr = self.sqr.is_some().then_some(Kind::Sqr);
        sqr.into_iter().chain(self.linkguardian.is_some().then_some(Kind::LinkGuardian))
    }

    fn finish(self) -> Vec<AnyMechanism> {
        let sqr = self.sqr.map(|config| AnyMechanism::from(Sqr::new(config)));
        let afq = self.afq.into_iter().map(|config| AnyMechanism::from(Afq::new(config)));
        let rimm = self.rimm.map(|config| AnyMechanism::from(Rimm::new(config)));
        let of_links = self.linkguardian.map(AnyMechanism::from).into_iter();
        let of_links = of_links.chain(self.link_layer_retry.map(AnyMechanism::from));
        let of_links = of_links.chain(self.wharf.map(AnyMechanism::from));
        sqr.into_iter()
            .chain(of_links)
            .chain(self.bolt.map(AnyMechanism::from))
            .chain(rimm)
            .chain(self.rank_guard.map(AnyMechanism::from))
            .chain(self.trimming.map(AnyMechanism::from))
            .chain(self.deflection)
            .chain(afq)
            .collect()
    }
}

/// A command for a mechanism of a switch.
struct Command {
    at: Time,
    switch: SwitchId,
    kind: Kind,
    number: u32,
}

/// A switch and one of its ports.
type SwitchPort = (SwitchId, PortId);

struct Planner<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    /// By switch.
    drafts: Vec<Draft>,
    recirculation_limits: Vec<Vec<Option<Bytes>>>,
    commands: Vec<Command>,
}

/// Reads the scenario's mechanisms.
///
/// # Errors
/// A sentence, when a link that a mechanism names cannot be found; a checked scenario has none.
pub(super) fn plan(scenario: &Scenario, topology: &Topology) -> Result<Plan, String> {
    read(scenario, topology).map(Planner::finish)
}

fn read<'a>(scenario: &'a Scenario, topology: &'a Topology) -> Result<Planner<'a>, String> {
    let switches = topology.switches.len();
    let ports = usize::from(scenario.switch.recirculation_ports);
    let mut planner = Planner {
        scenario,
        topology,
        drafts: (0..switches).map(|_| Draft::default()).collect(),
        recirculation_limits: vec![vec![None; ports]; switches],
        commands: Vec::new(),
    };
    for settings in &scenario.mechanisms {
        match settings {
            MechanismSettings::LinkGuardian(_) => {}
            MechanismSettings::LinkLayerRetry(settings) => planner.add_link_layer_retry(settings)?,
            MechanismSettings::Wharf(settings) => planner.add_wharf(settings)?,
            MechanismSettings::Sqr(settings) => planner.add_sqr(settings)?,
            MechanismSettings::Afq(settings) => planner.add_afq(settings),
            MechanismSettings::Dibs(settings) => planner.add_dibs(settings),
            MechanismSettings::SimpleDeflection(settings) => planner.add_simple_deflection(settings),
            MechanismSettings::PreemptiveDeflection(settings) => planner.add_preemptive_deflection(settings),
            MechanismSettings::Trimming(settings) => planner.add_trimming(settings),
            MechanismSettings::Vertigo(settings) => planner.add_vertigo(settings),
            MechanismSettings::Aifo(settings) => planner.add_aifo(settings),
            MechanismSettings::Pabo(settings) => planner.add_pabo(settings),
            MechanismSettings::RankGuard(settings) => planner.add_rank_guard(settings),
            MechanismSettings::Bolt(settings) => planner.add_bolt(settings),
            MechanismSettings::Rimm(settings) => planner.add_rimm(settings)?,
        }
    }
    planner.add_linkguardians()?;
    Ok(planner)
}

impl Planner<'_> {
    fn draft(&mut self, switch: SwitchId) -> &mut Draft {
        &mut self.drafts[switch.0 as usize]
    }

    /// The ports at both ends of each link that `name` means.
    fn ends_of(&self, name: &str) -> Result<Vec<(SwitchPort, SwitchPort)>, String> {
        let links = select_links(self.topology, name)?.into_iter().map(|link| self.topology.ends(link));
        links.map(|(from, to)| Ok((self.switch_port(from)?, self.switch_port(to)?))).collect()
    }

    fn switch_port(&self, end: Endpoint) -> Result<SwitchPort, String> {
        match end.node {
            Node::Switch(switch) => Ok((switch, end.port)),
            Node::Host(_) => Err(format!("{} is a host", self.topology.name(end.node))),
        }
    }

    fn finish(self) -> Plan {
        let commands = self.commands.iter().map(|command| {
            let mut kinds = self.drafts[command.switch.0 as usize].kinds();
            let mechanism = kinds.position(|kind| kind == command.kind).expect("who commands a mechanism has added it");
            let (switch, number) = (command.switch.0, command.number);
            (command.at, Change::Command { switch, mechanism, command: number })
        });
        Plan {
            commands: commands.collect(),
            asks_for_returns: self.drafts.iter().any(|draft| draft.rimm.is_some()),
            mechanisms: self.drafts.into_iter().map(Draft::finish).collect(),
            recirculation_limits: self.recirculation_limits,
        }
    }
}

#[cfg(test)]
mod tests;
