//! The engine: the order of events, the packet store, random streams and draws from them, and the trace.
//!
//! It does not depend on switches or hosts. A driver (the simulator, or a live switch under the wall clock) pops events
//! from an [`events::EventQueue`] and hands them to state machines, which answer with new events.

pub mod draws;
pub mod events;
pub mod identity;
pub mod packets;
pub mod pages;
pub mod progress;
pub mod random;
pub mod ring;
pub mod trace;

pub use events::{Event, EventQueue, OrderKey, Source, Ties, Turn};
pub use identity::{FlowIdentity, fmix32};
pub use packets::{PacketHandle, PacketStore};
pub use pages::Pages;
pub use progress::{Answer, Progress};
pub use random::{RandomStreams, Stream};
pub use ring::Ring;
pub use trace::TraceHash;
