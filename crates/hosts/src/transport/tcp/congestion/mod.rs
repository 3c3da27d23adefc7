//! Congestion control: growth of the window on acknowledgements, and its reduction on congestion.
//!
//! Most algorithms decide two things: growth, and the slow start threshold. The sender decides when to reduce, and how
//! the window gets down to the threshold. Other algorithms set the window at each acknowledgement: from samples of the
//! delivery rate if they model the path (BBR), or from round-trip times (Swift, Bolt). `api` has the interface; start
//! there.

mod algorithm;
mod api;
mod bbr;
mod bolt;
mod cubic;
mod dctcp;
mod fractional;
mod newreno;
mod settings;
mod swift;

pub(super) use algorithm::Algorithm;
pub(super) use api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};
pub use api::{CongestionState, WindowGrowth};
pub use bbr::{BbrSettings, PathModel};
pub use bolt::{BoltReaction, BoltTransportSettings};
pub use cubic::{CubicSettings, CubicTime};
pub use dctcp::{DctcpEstimate, DctcpSettings};
pub use newreno::NewrenoSettings;
pub(super) use settings::CongestionChoice;
pub use settings::{Congestion, CongestionName};
pub use swift::SwiftSettings;
