//! The second clock: a fabric driven by the wall clock, between real interfaces.
//!
//! [`fabric`] is a run of which some nodes are real; it has no clock and no interface. [`driver`] reads frames from
//! interfaces, lets the fabric handle what is due, and sends what leaves; [`carrier`] has it follow the interfaces'
//! carriers; [`clock`] is what it knows of time, so that tests can bring their own, and counts by how much it was late;
//! [`interfaces`] moves frames to and from the kernel, and has all `unsafe` code of the project; [`recording`] keeps
//! what a run received and decided, and repeats it; [`self_test`] measures what the machine can do.

pub mod carrier;
pub mod clock;
pub mod driver;
pub mod fabric;
pub mod interfaces;
pub mod recording;
pub mod self_test;
pub mod status;

pub use carrier::CarrierSource;
pub use clock::{Clock, Lateness, MonotonicClock};
pub use driver::{Command, Control, Driver, Options, Request, Waiting};
pub use fabric::{LiveFabric, LiveSettings};
pub use recording::{Recorder, Replay, replay, replay_with};
pub use self_test::SelfTest;
pub use status::{Notice, PortStatus, Status};
