//! Queues of a port: what is admitted, what is marked, what is served next.
//!
//! Three schedulers exist. A [`fifo::FifoScheduler`] is one FIFO queue that nobody pauses: the departure of a packet is
//! known when it arrives, so it costs one event per hop. A [`queued::QueuedScheduler`] has any number of queues, strict
//! priority between levels and deficit round robin within one, pause, shared buffers, queues sorted by rank, and a
//! [`group`] of queues that are served in rounds; it decides when the port falls free. A [`flow::FlowScheduler`] queues
//! by flow, with the disciplines that others are measured against. Which of them a port needs follows from its
//! configuration.

pub mod buffer;
mod config;
mod deficit;
mod entry;
pub mod fifo;
pub mod flow;
pub mod group;
mod marking;
pub mod queued;
mod waiting;

pub use buffer::{BufferPolicy, SharedBuffer};
pub use config::{MarkingPoint, QueueConfig, QueueLimit, QueueOrder};
pub use entry::Entry;
pub use fifo::FifoScheduler;
pub use flow::{FlowQueueing, FlowScheduler};
pub use group::{GroupCounters, GroupDiscipline, LatePackets, QueueGroup, Rounds};
pub use marking::{DepthUnit, EcnRamp, EcnThreshold};
pub use queued::by_rank::Claim;
pub use queued::{Dequeued, QueuedScheduler};
