//! The lowest layer: packets, the order of events, checkpoints and settings.
//!
//! - [`wire`]: units, packets, and the bytes of headers and frames;
//! - [`engine`]: the order of events, the packet store, random streams, the trace;
//! - [`state`](mod@state): how mutable state of a run is saved as bytes and restored;
//! - [`settings`]: how a file of settings is read, documented and refused.
//!
//! Read them in this order. They do not depend on switches, hosts or scenarios. Settings are here because hosts read
//! settings too.

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

// The derives refer to this crate by its external name, also inside this crate.
extern crate self as hitless_core;

pub mod engine;
pub mod settings;
pub mod state;
pub mod wire;
