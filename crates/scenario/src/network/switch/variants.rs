//! The settings of each switch, with exceptions applied.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hitless_core::wire::Duration;

use super::exceptions::{SwitchException, SwitchPreset};
use super::settings::SwitchSettings;
use crate::network::topology::select::select_switches_by_pattern;
use crate::network::topology::{DirectedLink, Node, SwitchId, Topology};

impl SwitchException {
    /// Returns an exception with the values of a preset, for no switch yet.
    pub fn of(preset: SwitchPreset) -> Self {
        let settings = SwitchSettings::of(preset);
        Self {
            switches: Vec::new(),
            preset: Some(preset),
            ingress_latency: Some(settings.ingress_latency),
            egress_latency: Some(settings.egress_latency),
            mirror_latency: Some(settings.mirror_latency),
            loopback_latency: Some(settings.loopback_latency),
            phy_latency: Some(settings.phy_latency),
            queues_per_port: Some(settings.queues_per_port),
            scheduler: Some(settings.scheduler),
            drr_quantum: Some(settings.drr_quantum),
            buffer: Some(settings.buffer),
        }
    }

    /// Returns whether the exception changes any setting.
    pub fn changes_something(&self) -> bool {
        *self != Self { switches: self.switches.clone(), ..Self::default() }
    }

    fn applied_to(&self, settings: &SwitchSettings) -> SwitchSettings {
        SwitchSettings {
            ingress_latency: self.ingress_latency.unwrap_or(settings.ingress_latency),
            egress_latency: self.egress_latency.unwrap_or(settings.egress_latency),
            mirror_latency: self.mirror_latency.unwrap_or(settings.mirror_latency),
            loopback_latency: self.loopback_latency.unwrap_or(settings.loopback_latency),
            phy_latency: self.phy_latency.unwrap_or(settings.phy_latency),
            queues_per_port: self.queues_per_port.unwrap_or(settings.queues_per_port),
            scheduler: self.scheduler.unwrap_or(settings.scheduler),
            drr_quantum: self.drr_quantum.unwrap_or(settings.drr_quantum),
            buffer: self.buffer.unwrap_or(settings.buffer),
            ..settings.clone()
        }
    }
}

impl SwitchSettings {
    /// Returns the settings of `switch`, with its exception applied.
    pub fn of_switch(&self, topology: &Topology, switch: SwitchId) -> Cow<'_, SwitchSettings> {
        self.with(topology.switch(switch).exception)
    }

    fn with(&self, exception: Option<usize>) -> Cow<'_, SwitchSettings> {
        let exception = exception.and_then(|number| self.exceptions.get(number));
        exception.map_or(Cow::Borrowed(self), |exception| Cow::Owned(exception.applied_to(self)))
    }

    /// Returns the settings of `[switch]`, and those of each exception.
    pub fn variants(&self) -> impl Iterator<Item = Cow<'_, SwitchSettings>> {
        std::iter::once(None).chain((0..self.exceptions.len()).map(Some)).map(|exception| self.with(exception))
    }

    /// Returns [`Self::variants`], each with its section.
    pub fn variants_by_section(&self) -> impl Iterator<Item = (String, Cow<'_, SwitchSettings>)> {
        let sections = (0..self.exceptions.len()).map(|number| format!("switch.exceptions[{number}]"));
        std::iter::once("switch".to_owned()).chain(sections).zip(self.variants())
    }

    /// Returns the settings of these switches, each of `[switch]` and the exceptions at most once.
    pub fn variants_at(
        &self,
        topology: &Topology,
        switches: impl IntoIterator<Item = SwitchId>,
    ) -> Vec<Cow<'_, SwitchSettings>> {
        let exceptions: BTreeSet<_> = switches.into_iter().map(|switch| topology.switch(switch).exception).collect();
        exceptions.into_iter().map(|exception| self.with(exception)).collect()
    }

    /// Returns the settings of the switch at the start of `link`, or of the only switch at a host's link.
    pub fn of_sender(&self, topology: &Topology, link: DirectedLink) -> Cow<'_, SwitchSettings> {
        let (from, to) = topology.ends(link);
        let switch = from.node.switch().or(to.node.switch()).expect("the builder refuses links between hosts");
        self.of_switch(topology, switch)
    }

    /// Returns the time of a packet in each switch of an empty fabric.
    pub fn pipelines(&self, topology: &Topology) -> Vec<Duration> {
        let of_switch = |switch| {
            let settings = self.of_switch(topology, switch);
            Duration(settings.ingress_latency.as_ps().saturating_add(settings.egress_latency.as_ps()))
        };
        topology.switch_ids().map(of_switch).collect()
    }

    /// Notes the exception of each switch, and the latency of the coding of each link. Unknown names are ignored.
    pub fn shape(&self, topology: &mut Topology) {
        for (number, exception) in self.exceptions.iter().enumerate() {
            for switch in select_switches_by_pattern(topology, &exception.switches).unwrap_or_default() {
                topology.switches[switch.0 as usize].exception.get_or_insert(number);
            }
        }
        let of_switches: Vec<_> = topology.switch_ids().map(|id| self.of_switch(topology, id).phy_latency).collect();
        for link in &mut topology.links {
            let at = |node: Node| node.switch().map(|switch| of_switches[switch.0 as usize].as_ps());
            let (a, b) = (at(link.a.node), at(link.b.node));
            let [a, b] = [a.or(b), b.or(a)].map(Option::unwrap_or_default);
            link.specs.iter_mut().for_each(|spec| spec.phy_latency = Duration(a.midpoint(b)));
        }
    }
}
