//! The congestion control of a TCP transport in a scenario: a name, or a table with the parameters of one control.

use super::api::WindowGrowth;
use super::bbr::BbrSettings;
use super::bolt::BoltTransportSettings;
use super::cubic::CubicSettings;
use super::dctcp::DctcpSettings;
use super::newreno::NewrenoSettings;
use super::own::{EcnUse, OwnSettings};
use super::swift::SwiftSettings;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

/// Congestion control of TCP, with its parameters. `congestion = "cubic"` is short for `congestion = { kind = "cubic"
/// }`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(transform = be_exclusive)]
pub enum Congestion {
    /// NewReno (RFC 5681, RFC 6582).
    Newreno(NewrenoSettings),
    /// CUBIC (RFC 9438), without HyStart (RFC 9406): slow start ends with a loss or a mark.
    Cubic(CubicSettings),
    /// DCTCP (RFC 8257).
    Dctcp(DctcpSettings),
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, or Linux if it is newer).
    Bbr(BbrSettings),
    /// Swift (Kumar et al., SIGCOMM 2020). Parameters are named as in the paper (section 3.5 and algorithm 1), which
    /// gives few values. Defaults are those of the simulator that its authors published with Bolt, or else those of
    /// htsim. Hops are counted by the time to live of arriving packets; the delay is the whole round-trip time,
    /// including both hosts' stacks.
    Swift(SwiftSettings),
    /// Bolt (Arslan et al., NSDI 2023, section 3, algorithm 3); needs switches with the mechanism "bolt". Values
    /// missing in the paper default to those of the simulator that its authors published. Notifications from switches
    /// count as congestion echoes.
    Bolt(BoltTransportSettings),
    /// A control from outside this crate; the registry of scenarios adds its schema.
    #[serde(untagged)]
    #[schemars(skip)]
    Own(OwnSettings),
}

impl Congestion {
    /// Names of the packaged controls; no other control can have one of them.
    pub const PACKAGED: [&str; 6] = ["newreno", "cubic", "dctcp", "bbr", "swift", "bolt"];
}

/// Restores `oneOf`: schemars writes `anyOf` for an enum with an untagged variant, even a skipped one.
fn be_exclusive(schema: &mut Schema) {
    if let Some(variants) = schema.remove("anyOf") {
        schema.insert("oneOf".into(), variants);
    }
}

/// Name of a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, hitless_core::state::Value)]
#[schemars(rename_all = "kebab-case")]
pub enum CongestionName {
    Newreno,
    Cubic,
    Dctcp,
    Bbr,
    Swift,
    Bolt,
    #[schemars(skip)]
    Own,
}

/// The syntax of `congestion`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
pub(in crate::transport::tcp) enum CongestionChoice {
    /// A congestion control with its parameters.
    Parameters(Congestion),
    /// A congestion control with the default parameters.
    Name(CongestionName),
}

impl Congestion {
    pub fn name(&self) -> CongestionName {
        match self {
            Self::Newreno(_) => CongestionName::Newreno,
            Self::Cubic(_) => CongestionName::Cubic,
            Self::Dctcp(_) => CongestionName::Dctcp,
            Self::Bbr(_) => CongestionName::Bbr,
            Self::Swift(_) => CongestionName::Swift,
            Self::Bolt(_) => CongestionName::Bolt,
            Self::Own(_) => CongestionName::Own,
        }
    }

    /// Returns growth and validation of the window, and its maximum in segments. A control that computes the window
    /// ignores the first two.
    pub(in crate::transport::tcp) fn window_rules(&self) -> (WindowGrowth, bool, Option<f64>) {
        match self {
            Self::Newreno(newreno) => (newreno.window_growth, newreno.window_validation, None),
            Self::Cubic(cubic) => (WindowGrowth::ByteCounting, cubic.window_validation, None),
            Self::Dctcp(dctcp) => (dctcp.window_growth, dctcp.window_validation, None),
            Self::Bbr(_) => (WindowGrowth::ByteCounting, true, None),
            Self::Swift(swift) => (WindowGrowth::ByteCounting, true, swift.max_cwnd),
            Self::Bolt(bolt) => (WindowGrowth::ByteCounting, true, bolt.max_cwnd),
            Self::Own(_) => (WindowGrowth::ByteCounting, true, None),
        }
    }

    /// Returns whether it expects an echo of each mark (RFC 8257), instead of an echo until CWR (RFC 3168).
    pub(in crate::transport::tcp) fn counts_marks(&self) -> bool {
        match self {
            Self::Dctcp(_) => true,
            Self::Own(own) => own.facts().behaviour.ecn == EcnUse::EachMark,
            _ => false,
        }
    }
}
