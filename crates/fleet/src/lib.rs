//! A fleet of links over a year: they start to corrupt, are taken down where capacity allows, protected where it does
//! not, and repaired.
//!
//! Nothing here moves a packet. A link has a loss rate, and a table says what LinkGuardian makes of it. The rules are
//! those of the simulator behind LinkGuardian's figures 15 and 16 (section 4.8, appendix D), which follows CorrOpt
//! (Zhuo et al., SIGCOMM 2017).
//!
//! - [`topology`]: switches in tiers, links between neighbouring tiers, pods; three shapes and a file format
//! - [`trace`]: which link corrupts when and how badly; made here, or read from the published format
//! - [`network`]: the state of all links, and every metric kept up to date link by link
//! - [`optimizer`]: the best set of links to take down, exactly
//! - [`policy`]: who decides what; [`repair`]: how long a repair takes
//! - [`year`]: the loop over events; [`series`]: what it writes down
//!
//! Everything is deterministic: equal inputs and seed give equal results, on any machine and any number of cores.

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
pub use share::Share;
pub use topology::{LinkId, SwitchId, Topology};
pub use trace::Trace;
pub use year::{Outcome, Plan};
