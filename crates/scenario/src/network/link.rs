//! `[[link]]`: what goes wrong with a link, and when.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::loss::LossModel;

/// Impairments of one link in one direction, or in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkImpairment {
    /// The link by its two nodes: "sw2->sw6" in that direction, "sw2<->sw6" in both. "#1" at the end names the second
    /// of several parallel links.
    pub name: String,
    /// Which frames are corrupted from the start of the run.
    #[serde(default)]
    pub loss: LossModel,
    /// Changes of the loss during the run, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LossChange>,
    /// When the link goes down and comes up again, in order of time. It is up at the start. Nobody detects it: failures
    /// that are detected and repaired are `[[failure]]`s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<StateChange>,
}

/// A change of the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossChange {
    /// When.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// What the loss is from then on.
    pub loss: LossModel,
}

/// A link going down or coming up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateChange {
    /// When.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// What it does.
    pub state: LinkState,
}

/// Whether a link carries frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// It carries frames.
    Up,
    /// It carries nothing; what is on the wire is lost.
    Down,
}
