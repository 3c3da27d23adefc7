//! Congestion control: how the window grows on acknowledgements and where it falls on congestion.
//!
//! Most algorithms decide two things, growth and the slow start threshold. When a reduction happens, and how the
//! window gets down to the threshold, is the sender's business. An algorithm that sets the window by itself follows
//! each acknowledgement instead: with a sample of the delivery rate if it models the path (BBR), else with a
//! round-trip time (Swift, Bolt).

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
