//! LinkGuardian's rivals: Link Layer Retry and Wharf; and that a link has one protection.

use hitless_wire::{Bytes, Duration};

use super::Check;
use crate::scenario::error::Problem;
use crate::scenario::{LinkLayerRetryAction, LinkLayerRetrySettings, MechanismSettings, Purpose, WharfSettings};
use crate::topology::select::select_links;
use crate::topology::{DirectedLink, Topology};

/// A mechanism between the two ends of a link.
struct Protection<'a> {
    name: &'static str,
    link: &'a str,
}

impl<'a> Protection<'a> {
    fn of(mechanism: &'a MechanismSettings) -> Option<Self> {
        match mechanism {
            MechanismSettings::LinkGuardian(settings) => Some(Self { name: "LinkGuardian", link: &settings.link }),
            MechanismSettings::LinkLayerRetry(settings) => {
                Some(Self { name: "Link Layer Retry", link: &settings.link })
            }
            MechanismSettings::Wharf(settings) => Some(Self { name: "Wharf", link: &settings.link }),
            _ => None,
        }
    }
}

impl Check<'_> {
    /// A link that has LinkGuardian has no rival of it, and the other way round.
    pub(super) fn one_protection_per_link(&mut self, topology: &Topology) {
        let protections: Vec<_> = self.scenario.mechanisms.iter().map(Protection::of).collect();
        let mut protected: Vec<(&'static str, DirectedLink)> = Vec::new();
        for (index, protection) in protections.iter().enumerate() {
            let Some(Protection { name, link }) = protection else { continue };
            for link in select_links(topology, link).unwrap_or_default() {
                let clashes = |&&(other, taken): &&(&str, DirectedLink)| {
                    taken.link == link.link && (other != *name || (taken == link && *name != "LinkGuardian"))
                };
                if let Some((other, _)) = protected.iter().find(clashes) {
                    let rule = format!("{other} protects this link already, and a link has one protection");
                    self.problems.push(Problem::new(format!("mechanism[{index}].link"), "", rule));
                }
                protected.push((name, link));
            }
        }
    }

    pub(super) fn link_layer_retry(&mut self, topology: &Topology, settings: &LinkLayerRetrySettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let Some(link) = self.link_between_switches(topology, &settings.link, "Link Layer Retry", &field("link"))
        else {
            return;
        };
        self.runs_in_simulations_only(
            "Link Layer Retry",
            "a network interface shows neither preambles nor ordered sets",
            section,
        );
        let way = topology.link(link.link).settings.delay + self.scenario.switch.phy_latency;
        let is_patient = settings.max_replay_timer > way * 2;
        self.require(is_patient, &field("max_replay_timer"), "must be longer than the way there and back");
        let is_last_resort =
            settings.data_age_timeout == Duration::ZERO || settings.data_age_timeout > settings.max_replay_timer;
        self.require(
            is_last_resort,
            &field("data_age_timeout"),
            "must be zero (never), or longer than max_replay_timer",
        );
        let is_spacing = (Bytes(400)..=Bytes(16_384)).contains(&settings.ctlos_spacing);
        self.require(is_spacing, &field("ctlos_spacing"), "must be from 400 B to 16384 B");
        let goes_on = settings.re_init_on_flush || settings.flush_action != LinkLayerRetryAction::Block;
        let rule = "with flush_action \"block\" the port would never send again after a flush";
        self.require(goes_on, &field("re_init_on_flush"), rule);
        let has_room = settings.max_outstanding_bytes > Bytes::ZERO;
        self.require(has_room, &field("max_outstanding_bytes"), "must be above zero");
    }

    pub(super) fn wharf(&mut self, topology: &Topology, settings: &WharfSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        if self.link_between_switches(topology, &settings.link, "Wharf", &field("link")).is_none() {
            return;
        }
        let why = "its coder is there for real frames, and the live data path does not use it yet";
        self.runs_in_simulations_only("Wharf", why, section);
        self.require(settings.flush_after > Duration::ZERO, &field("flush_after"), "must be above zero");
    }

    pub(super) fn link_between_switches(
        &mut self,
        topology: &Topology,
        name: &str,
        mechanism: &str,
        field: &str,
    ) -> Option<DirectedLink> {
        let link = self.one_link(topology, name, field)?;
        let (from, to) = topology.ends(link);
        let rule = format!("{mechanism} needs a switch at both ends, and a host is at one");
        self.require(from.node.is_switch() && to.node.is_switch(), field, &rule);
        Some(link)
    }

    pub(super) fn runs_in_simulations_only(&mut self, mechanism: &str, why: &str, section: &str) {
        let rule = format!("{mechanism} runs in simulations only: {why}");
        self.require(self.purpose != Purpose::Live, &format!("{section}.kind"), &rule);
    }
}
