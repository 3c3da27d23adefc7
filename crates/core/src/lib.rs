//! The lowest layer: packets, the order of events, checkpoints and settings.
//!
//! - [`wire`]: units, packets, and the bytes of headers and frames;
//! - [`engine`]: the order of events, the packet store, random streams, the trace;
//! - [`state`](mod@state): how mutable state of a run is saved as bytes and restored;
//! - [`settings`]: how a file of settings is read, documented and refused.
//!
//! Nothing here knows a switch, a host or a scenario. Settings are here because hosts read settings too.

// The derives name this crate from wherever they are used, here as well.
extern crate self as hitless_core;

pub mod engine;
pub mod settings;
pub mod state;
pub mod wire;
