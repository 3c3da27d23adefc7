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
mod swift;

pub(super) use algorithm::Algorithm;
pub(super) use api::{AckEvent, AckSample, CongestionControl, CongestionSign, Window};
pub use api::{CongestionState, WindowGrowth};
pub use bbr::PathModel;
pub use bolt::{BoltReaction, BoltTransportSettings};
pub use cubic::CubicTime;
pub use dctcp::DctcpEstimate;
pub use swift::SwiftSettings;
