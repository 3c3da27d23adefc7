//! The interface between scenarios and kinds of mechanisms: one trait, and a registry of all kinds.
//!
//! This module and the crates below do not name any mechanism. Each mechanism is a folder of `crates/mechanisms` with a
//! type that implements [`Kind`], and a line in its registry.

mod claim;
mod command;
mod congestion;
mod entry;
mod erased;
mod facts;
mod registry;
mod runtime;
mod surroundings;
mod traits;

pub use claim::{Claim, Claimed, Header, Places, Reach, switches_at_ends};
pub use command::{Built, ControlCommand, Protection, ProtectionOrder, RecirculationLimit, built};
pub use entry::Entry;
pub use facts::{Entries, Stage};
pub use registry::Registry;
pub use runtime::{Profile, RuntimeKind, Site};
pub use surroundings::Surroundings;
pub use traits::Kind;
