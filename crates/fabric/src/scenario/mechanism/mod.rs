//! `[[mechanism]]`: the mechanisms that switches run. A new one is a file here and a line in [`MechanismSettings`].

mod afq;
mod dibs;
mod link_layer_retry;
mod linkguardian;
mod rimm;
mod sqr;
mod trimming;
mod vertigo;
mod wharf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use afq::{
    AfqAdaptive, AfqDeficit, AfqDropAhead, AfqFlowKey, AfqHash, AfqIdleRound, AfqLate, AfqOccupancy, AfqRotating,
    AfqRound, AfqScheduler, AfqSettings, AfqSketch, AfqTwoGroups, AfqUpdate,
};
pub use dibs::DibsSettings;
pub use link_layer_retry::{LinkLayerRetryAction, LinkLayerRetrySettings};
pub use linkguardian::{ActivationChange, Buffering, FallbackSettings, LinkGuardianMode, LinkGuardianSettings};
pub use rimm::{RimmAgain, RimmChange, RimmMessages, RimmRelease, RimmSettings};
pub use sqr::{SqrBackstop, SqrCaching, SqrRelease, SqrSettings};
pub use trimming::TrimmingSettings;
pub use vertigo::VertigoSettings;
pub use wharf::WharfSettings;

/// A mechanism and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MechanismSettings {
    /// LinkGuardian on one link (Joshi et al., SIGCOMM 2023).
    LinkGuardian(LinkGuardianSettings),
    /// Ultra Ethernet's Link Layer Retry on one link: go-back-N below frames.
    #[serde(rename = "link-layer-retry")]
    LinkLayerRetry(LinkLayerRetrySettings),
    /// Wharf on one link: forward error correction across frames (Giesen et al., NetCompute 2018).
    Wharf(WharfSettings),
    /// SQR on the sending switches of some links (ICNP 2019).
    Sqr(SqrSettings),
    /// AFQ, approximate fair queueing, on ports of switches (Sharma et al., NSDI 2018).
    Afq(AfqSettings),
    /// RIMM, microbursts detoured to a neighbour, on ports of switches (Lin, Hung and Wen, IEEE Access 2022).
    Rimm(RimmSettings),
    /// DIBS, packets of full queues detoured to a random neighbour, on ports of switches (Zarifis et al., EuroSys 2014).
    Dibs(DibsSettings),
    /// Vertigo, queues sorted by urgency whose victims go to a neighbour, on ports of switches (Abdous et al., CoNEXT 2021).
    Vertigo(VertigoSettings),
    /// Packet trimming, refused packets cut to headers that go first, on ports of switches (CP, NDP, Ultra Ethernet).
    Trimming(TrimmingSettings),
}

impl MechanismSettings {
    /// Whether it marks packets of transports that know ECN.
    pub(in crate::scenario) const fn marks(&self) -> bool {
        match self {
            Self::LinkGuardian(_) | Self::LinkLayerRetry(_) | Self::Wharf(_) => false,
            Self::Sqr(_) | Self::Rimm(_) | Self::Dibs(_) | Self::Vertigo(_) | Self::Trimming(_) => false,
            Self::Afq(settings) => settings.ecn_rounds.is_some(),
        }
    }
}
