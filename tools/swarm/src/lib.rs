//! A swarm of random worlds that searches for broken promises (after TigerBeetle's VOPR).
//!
//! [`draw`] makes a whole world from a seed: a scenario as it is written in a file. [`run`] runs it, once in steps,
//! once more from its recorded configuration, once from checkpoints ([`resume`]), and where it can be divided in
//! [`parts`] on several threads. Beside some worlds, senders that are alike share a port ([`symmetry`]), and
//! each is run once more with a change that must change nothing ([`relations`]). [`judge`] asks
//! of the results the invariants of every run and the promises of each mechanism's paper. [`shrink`] makes a failing
//! world small: it drops parts of it as long as the same judge finds the same fault, until it is short enough to read.
//! [`hunt`] goes through seeds, on several threads if asked.
//!
//! Who watches the watchers: with debug assertions bugs are sown in switches and mechanisms
//! ([`hitless_switch::canary`]), each of which the swarm must find.

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
