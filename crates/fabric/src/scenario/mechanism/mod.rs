//! `[[mechanism]]`: the mechanisms that switches run. A new one is a file here and a line in [`MechanismSettings`].

mod linkguardian;
mod sqr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use linkguardian::{ActivationChange, Buffering, LinkGuardianMode, LinkGuardianSettings};
pub use sqr::{SqrBackstop, SqrCaching, SqrRelease, SqrSettings};

/// A mechanism and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum MechanismSettings {
    /// LinkGuardian on one link (Joshi et al., SIGCOMM 2023).
    LinkGuardian(LinkGuardianSettings),
    /// SQR on the sending switches of some links (ICNP 2019).
    Sqr(SqrSettings),
}
