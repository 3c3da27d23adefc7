//! Single steps of deflection without a network, for whoever drives the simulator.

pub use hitless_mechanisms::deflection::ScanStart;
pub use hitless_mechanisms::deflection::exercise::{Estimates, relative_priorities, scan_counts};
