//! A switch with the PISA architecture, which runs mechanisms.
//!
//! A packet passes MAC -> [`Mechanism::rx`] -> [`Mechanism::ingress`] -> traffic manager -> [`Mechanism::egress`] ->
//! [`Mechanism::tx`] -> MAC. [`Switch`] walks it through these stages; `pipeline` has one file per stage. [`port`]
//! holds the ports and [`queueing`] their queues. [`architecture`] has the latencies and limits of the hardware.
//! [`register`] has the state that the hardware allows a mechanism; its checked mode reports accesses that the hardware
//! cannot do.
//!
//! The switch is a state machine without I/O. The driver, under a simulated or a wall clock, implements
//! [`Environment`]. The switch never names a mechanism: it has a list of them and knows only their hooks. Effects of a
//! hook outside the switch are recorded and applied after the hook has returned.
//!
//! Read [`mechanism`], [`context`] and [`verdict`] to write a mechanism; `switch.rs`, then `pipeline`, then
//! [`queueing`] to understand the switch.

pub mod architecture;
pub mod canary;
pub mod context;
mod core;
pub mod drop_reason;
pub mod environment;
pub mod event;
pub mod explore;
pub mod flow_control;
mod forwarding;
pub mod hook_set;
mod hooks;
mod inspection;
pub mod mechanism;
pub mod needs;
pub mod outbox;
mod pipeline;
pub mod port;
pub mod protection;
pub mod queueing;
mod quiet_roles;
pub mod register;
pub mod report;
pub mod resources;
pub mod switch;
pub mod testing;
pub mod verdict;

/// Checkpoint primitives, re-exported for mechanisms in other crates.
pub use hitless_core::state;

pub use architecture::{Architecture, DepthVisibility};
pub use context::Context;
pub use drop_reason::DropReason;
pub use environment::{Environment, NoTables, Stop, SwitchEvent, Tables};
pub use event::{Event, PortState, TimerToken};
pub use flow_control::{
    FlowControl, FlowControlCounters, FlowControlKind, PauseRules, PfcWatchdog, PortCredits, XoffThreshold,
};
pub use hook_set::HookSet;
pub use mechanism::Mechanism;
pub use needs::Needs;
pub use outbox::Output;
pub use pipeline::Shortcut;
pub use port::{MacCounters, PortConfig};
pub use protection::{LinkEnd, ProtectionPhase, ProtectionState};
pub use queueing::{
    BufferPolicy, DepthUnit, EcnRamp, EcnThreshold, FlowQueueing, GroupDiscipline, LatePackets, MarkingPoint,
    QueueConfig, QueueGroup, QueueLimit, QueueOrder, Rounds,
};
pub use register::{Observed, Pass, RegisterArray};
pub use report::{Counter, Declared, Quantity, Report, Series};
pub use resources::{Budget, Footprint, Kept, Limit, RegisterCell, RegisterUse, ResourceCounters, Resources};
pub use switch::Switch;
pub use verdict::{Half, Verdict};
