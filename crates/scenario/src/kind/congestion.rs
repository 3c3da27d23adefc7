//! Congestion controls from outside the tree in the registry.

use std::sync::OnceLock;

use hitless_hosts::transport::tcp::Congestion;
use hitless_hosts::transport::tcp::congestion::{
    CongestionFacts, CongestionKind, EcnUse, OwnCongestion, OwnKind, reading_with,
};
use schemars::SchemaGenerator;
use serde_json::Value;

use super::registry::Registry;
use super::registry::tagged;

impl Registry {
    /// Adds the congestion control `C`.
    ///
    /// # Panics
    /// If a control with this name exists.
    #[must_use]
    pub fn with_congestion<C: OwnCongestion>(self) -> Self {
        assert!(!self.has_congestion(C::NAME), "two kinds of congestion controls are called {}", C::NAME);
        self.add(OwnKind::<C>::KIND)
    }

    /// Adds a congestion control that is defined at run time. Its memory is never freed.
    ///
    /// # Errors
    /// A sentence, if a control with this name exists.
    pub fn with_runtime_congestion(self, kind: impl CongestionKind + 'static) -> Result<Self, String> {
        let name = kind.facts().name;
        if self.has_congestion(name) {
            return Err(format!("there is a congestion control of the kind \"{name}\" already"));
        }
        Ok(self.add(Box::leak(Box::new(kind))))
    }

    /// Removes the congestion control from outside the tree with this name.
    #[must_use]
    pub fn without_congestion(mut self, name: &str) -> Self {
        self.congestion.retain(|kind| kind.facts().name != name);
        Self { schema: OnceLock::new(), ..self }
    }

    /// Returns the constants of each congestion control from outside the tree.
    pub fn congestion_facts(&self) -> impl Iterator<Item = &'static CongestionFacts> + '_ {
        self.congestion.iter().map(|kind| kind.facts())
    }

    /// Calls `read`, which can deserialize the settings of these controls.
    pub(crate) fn reading<T>(&self, read: impl FnOnce() -> T) -> T {
        reading_with(&self.congestion, read)
    }

    /// Returns the fields of a TCP transport that are true by default with the congestion control `name`.
    pub(crate) fn fields_needed(&self, name: &str) -> Vec<&'static str> {
        let behaviour = self.congestion_facts().find(|known| known.name == name).map(|known| known.behaviour);
        let needs = |needed: bool, field| needed.then_some(field);
        let own = behaviour.into_iter().flat_map(|behaviour| {
            let paces = behaviour.paces || behaviour.samples_delivery_rate;
            [needs(behaviour.ecn != EcnUse::Off, "ecn"), needs(paces, "pacing")]
        });
        match name {
            // Without ECN, DCTCP is NewReno; RFC 8257 assumes ECN.
            "dctcp" => vec!["ecn"],
            // BBR's window is twice the bandwidth-delay product, so only pacing limits its rate.
            "bbr" => vec!["pacing"],
            _ => own.flatten().collect(),
        }
    }

    fn has_congestion(&self, name: &str) -> bool {
        Congestion::PACKAGED.contains(&name) || self.congestion_facts().any(|known| known.name == name)
    }

    fn add(mut self, kind: &'static dyn CongestionKind) -> Self {
        self.congestion.push(kind);
        Self { schema: OnceLock::new(), ..self }
    }

    /// Returns the schema of each congestion control's settings.
    pub(super) fn congestion_variants(&self, generator: &mut SchemaGenerator) -> Vec<(&'static str, Value)> {
        let of = |kind: &&'static dyn CongestionKind| {
            let facts = kind.facts();
            (facts.name, tagged(facts.name, facts.summary, kind.schema(generator)))
        };
        self.congestion.iter().map(of).collect()
    }
}
