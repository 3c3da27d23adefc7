//! Congestion control: growth of the window on acknowledgements, and its reduction on congestion.
//!
//! Most algorithms decide two things: growth, and the slow start threshold. The sender decides when to reduce, and how
//! the window gets down to the threshold. Other algorithms set the window at each acknowledgement: from samples of the
//! delivery rate if they model the path (BBR), or from round-trip times (Swift, Bolt). `api` has the interface; start
//! there. `own` holds algorithms from outside this crate.

mod algorithm;
mod api;
mod bbr;
mod bolt;
mod cubic;
mod dctcp;
mod fractional;
mod newreno;
mod own;
mod settings;
mod swift;

pub use crate::transport::tcp::delivery_rate::RateSample;
pub(super) use algorithm::Algorithm;
pub use api::{
    AckEvent, AckSample, AdditiveIncrease, CongestionControl, CongestionSign, CongestionState, Window, WindowGrowth,
};
pub use bbr::{BbrSettings, PathModel};
pub use bolt::{BoltReaction, BoltTransportSettings};
pub use cubic::{CubicSettings, CubicTime};
pub use dctcp::{DctcpEstimate, DctcpSettings};
pub use newreno::NewrenoSettings;
pub use own::{
    Behaviour, BoxedControl, CongestionFacts, CongestionKind, EcnUse, OwnCongestion, OwnKind, OwnSettings, SettingsMap,
    reading_with,
};
pub(super) use settings::CongestionChoice;
pub use settings::{Congestion, CongestionName};
pub use swift::SwiftSettings;
