//! `[switch]`: what the switches of a network are like, and the same as the switch itself is told.

mod budget;
mod flow_queueing;
pub mod hardware;
mod queues;
mod settings;

pub use budget::BudgetSettings;
pub use flow_queueing::{DrrSettings, FlowQueueingSettings, FqCodelSettings, IdealFqSettings, SfqSettings};
pub use queues::{BufferSettings, EcnPoint, EcnSettings, PortSettings, SchedulerKind, SharedBuffer, StaticBuffer};
pub use settings::{DepthVisible, SwitchPreset, SwitchSettings};
