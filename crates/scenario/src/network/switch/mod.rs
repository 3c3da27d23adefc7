//! `[switch]`: what the switches of a network are like, and the same as the switch itself is told.

mod budget;
mod disciplines;
mod flow_queueing;
pub mod hardware;
mod ports;
mod queues;
mod settings;

pub use budget::BudgetSettings;
pub use flow_queueing::{DrrSettings, FlowQueueingSettings, FqCodelSettings, IdealFqSettings, SfqSettings};
pub use ports::PortSettings;
pub use queues::{BufferSettings, EcnPoint, EcnSettings, SchedulerKind, SharedBuffer, StaticBuffer};
pub use settings::{DepthVisible, SwitchPreset, SwitchSettings};
