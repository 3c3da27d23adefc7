//! `[routing]`: the choice of paths.

use hitless_core::settings::quantity::Optional;
use hitless_core::wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choice of paths: equal-cost shortest paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingSettings {
    /// Rule for the choice among next hops of equal cost.
    pub choice: PathRule,
    /// Longest pause between two packets of a flowlet, for `choice = "flowlets"`. A shorter gap moves flows more often;
    /// packets overtake each other if it is below the difference of the times on two paths, queues included. Left out:
    /// the longest round trip of the empty fabric, with the longest frame of all transports.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Duration>,
}

/// Rule for the choice among next hops of equal cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathRule {
    /// A hash of the flow's 5-tuple, different at each switch.
    #[default]
    FlowHash,
    /// As "flow-hash", with next hops weighted by the capacity of their paths: a path with a tenth of the rate gets a
    /// tenth as many flows (WCMP, EuroSys 2014). The capacities are those at the start of the run, without withdrawn
    /// links.
    WeightedHash,
    /// (Source + destination) modulo the number of next hops: deterministic, and the same for acknowledgements.
    BySum,
    /// For each packet the less occupied of two different random next hops, by bytes in the queue (Vertigo, section 3).
    /// Packets of a flow can overtake each other. Ingress must see queue depths.
    TwoChoices,
    /// A random next hop for each flowlet: packets of a flow that follow each other within `flowlet_gap` (LetFlow, NSDI
    /// 2017). Each switch has a table of 65,536 entries, and flows with equal hashes share an entry. To a switch, each
    /// entropy value of a spraying connection is a flow.
    Flowlets,
}
