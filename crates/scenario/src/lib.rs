//! Scenarios: one TOML file describes a complete run.
//!
//! The structs of this module *are* the documentation of the file: their doc comments become the schema ([`schema`]),
//! and a file is checked against the schema, so that every field is documented and every unknown key is reported. The
//! steps from a file to a scenario:
//!
//! ```text
//! text -> document (with positions) -> structure check against the schema -> presets and defaults filled in
//!      -> structs -> cross checks (names, links, loads, times) -> Scenario
//! ```
//!
//! Each step reports all its findings, with file, line, field, value, rule and hint; a step runs only if the earlier
//! ones found nothing. A [`Scenario`] is therefore always ready to run.
//!
//! Read `check.rs` for these steps, [`Scenario`] for the sections, and [`kind`] for the interface of mechanisms.

// Docs are required only where outsiders look. A test of crates/mechanisms requires them on every setting.
#![allow(missing_docs)]

pub mod kind;
pub mod memory;
pub mod network;
pub mod plan;
pub mod resources;
pub mod workload;

mod bounds;
mod capture;
mod check;
mod clocks;
mod credits;
mod cross;
mod defaults;
mod examples;
mod flows;
mod host;
mod listing;
mod lossless;
mod measure;
mod scenario;

pub use capture::{CapturedPlace, CapturedProtocol, PacketCapture};
pub use check::{check, check_for};
pub use clocks::Clocks;
pub use credits::CreditLoop;
pub use cross::check::{Check, LENGTH_RULE, is_length};
pub use cross::composition::MARKS;
pub use examples::{EXAMPLES, Example, example};
pub use flows::{
    Across, AllToAllFlows, CdfSizes, FixedSizes, FlowGroup, FlowPattern, FlowSizes, IncastFlows, ListedFlows,
    PairedFlows, ParetoSizes, PermutationFlows, PoissonFlows, RequestFlows, RequestSettings, ScheduledFlows,
    SequentialFlows, ThinkSettings,
};
pub use host::{
    GroSettings, HostException, HostSettings, KernelSettings, PriorityTaggerSettings, RankedBy, ReorderBufferSettings,
    StackSettings,
};
pub use host::{Protocol, TransportSettings};
pub use listing::schema_text;
pub use lossless::Headroom;
pub use measure::{FlowSampling, MeasureSettings, QueueSampling, ThroughputSampling};
pub use scenario::{Purpose, Scenario, Until};
