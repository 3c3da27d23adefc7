//! Per-flow queueing: a third kind of scheduler. Its disciplines know flows and can drop packets that they had
//! admitted.
//!
//! These are the disciplines that approximate fair queueing is compared with (AFQ, sections 2.1 and 6.2.2), one file
//! each:
//!
//! | discipline | queues | next | when the buffer is full | knows flows by |
//! |---|---|---|---|---|
//! | [`ideal`] | one per flow | smallest finish number | largest finish number goes | number and hash, exactly |
//! | [`drr`] | one per flow | deficit round robin | last of the longest queue goes | number and hash, exactly |
//! | [`sfq`] | a fixed number | deficit round robin | last of the longest queue goes | hash |
//! | [`fq_codel`] | a fixed number | new queues, then old, by credit | first half of the longest queue goes | hash |
//!
//! All disciplines share one buffer per port. It is full at the port's limit, including the frame in transmission. An
//! arriving packet is queued first, and then packets are dropped until the limit holds, so the arriving packet can be
//! among them. `chain`, `heap`, `packets` and `flows` are the building blocks; they do not allocate once a port has had
//! its maximum number of packets and flows.

mod chain;
pub mod codel;
pub mod drr;
mod entry;
pub mod flows;
pub mod fq_codel;
mod heap;
pub mod ideal;
mod packets;
mod round_robin;
mod rounds;
mod scheduler;
pub mod sfq;
mod spread;
mod weights;

pub use codel::CodelConfig;
pub use drr::DrrConfig;
pub use entry::{Arriving, Ended, Waiting};
pub use flows::FlowKey;
pub use fq_codel::FqCodelConfig;
pub use ideal::IdealFqConfig;
pub use scheduler::{FlowQueueing, FlowScheduler};
pub use sfq::SfqConfig;
pub use weights::ClassWeights;
