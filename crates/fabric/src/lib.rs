//! The fabric: a scenario from a file to results.
//!
//! [`scenario`] reads and checks a file; [`topology`] and [`routing`] say who is joined to whom, [`workload`] which
//! flows start when, [`link`] what happens to frames on the way and [`loss`] which of them are corrupted; [`simulation`]
//! runs it all under the simulated clock, and [`results`] is what comes out. [`outside`] is for runs in which some nodes
//! are real, and [`deflection`] has single steps of that mechanism.

pub mod bench;
pub mod deflection;
pub mod link;
pub mod loss;
pub mod outside;
pub mod results;
pub mod routing;
pub mod scenario;
pub mod simulation;
pub mod topology;
pub mod workload;

pub use hitless_engine::Progress;
pub use hitless_mechanisms::linkguardian::{LinkEnd, Mode, copies_for};
pub use hitless_wire::Time;
pub use results::{Outcome, Summary};
pub use scenario::{Scenario, ScenarioError};
pub use simulation::{FabricView, LinkView, LiveCommand, LiveFabric, ReceiveCounters, Session, Simulation};
