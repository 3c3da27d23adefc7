//! Deflection: a packet for a congested queue goes to a neighbouring switch instead (Abdous, Sharafzadeh, Ghorbani:
//! "Practical Packet Deflection in Datacenters", PACMNET 1, CoNEXT3, 2023; sections as printed there). "The authors'
//! simulator" and "the authors' programs" are their published artifacts.
//!
//! [`Dibs`] and [`SimpleDeflection`] deflect any packet with a full queue. [`PreemptiveDeflection`] deflects packets of
//! low relative priority before that. All of them use another port that faces a switch; the neighbour routes the packet
//! by its destination like any other packet, perhaps straight back. No port of another host ever gets it. Nothing keeps
//! order, and only the time to live ends a loop. Read [`Dibs`] first; it is the shortest.
//!
//! A queue is full if its committed bytes and the packet exceed its limit. In the authors' simulator a queue is also
//! full if the packet would fill it to the last byte.

mod aifo;
mod capacity;
mod check;
mod counters;
mod dibs;
pub mod exercise;
mod kind;
pub mod metadata;
pub mod occupancy;
mod pabo;
mod preemptive;
pub mod priority;
mod resources;
mod scan;
mod settings;
mod simple;

pub use aifo::Aifo;
pub use capacity::{Capacity, ConstantCapacity, CurrentThreshold, StaticLimit};
pub use dibs::Dibs;
pub use occupancy::{ControlPackets, ImmediateOccupancy, Occupancy, UpdateGap};
pub use pabo::{Pabo, bounce_probability};
pub use preemptive::PreemptiveDeflection;
pub use scan::{ScanStart, first_free};
pub use settings::{
    AifoSettings, Decision, DibsSettings, PaboSettings, PreemptiveDeflectionSettings, ProbabilisticDecision,
    SimpleDeflectionSettings, ThresholdDecision,
};
pub use simple::SimpleDeflection;
