//! Congestion controls from outside this crate.

mod algorithm;
mod kind;
mod settings;

pub(in crate::transport::tcp) use algorithm::OwnAlgorithm;
pub use kind::{Behaviour, BoxedControl, CongestionFacts, CongestionKind, EcnUse, OwnCongestion, OwnKind, SettingsMap};
pub use settings::{OwnSettings, reading_with};
