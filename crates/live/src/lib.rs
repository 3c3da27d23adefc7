//! The second clock: a fabric driven by the wall clock, between real interfaces.
//!
//! [`fabric`] is a run with some real nodes; it has no clock and no interface. [`driver`] reads frames from interfaces,
//! lets the fabric handle due events, and sends departures. [`carrier`] makes it follow the interfaces' carriers.
//! [`intake`] leaves frames to a path in the kernel. [`clock`] is its source of time, which tests replace, and counts
//! lateness. `background` writes files in separate threads. [`interfaces`] exchanges frames with the kernel, and
//! contains all `unsafe` code of the project.
//! [`recording`] stores the inputs and decisions of a run, and repeats it. [`self_test`] measures the machine's
//! capacity. Read `fabric` and `driver` first.

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

mod background;
pub mod carrier;
pub mod clock;
pub mod driver;
pub mod fabric;
pub mod intake;
pub mod interfaces;
pub mod recording;
pub mod self_test;
pub mod status;

pub use carrier::CarrierSource;
pub use clock::{Clock, Lateness, MonotonicClock};
pub use driver::{Command, Control, Driver, Options, Request, WaitMode};
pub use fabric::{LiveFabric, LiveSettings};
pub use intake::{Intake, Kinds};
pub use recording::{Recorder, Replay, replay, replay_with};
pub use self_test::SelfTest;
pub use status::{Notice, PortChange, PortStatus, Status};
