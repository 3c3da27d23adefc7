//! Hosts: transports, the delays of a host's network stack, and applications.
//!
//! A transport is a pair of state machines, one for each end of a flow ([`transport::Sender`] and
//! [`transport::Receiver`]). Their inputs are the time, packets and timeouts; their outputs are packets. They do no
//! I/O. [`Hosts`] drives them for all hosts of a partition: network cards, stack delays, timers and the applications
//! that write messages.
//!
//! Read `application.rs` for the vocabulary, [`transport`] for the contract of the state machines, and `host` for the
//! path of a packet through a host.

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

pub mod application;
pub mod complete;
pub mod flow;
pub mod host;
pub mod records;
pub mod stack;
pub mod transport;

pub use application::{
    Application, FlowConfig, FlowOutcome, FlowProgress, FlowRecord, MessageRecord, PacketCounts, ReceiverRecord,
    ReorderBufferStatistics, Request, SenderEnd, TransportId,
};
pub use application::{PriorityTagging, Rank};
pub use complete::Complete;
pub use flow::{ReceiverState, SenderState, TransportConfig};
pub use host::{
    CardClock, CardCreditsConfig, CardFlowControl, FlowEnd, FlowWait, GroConfig, HostConfig, HostDrop, HostEnvironment,
    HostEvent, HostStep, HostTotals, Hosts, NetworkCardConfig, PortConfig, QueueCapacity, ReceiverWait, Side, Wake,
    position,
};
pub use records::FlowRecords;
pub use stack::{DelayConfig, ExponentialJitter, Jitter, LognormalJitter, StackConfig};
pub use transport::{SenderWait, TimeoutPurpose};
