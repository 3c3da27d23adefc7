//! The switch: a model of a PISA architecture on which mechanisms run.
//!
//! A packet's way: MAC -> [`Mechanism::link_receive`] -> [`Mechanism::ingress`] -> traffic manager ->
//! [`Mechanism::egress`] -> [`Mechanism::link_transmit`] -> MAC. [`Switch`] walks it; [`port`] holds the ports and
//! their [`queueing`]; [`architecture`] the latencies and limits of the hardware; [`register`] the state that
//! hardware allows a mechanism, with the checked mode that refuses what it does not.
//!
//! The switch is a state machine without I/O. Whoever drives it, under a simulated or a wall clock, implements
//! [`Environment`]. The switch never names a mechanism: it is generic over an enum of all of them.

pub mod architecture;
pub mod context;
mod core;
pub mod environment;
mod flow_service;
mod forwarding;
mod inspection;
pub mod mechanism;
mod pause;
pub mod port;
pub mod queueing;
mod rank_service;
pub mod register;
pub mod report;
pub mod resources;
pub mod switch;

pub use architecture::{Architecture, DepthVisibility};
pub use context::Context;
pub use environment::{Environment, SwitchEvent};
pub use mechanism::{DropReason, HookSet, Mechanism, PortState, Subscriptions, Verdict};
pub use port::{MacCounters, PortConfig};
pub use queueing::{
    BufferPolicy, DepthUnit, EcnRamp, EcnThreshold, FlowQueueing, GroupDiscipline, LatePackets, QueueConfig,
    QueueGroup, QueueLimit, QueueOrder, Rounds,
};
pub use register::{Half, Observed, Pass, RegisterArray};
pub use report::{Report, Series};
pub use resources::{Budget, Footprint, Kept, Limit, RegisterCell, RegisterUse, Resources};
pub use switch::Switch;
