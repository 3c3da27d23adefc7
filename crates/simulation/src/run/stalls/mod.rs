//! The explanation of unfinished flows: what each waits for.
//!
//! Everything is read from the state of a run at one moment, between two events or two windows: the run keeps no
//! record for it, and continues as if nobody had looked.

mod flows;
mod gates;
mod packets;
mod paths;
mod report;
mod words;

use hitless_core::wire::{HostId, Time};
use hitless_hosts::Hosts;
use hitless_scenario::network::topology::{Division, Node, SwitchId, Topology};
use hitless_switch::Switch;

use super::edge::Edge;
use super::event_loop::Run;
use super::global::Global;
use super::network::Network;

/// A run, or all its partitions between two windows.
pub(super) struct View<'a, E> {
    pub global: &'a Global,
    pub networks: &'a [&'a Network<E>],
    /// `None` for an undivided run.
    pub division: Option<&'a Division>,
    pub now: Time,
}

impl<E: Edge> View<'_, E> {
    fn topology(&self) -> &Topology {
        &self.networks[0].topology
    }

    fn network_of(&self, node: Node) -> &Network<E> {
        let number = self.division.map_or(0, |division| match node {
            Node::Host(host) => division.of_host(host),
            Node::Switch(switch) => division.of_switch(switch),
        });
        self.networks[number as usize]
    }

    fn switch(&self, switch: SwitchId) -> &Switch {
        &self.network_of(Node::Switch(switch)).switches[switch.0 as usize]
    }

    fn hosts_with(&self, host: HostId) -> &Hosts {
        &self.network_of(Node::Host(host)).hosts
    }
}

impl<E: Edge> Run<E> {
    /// Calls `look` with a view of this run at `now`.
    pub(super) fn viewed<T>(&self, now: Time, look: impl FnOnce(&View<'_, E>) -> T) -> T {
        look(&View { global: &self.global, networks: &[&self.network], division: None, now })
    }
}
