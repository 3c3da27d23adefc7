//! `[switch]`: the settings of switches, and their conversion to the switch's own configuration.

mod budget;
mod cbfc;
mod exceptions;
mod flow_queueing;
pub mod hardware;
mod pfc;
mod queues;
mod settings;
mod variants;

pub use budget::BudgetSettings;
pub use cbfc::CbfcSettings;
pub use exceptions::{SwitchException, SwitchPreset};
pub use flow_queueing::{DrrSettings, FlowQueueingSettings, FqCodelSettings, IdealFqSettings, SfqSettings};
pub use pfc::{PfcSettings, PfcWatchdogAction, PfcWatchdogSettings, response_quanta};
pub use queues::{BufferSettings, EcnPoint, EcnSettings, PortSettings, SchedulerKind, SharedBuffer, StaticBuffer};
pub use settings::{DepthVisible, SwitchSettings};
