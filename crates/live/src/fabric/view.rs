use std::collections::BTreeMap;

use hitless_core::wire::{BitRate, Duration};
use hitless_scenario::network::topology::DirectedLink;
use hitless_simulation::run::{Counted, counted};
use hitless_switch::LinkEnd;

use super::counts::Refused;
use super::live::LiveFabric;
use super::points::Point;
use crate::status::{LinkStatus, ProtectionStatus};

#[derive(Clone, Debug)]
pub struct FabricView {
    pub links: Vec<LinkStatus>,
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets removed without loss, by reason.
    pub retired: BTreeMap<&'static str, u64>,
    /// Switch, mechanism, scope, counter, value.
    pub mechanisms: Vec<Counted>,
    pub protections: Vec<ProtectionStatus>,
}

impl LiveFabric {
    pub fn view(&mut self) -> FabricView {
        let refused = |is_loss: bool| {
            let counts = self.counts().refused;
            let reasons = Refused::NAMED.into_iter().filter(move |(reason, _)| reason.is_loss() == is_loss);
            reasons.map(move |(reason, name)| (name, counts[reason as usize])).filter(|&(_, count)| count > 0)
        };
        let (lost, kept) = (refused(true), refused(false));
        let mut drops = self.run.drops();
        drops.extend(lost);
        let mut retired = self.run.retired();
        retired.extend(kept);
        let mechanisms = counted(self.run.topology(), &self.run.reports(self.now));
        FabricView { links: self.links(), drops, retired, mechanisms, protections: self.protections() }
    }

    pub fn rates(&self) -> impl Iterator<Item = (String, BitRate)> + '_ {
        let rate = |point: &Point| self.run.topology().spec(point.outwards).rate;
        self.points().iter().map(move |point| (point.name.clone(), rate(point)))
    }

    /// Returns the timeouts of mechanisms that wait for a round trip to a switch elsewhere, which takes real time: name
    /// and duration.
    pub fn intervals_over_real_links(&self) -> Vec<(String, Duration)> {
        let topology = self.run.topology();
        let is_real = |link: &DirectedLink| {
            let mut switches = self.points().iter().filter(|point| point.is_switch());
            switches.any(|point| point.outwards == *link || point.inwards() == *link)
        };
        let waits = self.run.scenario().mechanisms.iter().flat_map(|entry| entry.waits(topology));
        let real = waits.filter(|(link, _, _)| is_real(link));
        real.map(|(link, name, time)| (format!("{name} of {}", topology.link_name(link)), time)).collect()
    }

    /// Returns the local ends of protected links.
    fn protections(&self) -> Vec<ProtectionStatus> {
        let topology = self.run.topology();
        let here = self.run.protection().states().into_iter().filter(|&(link, end, _)| {
            let (from, to) = topology.ends(link);
            self.is_here(if end == LinkEnd::Sender { from.node } else { to.node })
        });
        here.map(|(link, end, state)| {
            let (end, outwards) = match end {
                LinkEnd::Sender => ("sender", link),
                LinkEnd::Receiver => ("receiver", link.reversed()),
            };
            let beyond = self.points().iter().find(|point| point.outwards == outwards);
            ProtectionStatus {
                link: topology.link_name(link),
                end,
                beyond: beyond.map(|point| point.name.clone()),
                is_commanded: state.is_commanded,
                phase: state.phase.name(),
                keeps_order: state.keeps_order,
                copies: state.copies,
                packets: state.packets,
                lost_on_link: state.lost_on_link,
                recovered: state.recovered,
                lost: state.lost,
            }
        })
        .collect()
    }

    fn links(&mut self) -> Vec<LinkStatus> {
        let mut links = Vec::new();
        for index in 0..2 * self.run.topology().links.len() {
            let link = DirectedLink::from_index(index);
            let (from, to) = self.run.topology().ends(link);
            let sender = from.node.switch().filter(|_| self.is_here(from.node));
            if sender.is_none() && !self.is_here(to.node) {
                continue;
            }
            let counters = self.run.link_counters(link);
            links.push(LinkStatus {
                link: self.run.topology().link_name(link),
                frames_sent: counters.frames_sent,
                frames_arrived: counters.frames_arrived,
                arrived_bytes: counters.bytes_arrived,
                frames_corrupted: counters.frames_corrupted,
                frames_lost_down: counters.frames_lost_down,
                queue_bytes: sender.map(|id| self.run.port_bytes(self.now, id, from.port)),
            });
        }
        links
    }
}
