//! Queues of a port: admission, marking and service.
//!
//! There are three schedulers; the port's configuration determines which one it needs.
//!
//! - [`fifo::FifoScheduler`] is one FIFO queue that is never paused. The departure of a packet is known at its arrival,
//!   so a hop costs one event.
//! - [`queued::QueuedScheduler`] has any number of queues, strict priority between levels and deficit round robin
//!   within a level, pause, shared buffers, queues sorted by rank, and a [`group`] of queues served in rounds. It
//!   decides when the port becomes free.
//! - [`flow::FlowScheduler`] queues by flow, with the disciplines that fair queueing mechanisms are compared with.

pub mod buffer;
mod config;
mod deficit;
mod entry;
pub mod fifo;
pub mod flow;
pub mod group;
mod marking;
mod packet_line;
pub mod queued;

pub use buffer::{BufferPolicy, SharedBuffer};
pub use config::{MarkingPoint, QueueConfig, QueueLimit, QueueOrder};
pub use entry::Entry;
pub use fifo::FifoScheduler;
pub use flow::{FlowQueueing, FlowScheduler};
pub use group::{GroupCounters, GroupDiscipline, LatePackets, QueueGroup, Rounds};
pub use marking::{DepthUnit, EcnRamp, EcnThreshold};
pub use queued::by_rank::Claim;
pub use queued::{Dequeued, QueuedScheduler};
