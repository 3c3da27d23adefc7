//! `[[mechanism]]`: the mechanisms that switches run. A new one is a file here and a line in [`MechanismSettings`].

mod afq;
mod linkguardian;
mod sqr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use afq::{
    AfqAdaptive, AfqDeficit, AfqDropAhead, AfqFlowKey, AfqHash, AfqIdleRound, AfqLate, AfqOccupancy, AfqRotating,
    AfqRound, AfqScheduler, AfqSettings, AfqSketch, AfqTwoGroups, AfqUpdate,
};
pub use linkguardian::{ActivationChange, Buffering, FallbackSettings, LinkGuardianMode, LinkGuardianSettings};
pub use sqr::{SqrBackstop, SqrCaching, SqrRelease, SqrSettings};

/// A mechanism and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MechanismSettings {
    /// LinkGuardian on one link (Joshi et al., SIGCOMM 2023).
    LinkGuardian(LinkGuardianSettings),
    /// SQR on the sending switches of some links (ICNP 2019).
    Sqr(SqrSettings),
    /// AFQ, approximate fair queueing, on ports of switches (Sharma et al., NSDI 2018).
    Afq(AfqSettings),
}

impl MechanismSettings {
    /// Whether it marks packets of transports that know ECN.
    pub(in crate::scenario) const fn marks(&self) -> bool {
        match self {
            Self::LinkGuardian(_) | Self::Sqr(_) => false,
            Self::Afq(settings) => settings.ecn_rounds.is_some(),
        }
    }
}
