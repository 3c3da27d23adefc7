//! `[routing]`: how packets find their way.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How packets find their way: equal-cost shortest paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingSettings {
    /// How a switch chooses among next hops of equal cost.
    pub choice: PathRule,
}

/// How a switch chooses among next hops of equal cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathRule {
    /// By a hash of the flow's 5-tuple, different at each switch.
    #[default]
    FlowHash,
    /// By (source + destination) mod number of next hops: no chance in it, the same for acknowledgements.
    BySum,
    /// For each packet the one of two different next hops, drawn at random, whose queue has fewer bytes (Vertigo,
    /// section 3). Packets of a flow overtake each other by it. Ingress must see depths.
    TwoChoices,
}
