//! What a live run shows of itself while it goes on.

use std::collections::BTreeMap;

use hitless_switch::DropReason;
use hitless_wire::{BitRate, Duration};

use super::LiveFabric;
use crate::link::LinkCounters;
use crate::outside::{Point, Refused};
use crate::scenario::MechanismSettings;
use crate::topology::select::select_links;
use crate::topology::{DirectedLink, Node};

/// A link in one direction.
#[derive(Clone, Debug)]
pub struct LinkView {
    /// "sw1->sw2".
    pub name: String,
    /// What it counted.
    pub counters: LinkCounters,
    /// Bytes waiting for it at its switch; none when no switch that is here sends on it.
    pub queue_bytes: Option<u64>,
}

/// A moment of a live run.
#[derive(Clone, Debug)]
pub struct FabricView {
    /// Links of switches that are here.
    pub links: Vec<LinkView>,
    /// Packets lost, by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets taken out without loss, by reason.
    pub retired: BTreeMap<&'static str, u64>,
    /// Switch, mechanism, scope, counter, value.
    pub mechanisms: Vec<(String, &'static str, String, &'static str, u64)>,
}

impl LiveFabric {
    /// How things are.
    pub fn view(&mut self) -> FabricView {
        let refused = |is_loss: bool| {
            let counts = self.counts().refused;
            let reasons = Refused::ALL.into_iter().filter(move |reason| reason.is_loss() == is_loss);
            reasons.map(move |reason| (reason.name(), counts[reason as usize])).filter(|&(_, count)| count > 0)
        };
        let (lost, kept) = (refused(true), refused(false));
        let mut drops = self.simulation.drops();
        drops.extend(lost);
        let mut retired = self.simulation.ended_in_switches(|reason: DropReason| !reason.is_loss());
        retired.extend(kept);
        FabricView { links: self.link_views(), drops, retired, mechanisms: self.mechanism_counters() }
    }

    /// The rate of each point's link.
    pub fn rates(&self) -> impl Iterator<Item = (String, BitRate)> + '_ {
        let rate = |point: &Point| self.simulation.topology.link(point.outwards.link).settings.rate;
        self.points().iter().map(move |point| (point.name.clone(), rate(point)))
    }

    /// Times that a mechanism waits for what crosses a link to a switch elsewhere, which costs real time: what it is, and
    /// how long.
    pub fn intervals_over_real_links(&self) -> Vec<(String, Duration)> {
        let topology = &self.simulation.topology;
        let is_real = |link: &DirectedLink| {
            let mut switches = self.points().iter().filter(|point| point.is_switch());
            switches.any(|point| point.outwards == *link || point.inwards() == *link)
        };
        let mut intervals = Vec::new();
        for settings in &self.simulation.scenario.mechanisms {
            if let MechanismSettings::LinkGuardian(settings) = settings {
                let links = select_links(topology, &settings.link).unwrap_or_default();
                let real = links.into_iter().filter(is_real);
                let name = |link| format!("ack_no_timeout of {}", topology.link_name(link));
                intervals.extend(real.map(|link| (name(link), settings.timeout())));
            }
        }
        intervals
    }

    fn link_views(&mut self) -> Vec<LinkView> {
        let here = |node: Node, is_here: &[bool]| matches!(node, Node::Switch(id) if is_here[id.0 as usize]);
        let mut views = Vec::new();
        for index in 0..self.simulation.medium.links.len() {
            let link = DirectedLink::from_index(index);
            let (from, to) = self.simulation.topology.ends(link);
            let is_here = &self.is_here;
            if !here(from.node, is_here) && !here(to.node, is_here) {
                continue;
            }
            let queue_bytes = match from.node {
                Node::Switch(id) if is_here[id.0 as usize] => {
                    Some(self.simulation.switches[id.0 as usize].port_bytes(self.now, from.port))
                }
                _ => None,
            };
            let name = self.simulation.topology.link_name(link);
            views.push(LinkView { name, counters: self.simulation.medium.links[index].counters, queue_bytes });
        }
        views
    }

    fn mechanism_counters(&self) -> Vec<(String, &'static str, String, &'static str, u64)> {
        let reports = self.simulation.reports(self.now);
        let rows = reports.into_iter().flat_map(|(switch, report)| {
            let name = self.simulation.topology.switch(switch).name.clone();
            let mechanism = report.mechanism;
            report
                .counters
                .into_iter()
                .map(move |(scope, counter, value)| (name.clone(), mechanism, scope, counter, value))
        });
        rows.collect()
    }
}
