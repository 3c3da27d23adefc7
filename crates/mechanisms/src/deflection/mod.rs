//! Deflection: a packet that would meet a congested queue goes to a neighbouring switch instead (Abdous, Sharafzadeh,
//! Ghorbani: "Practical Packet Deflection in Datacenters", PACMNET 1, CoNEXT3, 2023; sections as printed there). "The
//! authors' simulator" and "the authors' programs" are what they have published with it.
//!
//! [`Dibs`] and [`SimpleDeflection`] deflect any packet whose queue is full. [`PreemptiveDeflection`] deflects a packet
//! of low relative priority before that. All of them send it out of another port that faces a switch, by which the
//! neighbour routes it by its destination as any other packet, perhaps straight back. No port of another host ever gets
//! it. Nothing keeps order, and nothing but the time to live ends a loop.
//!
//! A queue is full when what is committed to it and the packet are more than its limit; the authors' simulator calls a
//! queue full that the packet would fill to the last byte.

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
