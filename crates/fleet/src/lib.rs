//! A fleet of links over a year: links start to corrupt frames, are taken down if capacity allows it, protected
//! otherwise, and repaired.
//!
//! No packets are simulated. A link has a loss rate, and a table gives the effect of LinkGuardian. The rules are those
//! of the simulator behind LinkGuardian's figures 15 and 16 (section 4.8, appendix D), which follows CorrOpt (Zhuo et
//! al., SIGCOMM 2017).
//!
//! - [`topology`]: switches in tiers, links between neighbouring tiers, pods; three shapes and a file format
//! - [`trace`]: times, links and loss rates of failures; generated, or read from the published format
//! - [`network`]: the state of all links, with metrics that are updated link by link
//! - [`optimizer`]: the exact optimal set of links to take down
//! - [`policy`]: decisions about links; [`repair`]: durations of repairs
//! - [`year`]: the loop over events; [`series`]: its records
//!
//! Everything is deterministic: equal inputs and seed give equal results, on any machine and any number of cores.

// Docs are required only where outsiders look: in the switch, the mechanism interface and the settings.
#![allow(missing_docs)]

pub mod loss;
pub mod network;
pub mod optimizer;
pub mod policy;
pub mod problem;
pub mod protection;
pub mod repair;
pub mod series;
pub mod share;
pub mod slots;
mod tally;
pub mod topology;
pub mod trace;
pub mod year;

pub use loss::{LossRate, LossSum};
pub use network::Network;
pub use policy::Policy;
pub use problem::Problem;
pub use protection::Effects;
pub use share::Share;
pub use topology::{LinkId, SwitchId, Topology};
pub use trace::Trace;
pub use year::{Outcome, Plan};
