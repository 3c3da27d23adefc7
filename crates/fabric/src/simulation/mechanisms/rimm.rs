//! RIMM on the switches with relieved ports, and on their neighbours, which tell them depths.

use std::collections::BTreeSet;

use hitless_mechanisms::rimm::{Again, Change, Neighbour, Release, RimmConfig, WatchedPort};
use hitless_wire::{Duration, PortId};

use super::Planner;
use crate::scenario::{RimmAgain, RimmChange, RimmMessages, RimmRelease, RimmSettings};
use crate::topology::select::SwitchPort;
use crate::topology::{Node, SwitchId};

impl Planner<'_> {
    pub(super) fn add_rimm(&mut self, settings: &RimmSettings) -> Result<(), String> {
        let relieved: BTreeSet<SwitchId> = settings.ports_by_switch(self.topology).into_keys().collect();
        for switch in settings.switches(self.topology) {
            let config = match self.draft(switch).rimm.take() {
                None => self.rimm_config(settings, switch, &relieved)?,
                Some(other) => merge(other, self.rimm_config(settings, switch, &relieved)?),
            };
            self.draft(switch).rimm = Some(config);
        }
        Ok(())
    }

    fn rimm_config(
        &self,
        settings: &RimmSettings,
        switch: SwitchId,
        relieved: &BTreeSet<SwitchId>,
    ) -> Result<RimmConfig, String> {
        let ports = settings.ports_by_switch(self.topology).remove(&switch).unwrap_or_default();
        let watched = ports.into_iter().map(|at| {
            self.rimm_threshold(settings, at)
                .map(|threshold_segments| WatchedPort { port: at.port, threshold_segments })
        });
        Ok(RimmConfig {
            origin: self.rimm_origin(switch)?,
            line_ports: self.topology.switch(switch).ports.len() as u16,
            recirculation_ports: self.scenario.switch.recirculation_ports,
            watched: watched.collect::<Result<_, _>>()?,
            neighbours: self.rimm_neighbours(settings, switch, relieved)?,
            segment_bytes: settings.segment.0,
            release: release(settings),
            again: match settings.again {
                RimmAgain::SameNeighbour => Again::SameNeighbour,
                RimmAgain::LeastLoaded => Again::LeastLoaded,
            },
            change: match settings.change {
                RimmChange::AnyTime => Change::AnyTime,
                RimmChange::BetweenDetours => Change::BetweenDetours,
            },
            messages_first: settings.messages == RimmMessages::First,
            congestion_after: settings.congestion_after,
            hash_bits: settings.hash_bits,
            detours_max: settings.detours_max,
            predecessor_timeout: settings.predecessor_timeout.unwrap_or(Duration::ZERO),
            crossing_lifetime: settings.crossing_lifetime,
            telemetry_lifetime: settings.telemetry_lifetime,
            records_choices: settings.record_choices,
        })
    }

    /// The number of a switch in headers: its place among those that detour; of one that only tells depths, one that none
    /// of them has.
    fn rimm_origin(&self, switch: SwitchId) -> Result<u8, String> {
        let settings = self.scenario.mechanisms.iter().filter_map(|mechanism| match mechanism {
            crate::scenario::MechanismSettings::Rimm(settings) => Some(settings),
            _ => None,
        });
        let all: BTreeSet<SwitchId> =
            settings.flat_map(|settings| settings.ports_by_switch(self.topology).into_keys()).collect();
        let place = all.iter().position(|&other| other == switch).unwrap_or(0);
        place.try_into().map_err(|_| format!("{} switches detour packets, and 256 can", all.len()))
    }

    fn rimm_threshold(&self, settings: &RimmSettings, at: SwitchPort) -> Result<u16, String> {
        let bytes = settings.threshold_of(self.scenario, self.topology, at);
        let segments = bytes.0 / settings.segment.0.max(1);
        segments.try_into().map_err(|_| format!("a threshold of {segments} segments has more than 16 bits"))
    }

    fn rimm_neighbours(
        &self,
        settings: &RimmSettings,
        switch: SwitchId,
        relieved: &BTreeSet<SwitchId>,
    ) -> Result<Vec<Neighbour>, String> {
        let mut neighbours = Vec::new();
        for (number, port) in (0..).zip(&self.topology.switch(switch).ports) {
            let Node::Switch(other) = port.peer.node else { continue };
            let theirs = SwitchPort { switch: other, port: port.peer.port };
            let ours = SwitchPort { switch, port: PortId(number) };
            neighbours.push(Neighbour {
                port: ours.port,
                full_segments: self.rimm_threshold(settings, theirs)?,
                own_full_segments: self.rimm_threshold(settings, ours)?,
                is_told: relieved.contains(&other),
            });
        }
        Ok(neighbours)
    }
}

/// Of a switch that two entries concern: one has its ports, the other those of a neighbour.
fn merge(one: RimmConfig, other: RimmConfig) -> RimmConfig {
    let (mut main, side) = if other.watched.is_empty() { (one, other) } else { (other, one) };
    for (neighbour, again) in main.neighbours.iter_mut().zip(side.neighbours) {
        neighbour.is_told |= again.is_told;
    }
    main
}

fn release(settings: &RimmSettings) -> Release {
    match settings.release {
        RimmRelease::FlowletGap => Release::FlowletGap {
            gap: settings.flowlet_gap.unwrap_or(Duration::ZERO),
            detour_max: settings.flow_detour_max,
        },
        RimmRelease::Exact => Release::Exact,
        RimmRelease::Unordered => Release::Unordered,
    }
}
