//! `[[link]]`: what goes wrong with a link, and when.

use hitless_wire::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scenario;
use super::quantity::Text;
use crate::topology::select::select_links;
use crate::topology::{DirectedLink, Topology};

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

impl Scenario {
    /// The highest loss rate that `link` has at any time of the run.
    pub fn loss_rate_max(&self, topology: &Topology, link: DirectedLink) -> f64 {
        let names_it = |name: &str| select_links(topology, name).is_ok_and(|links| links.contains(&link));
        let impairments = self.links.iter().filter(|impairment| names_it(&impairment.name));
        let losses = impairments.flat_map(|impairment| {
            impairment.changes.iter().map(|change| &change.loss).chain([&impairment.loss]).map(LossModel::rate)
        });
        losses.fold(0.0, f64::max)
    }
}

/// Which frames arrive corrupted and are dropped by the receiving port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossModel {
    /// None.
    #[default]
    None,
    /// Each frame with the same probability, independently of all others.
    Bernoulli(BernoulliLoss),
}

impl LossModel {
    /// The probability that a frame is lost.
    pub const fn rate(&self) -> f64 {
        match self {
            LossModel::None => 0.0,
            LossModel::Bernoulli(loss) => loss.rate,
        }
    }
}

/// Independent losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliLoss {
    /// Probability that a frame is lost.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub rate: f64,
    /// Probability that a retransmission by a mechanism of the link is lost; left out: the same. For estimates of rare
    /// events, where both losses must come together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub repair_rate: Option<f64>,
}

/// A change of the loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
