//! A swarm of random worlds that searches for broken promises (after TigerBeetle's VOPR).
//!
//! [`draw`] makes a whole world from a seed: a scenario in the form of a file. [`run`] runs it in steps, again from its
//! recorded configuration, again from checkpoints ([`resume`]), and if it can be divided, in [`parts`] on several
//! threads. For some worlds, equal senders also share a port ([`symmetry`]), and each world is also run with a change
//! that must not affect the results ([`relations`]). [`judge`] checks the results against the invariants of every run
//! and the promises of each mechanism's paper. [`shrink`] minimises a failing world: it drops parts as long as the same
//! judge finds the same fault. [`hunt`] goes through seeds, optionally on several threads.
//!
//! The judges are tested too: with debug assertions, bugs can be activated in switches and mechanisms
//! ([`hitless_switch::canary`]), and the swarm must find each of them.

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

pub mod dice;
pub mod draw;
pub mod hunt;
pub mod judge;
pub mod parts;
pub mod relations;
pub mod resume;
pub mod run;
mod same;
pub mod shrink;
pub mod symmetry;
pub mod world;

pub use hunt::{Finding, Hunt, Totals};
pub use world::World;
